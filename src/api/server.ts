/** The HTTP side of the controller: requests become commands, reads go through views. Nothing here writes rows. */
import { DroverError } from '../model/errors.ts';
import { accessTo, mustBeAllowed } from './access.ts';
import { type ApiOptions, type App, makeApp } from './app.ts';
import { SpecCache } from './claims.ts';
import { Comparer } from './comparison.ts';
import { Definitions } from './definitions.ts';
import { tagReads } from './entity-tags.ts';
import { asDroverError, bodyOf } from './errors.ts';
import { EventStreams } from './events/streams.ts';
import { registerIdempotency } from './idempotency.ts';
import { parseJsonBody } from './json-body.ts';
import { registerBulkRoutes } from './routes/bulk.ts';
import { registerContinuationRoutes } from './routes/continuations.ts';
import { registerDefinitionRoutes } from './routes/definitions.ts';
import { registerDocumentation } from './routes/documentation.ts';
import { registerEventStreams } from './routes/event-streams.ts';
import { registerExecutionInfoRoutes } from './routes/execution-info.ts';
import { registerHttpWorkerRoutes } from './routes/http-workers.ts';
import { registerLimitRoutes } from './routes/limits.ts';
import { registerListRoutes } from './routes/lists.ts';
import { registerNdjsonRoutes } from './routes/ndjson.ts';
import { registerNotificationRoutes } from './routes/notifications.ts';
import { registerOutputSearch } from './routes/output-search.ts';
import { registerResourceRoutes } from './routes/resources.ts';
import { registerServerRoutes } from './routes/server.ts';
import { registerStatisticsRoutes } from './routes/statistics.ts';
import { registerTaskChangeRoutes } from './routes/task-changes.ts';
import { registerTaskRoutes } from './routes/tasks.ts';
import { registerTokenRoutes } from './routes/tokens.ts';
import { registerWhyRoutes } from './routes/why.ts';
import { registerWorkflowRoutes } from './routes/workflows.ts';

export function createApi(options: ApiOptions): App {
  const app = makeApp(options.createServer);
  const { shell, gate, streams = new EventStreams(shell) } = options;
  app.addHook('preClose', async () => streams.closeAll());
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) =>
    parseJsonBody(body),
  );
  registerAccess(app, options);
  registerIdempotency(app, gate.secrets);
  app.setNotFoundHandler(async (request, reply) => {
    const error = new DroverError('bad-input', `there is no ${request.method} ${request.url}`);
    return reply.code(404).send(bodyOf(error));
  });
  app.setErrorHandler(async (error: unknown, _, reply) => {
    const known = asDroverError(error);
    // Fastify would close the connection under a client that is still sending, which then never sees the answer.
    if (known.code === 'too-large') reply.removeHeader('connection');
    const retryAfterMs = known.details?.retryAfterMs;
    if (typeof retryAfterMs === 'number') reply.header('retry-after', Math.ceil(retryAfterMs / 1_000));
    return reply.code(known.status).send(bodyOf(known));
  });
  tagReads(app, gate.secrets.digest);
  registerDocumentation(app, options.version);
  registerServerRoutes(app, options);
  const comparer = new Comparer(shell, gate.secrets.digest);
  registerWorkflowRoutes(app, options, comparer);
  registerDefinitionRoutes(app, new Definitions(options.shell, comparer, options.gate.secrets.digest));
  registerNotificationRoutes(app, options);
  registerTaskRoutes(app, options);
  registerNdjsonRoutes(app, options, comparer);
  registerListRoutes(app, options);
  registerEventStreams(app, options, streams);
  registerOutputSearch(app, options);
  registerStatisticsRoutes(app, options);
  registerWhyRoutes(app, options);
  registerBulkRoutes(app, options);
  registerResourceRoutes(app, options);
  registerLimitRoutes(app, options);
  registerTokenRoutes(app, options);
  const specs = new SpecCache(shell.store);
  registerHttpWorkerRoutes(app, shell, specs);
  registerTaskChangeRoutes(app, shell, specs);
  registerExecutionInfoRoutes(app, shell);
  registerContinuationRoutes(app, shell);
  return app;
}

/** Before any route is registered: each is to have its rule, and who asks is known before anything is read of a body. */
function registerAccess(app: App, { gate, attendance, shell, onRoute }: ApiOptions): void {
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    for (const method of methods) onRoute?.(`${method} ${route.url}`);
    const [method = 'GET'] = methods;
    const limit = accessTo(method, route.url)?.bodyBytesMax;
    if (limit !== undefined) route.bodyLimit ??= limit;
  });
  app.addHook('onRequest', async (request) => {
    const { url: route } = request.routeOptions;
    const access = route === undefined ? undefined : accessTo(request.method, route);
    if (access?.grant === 'open') return gate.welcome(request.ip);
    request.identity = gate.admit(request.headers.authorization, request.ip);
    if (!request.is404) mustBeAllowed(request.identity.role, access, `${request.method} ${route}`);
    attendance.heard(shell.now());
  });
  // A read may wait for news. A change that was made is told, also to who has ended his own token by it.
  app.addHook('onSend', (request, reply, payload, done) => {
    try {
      if (request.method === 'GET' && request.identity !== undefined) gate.mustStillBeValid(request.identity);
      done(null, payload);
    } catch (error) {
      const known = asDroverError(error);
      reply.code(known.status).type('application/json');
      done(null, JSON.stringify(bodyOf(known)));
    }
  });
}
