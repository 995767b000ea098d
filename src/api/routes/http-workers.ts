/** The routes by which workers take part without a socket: register, look, claim, renew, learn, send output, leave. */
import { Type } from '@fastify/type-provider-typebox';
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { availableTasks, hasClaimable, stopOrders } from '../../core/scheduler/claim.ts';
import { plainCapacity } from '../../model/capacity.ts';
import { DroverError } from '../../model/errors.ts';
import { printAttempt, printTask, printWorker, printWorkflow, type WorkerId } from '../../model/ids.ts';
import { outputPutBytesMax } from '../../model/limits.ts';
import { outputStreams } from '../../model/states.ts';
import {
  type AvailableField,
  AvailableList,
  AvailableQuery,
  availableFields,
  ClaimList,
  ClaimRequest,
  HeartbeatAnswer,
  HeartbeatRequest,
  OrdersQuery,
  Registered,
  StopList,
  WorkerRegistration,
} from '../../protocol/http-worker.ts';
import { oneOf } from '../../protocol/schema.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { TaskDefinition } from '../../store/store.ts';
import { type App, Reference } from '../app.ts';
import { renderClaims, type SpecCache } from '../claims.ts';
import type { Identity } from '../gate.ts';
import { attemptNameOf, speakerOf } from '../reference.ts';
import { optional } from '../render.ts';

const availableDefault = 100;

export function registerHttpWorkerRoutes(app: App, shell: ControllerShell, specs: SpecCache): void {
  registerComingAndGoing(app, shell);
  registerClaiming(app, shell, specs);
  registerLeases(app, shell);
  registerOutput(app, shell);
}

const idOf = (shell: ControllerShell, identity: Identity, name: string): Promise<WorkerId> =>
  shell.read((cluster) => speakerOf(cluster, identity, name).id);

function registerComingAndGoing(app: App, shell: ControllerShell): void {
  app.post(
    '/api/v1/workers',
    { schema: { summary: 'Register a worker over HTTP', body: WorkerRegistration, response: { 201: Registered } } },
    async ({ body, ip, identity }, reply) => {
      const { name, slots = 1, host = ip } = body;
      const fitted = body.capacity === undefined ? {} : { capacity: { ...plainCapacity, ...body.capacity } };
      const owner = identity.tokenId;
      const joined = await shell.request({ type: 'join-http', name, host, slots, owner, ...fitted });
      if (joined.type !== 'joined') throw new Error(`joining was answered with ${joined.type}`);
      const { worker, leaseMs, marginMs, heartbeatMs } = joined;
      return reply.code(201).send({ id: printWorker(worker), leaseMs, marginMs, heartbeatMs });
    },
  );
  app.delete(
    '/api/v1/workers/:id',
    { schema: { summary: 'Say that a worker over HTTP ends', params: Reference } },
    async ({ params, identity }) => {
      await shell.request({ type: 'leave-http', worker: await idOf(shell, identity, params.id) });
      return {};
    },
  );
}

function registerClaiming(app: App, shell: ControllerShell, specs: SpecCache): void {
  app.get(
    '/api/v1/tasks/available',
    {
      schema: {
        summary: 'List tasks that can be claimed',
        querystring: AvailableQuery,
        response: { 200: AvailableList },
      },
    },
    async ({ query }) => {
      const fields = fieldsOf(query.fields);
      const most = query.limit ?? availableDefault;
      const found = await shell.read((cluster, now) => {
        const tasks = [];
        for (const task of availableTasks(cluster, now)) {
          tasks.push(task);
          if (tasks.length === most) break;
        }
        return tasks;
      });
      const definitions = await shell.store.definitions(found);
      const described: [TaskDefinition, WorkflowSpec][] = [];
      for (const definition of definitions) described.push([definition, await specs.get(definition.workflow)]);
      return shell.read((cluster) => ({
        tasks: described.map(([definition, spec]) => renderAvailable(cluster, definition, spec, fields)),
      }));
    },
  );
  app.post(
    '/api/v1/workers/:id/claims',
    { schema: { summary: 'Claim tasks', params: Reference, body: ClaimRequest, response: { 200: ClaimList } } },
    async ({ params, body, raw, identity }) => {
      const worker = await idOf(shell, identity, params.id);
      const until = shell.now() + (body.waitMs ?? 0);
      for (;;) {
        const reply = await shell.request({ type: 'claim-next', worker, most: body.max ?? 1 });
        if (reply.type !== 'claimed') throw new Error(`a claim was answered with ${reply.type}`);
        const { claims } = reply;
        if (claims.length > 0) return { claims: await renderClaims(shell, specs, worker, claims, reply) };
        // Who has hung up would not hear of what it claimed.
        if (!(await untilClaimable(shell, until, () => raw.socket.destroyed))) return { claims: [] };
      }
    },
  );
  app.get(
    '/api/v1/workers/:id/claims',
    { schema: { summary: 'List what a worker has claimed', params: Reference, response: { 200: ClaimList } } },
    async ({ params, identity }) => {
      const worker = await idOf(shell, identity, params.id);
      const reply = await shell.request({ type: 'list-claims', worker });
      if (reply.type !== 'claimed') throw new Error(`a list of claims was answered with ${reply.type}`);
      return { claims: await renderClaims(shell, specs, worker, reply.claims, reply) };
    },
  );
}

/** So soon it is looked again for tasks whose time has come, but whose turn has not. */
const turnMs = 10;
/** And so soon for those that are there, but not for this worker now: it is full, or barred. */
const refusedMs = 250;

