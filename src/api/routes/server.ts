import { Type } from '@fastify/type-provider-typebox';
import { DroverError } from '../../model/errors.ts';
import { apiVersion, ServerView, WorkerList } from '../../protocol/views.ts';
import type { ApiOptions, App } from '../app.ts';
import { renderWorker } from '../render.ts';

export function registerServerRoutes(app: App, { shell, version, onStop, attendance }: ApiOptions): void {
  const startedAt = shell.now();
  const view = (): Promise<ServerView> =>
    shell.read((cluster, now) => {
      const workers = [...cluster.workers.values()].filter(({ state }) => state === 'healthy');
      const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
      const uptimeMs = Math.max(0, now - startedAt);
      const { epoch } = shell.store;
      return { version, apiVersion, pid: process.pid, uptimeMs, epoch, workers: workers.length, slots };
    });
  app.get('/api/v1/server', { schema: { response: { 200: ServerView } } }, view);
  app.post('/api/v1/server/announce', { schema: { response: { 200: ServerView } } }, async () => {
    attendance.announce();
    return view();
  });
  app.post('/api/v1/server/leave', async () => {
    attendance.leave();
    return {};
  });
  app.post('/api/v1/server/stop', { schema: { response: { 200: ServerView } } }, async (_, reply) => {
    if (onStop === undefined) {
      throw new DroverError(
        'transition-not-allowed',
        `the controller belongs to a running command (pid ${process.pid})`,
        {
          hint: 'end that command instead',
        },
      );
    }
    reply.raw.once('finish', onStop);
    return view();
  });
  const Query = Type.Object({ all: Type.Optional(Type.Boolean()) });
  app.get('/api/v1/workers', { schema: { querystring: Query, response: { 200: WorkerList } } }, ({ query }) =>
    shell.read((cluster, now) => ({
      workers: [...cluster.workers.values()]
        .filter(({ state }) => query.all || state !== 'gone')
        .map((worker) => renderWorker(worker, now)),
    })),
  );
}
