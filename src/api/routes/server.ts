import { Type } from '@fastify/type-provider-typebox';
import type { ControllerShell } from '../../controller/shell.ts';
import { DroverError } from '../../model/errors.ts';
import { slotsMax } from '../../model/limits.ts';
import { apiVersion } from '../../protocol/views/requests.ts';
import { ServerView } from '../../protocol/views/server.ts';
import { WorkerView } from '../../protocol/views/workers.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { workerOf } from '../reference.ts';
import { renderWorker } from '../render.ts';

export function registerServerRoutes(app: App, options: ApiOptions): void {
  const { shell, version, onStop, attendance, loopMeter, facts } = options;
  const startedAt = shell.now();
  const view = (): Promise<ServerView> =>
    shell.read((cluster, now) => {
      const workers = [...cluster.workers.values()].filter(({ state }) => state === 'healthy');
      const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
      const uptimeMs = Math.max(0, now - startedAt);
      const { epoch } = shell.store;
      const delay = loopMeter === undefined ? {} : { loopDelayMs: loopMeter.read() };
      const counts = { workers: workers.length, slots };
      return { version, apiVersion, pid: process.pid, uptimeMs, epoch, ...counts, ...delay, ...facts };
    });
  app.get('/api/v1/server', { schema: { summary: 'Look at the server', response: { 200: ServerView } } }, view);
  app.post(
    '/api/v1/server/announce',
    { schema: { summary: 'Say that work will follow, so that it stays', response: { 200: ServerView } } },
    async () => {
      attendance.announce();
      return view();
    },
  );
  app.post(
    '/api/v1/server/loop-delay',
    { schema: { summary: 'Measure the delay of the event loop anew', response: { 200: ServerView } } },
    () => {
      loopMeter?.restart();
      return view();
    },
  );
  app.post('/api/v1/server/leave', { schema: { summary: 'Say that what was announced is over' } }, async () => {
    attendance.leave();
    return {};
  });
  app.post(
    '/api/v1/server/stop',
    { schema: { summary: 'End the server; workers go on', response: { 200: ServerView } } },
    async (_, reply) => {
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
    },
  );
  registerWorkerRoutes(app, shell);
}

function registerWorkerRoutes(app: App, shell: ControllerShell): void {
  const response = { 200: WorkerView };
  const view = (name: string): Promise<WorkerView> =>
    shell.read((cluster, now) => renderWorker(workerOf(cluster, name), now));
  app.get(
    '/api/v1/workers/:id',
    { schema: { summary: 'Look at a worker', params: Reference, response } },
    ({ params }) => view(params.id),
  );
  const idOf = (name: string) => shell.read((cluster) => workerOf(cluster, name).id);
  const summaries = { drain: 'Give a worker no more tasks', release: 'Give a worker tasks again' } as const;
  for (const verb of ['drain', 'release'] as const) {
    const summary = summaries[verb];
    app.post(
      `/api/v1/workers/:id/${verb}`,
      { schema: { summary, params: Reference, response } },
      async ({ params }) => {
        await shell.request({ type: `${verb}-worker`, worker: await idOf(params.id) });
        return view(params.id);
      },
    );
  }
  const Stop = Type.Object({ now: Type.Boolean() }, { additionalProperties: false });
  app.post(
    '/api/v1/workers/:id/stop',
    { schema: { summary: 'End a worker, now or when it has nothing left', params: Reference, body: Stop, response } },
    async (request) => {
      const { id } = request.params;
      await shell.request({ type: 'stop-worker', worker: await idOf(id), isNow: request.body.now });
      return view(id);
    },
  );
  const Slots = Type.Object(
    { slots: Type.Integer({ minimum: 1, maximum: slotsMax }) },
    { additionalProperties: false },
  );
  app.post(
    '/api/v1/workers/:id/slots',
    { schema: { summary: 'Let a worker run more or fewer at a time', params: Reference, body: Slots, response } },
    async (request) => {
      const { id } = request.params;
      await shell.request({ type: 'resize-worker', worker: await idOf(id), slots: request.body.slots });
      return view(id);
    },
  );
}
