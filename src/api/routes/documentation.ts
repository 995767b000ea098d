/** What the API says of itself. It has no secrets, so that whoever is to use it can read it first. */
import { Type } from '@fastify/type-provider-typebox';
import type { RouteOptions } from 'fastify';
import type { App } from '../app.ts';

/** Before all other routes, so that it sees them. The document is made when somebody asks for it: few ever do. */
export function registerDocumentation(app: App, version: string): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    routes.push(route);
  });
  const document = Type.Record(Type.String(), Type.Unknown());
  app.get(
    '/api/v1/openapi.json',
    {
      schema: { summary: 'Read this API as an OpenAPI 3.1 document', response: { 200: document } },
    },
    async () => (await import('../openapi/document.ts')).describeApi(routes, version),
  );
  app.get('/api/v1/docs', { schema: { summary: 'Browse this API', produces: 'text/html' } }, async (_, reply) => {
    const { page } = await import('../openapi/page.ts');
    // Nothing from elsewhere is loaded, whatever the page were made to say.
    const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";
    return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(page);
  });
}
