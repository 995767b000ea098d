/** The HTTP side of the controller: requests become commands, reads go through views. Nothing here writes rows. */
import { DroverError } from '../model/errors.ts';
import { type ApiOptions, type App, makeApp } from './app.ts';
import { tagReads } from './entity-tags.ts';
import { asDroverError, bodyOf } from './errors.ts';
import { parseJsonBody } from './json-body.ts';
import { registerBulkRoutes } from './routes/bulk.ts';
import { registerDocumentation } from './routes/documentation.ts';
import { registerListRoutes } from './routes/lists.ts';
import { registerNdjsonRoutes } from './routes/ndjson.ts';
import { registerServerRoutes } from './routes/server.ts';
import { registerTaskRoutes } from './routes/tasks.ts';
import { registerWorkflowRoutes } from './routes/workflows.ts';

export function createApi(options: ApiOptions): App {
  const app = makeApp(options.createServer);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) =>
    parseJsonBody(body),
  );
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.isPublic) return;
    const given = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (!options.isSame(given, options.token)) throw new DroverError('not-authorised', 'the token is missing or wrong');
    options.attendance.heard(options.shell.now());
  });
  app.setNotFoundHandler(async (request, reply) => {
    const error = new DroverError('bad-input', `there is no ${request.method} ${request.url}`);
    return reply.code(404).send(bodyOf(error));
  });
  app.setErrorHandler(async (error: unknown, _, reply) => {
    const known = asDroverError(error);
    // Fastify would close the connection under a client that is still sending, which then never sees the answer.
    if (known.code === 'too-large') reply.removeHeader('connection');
    return reply.code(known.status).send(bodyOf(known));
  });
  tagReads(app, options.digest);
  registerDocumentation(app, options.version);
  registerServerRoutes(app, options);
  registerWorkflowRoutes(app, options);
  registerTaskRoutes(app, options);
  registerNdjsonRoutes(app, options);
  registerListRoutes(app, options);
  registerBulkRoutes(app, options);
  return app;
}