/** False when the time is over first. Nothing is asked of the reactor meanwhile: any number may wait. */
async function untilClaimable(shell: ControllerShell, until: number, isVain: () => boolean): Promise<boolean> {
  for (let now = shell.now(); now < until && !isVain(); now = shell.now()) {
    const { isThere, nextAt } = await shell.read((cluster) => ({
      isThere: hasClaimable(cluster),
      nextAt: cluster.work.delayed.peekKey() ?? Number.POSITIVE_INFINITY,
    }));
    await shell.changed(Math.min(until, isThere ? now + refusedMs : Math.max(now + turnMs, nextAt)));
    if (await shell.read(hasClaimable)) return !isVain();
  }
  return false;
}

function fieldsOf(text: string | undefined): readonly AvailableField[] {
  if (text === undefined) return ['id', 'maxTerminationMs', 'requestedResources'];
  const fields = text.split(',');
  const unknown = fields.find((field) => !(availableFields as readonly string[]).includes(field));
  if (unknown === undefined) return fields as AvailableField[];
  throw new DroverError('bad-input', `'${unknown}' is not a field of an available task`, {
    hint: `one of ${availableFields.join(', ')}`,
  });
}

function renderAvailable(
  { tasks }: Cluster,
  { id, workflow, index, spec: task }: TaskDefinition,
  { terminationMs }: WorkflowSpec,
  fields: readonly AvailableField[],
): object {
  const { name, command, expectedDurationMs, tags, resources } = task;
  const all: Readonly<Record<AvailableField, unknown>> = {
    id: printTask(workflow, index),
    maxTerminationMs: terminationMs,
    requestedResources: resources,
    workflow: printWorkflow(workflow),
    name,
    command,
    priority: tasks.priority(id),
    expectedDurationMs,
    tags,
    attempts: tasks.attemptNumber(id),
  };
  return Object.assign({}, ...fields.map((field) => optional(field, all[field])));
}

function registerLeases(app: App, shell: ControllerShell): void {
  app.post(
    '/api/v1/workers/:id/heartbeat',
    {
      schema: {
        summary: 'Renew the leases of a worker',
        params: Reference,
        body: HeartbeatRequest,
        response: { 200: HeartbeatAnswer },
      },
      // Nothing to say is the usual case.
      preValidation: async (request) => {
        request.body ??= {};
      },
    },
    async ({ params, body, identity }) => {
      const worker = await idOf(shell, identity, params.id);
      const named = body.attempts;
      const attempts =
        named === undefined
          ? undefined
          : await shell.read((cluster) => named.map((name) => attemptNameOf(cluster, name)));
      const reply = await shell.request({ type: 'renew-leases', worker, attempts });
      if (reply.type !== 'renewed') throw new Error(`a heartbeat was answered with ${reply.type}`);
      const { type: _, cancel, attempts: held, ...rest } = reply;
      return { ...rest, cancel: [...cancel], attempts: [...held] };
    },
  );
  app.get(
    '/api/v1/workers/:id/orders',
    {
      schema: {
        summary: 'Wait for what a worker is to end',
        params: Reference,
        querystring: OrdersQuery,
        response: { 200: StopList },
      },
    },
    async ({ params, query, identity }) => {
      const known = new Set(query.known?.split(','));
      for (const until = shell.now() + (query.waitMs ?? 0); ; await shell.changed(until)) {
        const cancel = await shell.read((cluster) => ordersFor(cluster, identity, params.id));
        if (cancel.some(({ attempt }) => !known.has(attempt)) || shell.now() >= until) return { cancel };
      }
    },
  );
}

function ordersFor(cluster: Cluster, identity: Identity, name: string): StopList['cancel'] {
  const { tasks, attempts } = cluster;
  const worker = speakerOf(cluster, identity, name);
  if (worker.state === 'gone') throw new DroverError('worker-unknown', `${name} is gone: ${worker.goneFor}`);
  return stopOrders(cluster, worker).flatMap(({ attempt, why }) => {
    const record = attempts.get(attempt);
    if (record === undefined) return [];
    const { task, number } = record;
    return [{ attempt: printAttempt(tasks.workflow(task), tasks.index(task), number), why }];
  });
}

/** In a scope of its own: here a body is bytes, whatever a client calls them. */
function registerOutput(app: App, shell: ControllerShell): void {
  const Params = Type.Object({ id: Type.String({ maxLength: 40 }), stream: oneOf(outputStreams) });
  const Query = Type.Object({
    worker: Type.String({ maxLength: 20 }),
    offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: outputPutBytesMax }, (_, body, done) => {
      done(null, body);
    });
    scope.put(
      '/api/v1/attempts/:id/output/:stream',
      {
        bodyLimit: outputPutBytesMax,
        schema: {
          summary: 'Send what an attempt wrote',
          params: Params,
          querystring: Query,
          consumes: ['application/octet-stream'],
        },
      },
      async (request) => {
        const { id, stream } = request.params as { id: string; stream: (typeof outputStreams)[number] };
        const { worker: name, offset } = request.query as { worker: string; offset: number };
        const worker = await idOf(shell, request.identity, name);
        const attempt = await shell.read((cluster) => {
          const { task, number } = attemptNameOf(cluster, id);
          if (cluster.tasks.attemptNumber(task) === number) return cluster.tasks.lastAttempt(task);
          if (cluster.tasks.attemptNumber(task) > number) return undefined;
          throw new DroverError('attempt-unknown', `there is no attempt ${id}`);
        });
        if (attempt === undefined) throw new DroverError('attempt-ended', `${id} has ended: its output is complete`);
        const data = request.body instanceof Uint8Array ? request.body : new Uint8Array();
        const reply = await shell.request({ type: 'append-output', worker, attempt, stream, offset, data });
        if (reply.type !== 'appended') throw new Error(`output was answered with ${reply.type}`);
        return { offset: reply.length };
      },
    );
  });
}
