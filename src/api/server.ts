/** The HTTP side of the controller: requests become commands, reads go through views. Nothing here writes rows. */
import { DroverError } from '../model/errors.ts';
import type { ErrorBody } from '../protocol/views.ts';
import { type ApiOptions, type App, makeApp } from './app.ts';
import { registerServerRoutes } from './routes/server.ts';
import { registerTaskRoutes } from './routes/tasks.ts';
import { registerWorkflowRoutes } from './routes/workflows.ts';

export function createApi(options: ApiOptions): App {
  const app = makeApp(options.createServer);
  app.addHook('onRequest', async (request) => {
    const given = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    options.attendance.heard(options.shell.now());
    if (!options.isSame(given, options.token)) throw new DroverError('not-authorised', 'the token is missing or wrong');
  });
  app.setNotFoundHandler(async (request, reply) => {
    const error = new DroverError('bad-input', `there is no ${request.method} ${request.url}`);
    return reply.code(404).send(bodyOf(error));
  });
  app.setErrorHandler(async (error: unknown, _, reply) => {
    const known = asDroverError(error);
    return reply.code(known.status).send(bodyOf(known));
  });
  registerServerRoutes(app, options);
  registerWorkflowRoutes(app, options);
  registerTaskRoutes(app, options);
  return app;
}

const bodyOf = ({ code, message, hint, details }: DroverError): ErrorBody => ({
  error: { code, message, hint, ...(details === undefined ? {} : { details }) },
});

function asDroverError(error: unknown): DroverError {
  if (error instanceof DroverError) return error;
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  if (statusCode === 413) return new DroverError('too-large', 'the request is too large');
  if (statusCode !== undefined && statusCode < 500)
    return new DroverError('bad-input', message ?? 'the request is malformed');
  return new DroverError('bug', message ?? String(error), { cause: error });
}
