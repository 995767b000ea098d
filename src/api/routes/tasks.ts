import { Type } from '@fastify/type-provider-typebox';
import type { ControllerShell } from '../../controller/shell.ts';
import { DroverError } from '../../model/errors.ts';
import { type AttemptId, printTask, printWorkflow, type TaskId } from '../../model/ids.ts';
import { longPollMsMax } from '../../model/limits.ts';
import { outputStreams } from '../../model/states.ts';
import { oneOf } from '../../protocol/schema.ts';
import { Priority } from '../../protocol/spec.ts';
import { outputHeaders } from '../../protocol/views/output.ts';
import { TaskDetail } from '../../protocol/views/tasks.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { outputLength, readOutput } from '../output.ts';
import { taskOf } from '../reference.ts';
import { optional, renderAttempt, renderContinuations, renderTask } from '../render.ts';
import { SharedOutput } from '../shared-output.ts';
import { activeResources, attemptResources, shortfallsOf, shortOf } from '../task-resources.ts';

const OutputQuery = Type.Object({
  stream: Type.Optional(oneOf(outputStreams)),
  attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  tail: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'begin so many bytes before the end as it is now, instead of at `offset`',
    }),
  ),
  waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: longPollMsMax })),
});

export function registerTaskRoutes(app: App, { shell }: ApiOptions): void {
  const sharedOutput = new SharedOutput(shell);
  app.get(
    '/api/v1/tasks/:id',
    { schema: { summary: 'Look at a task and its attempts', params: Reference, response: { 200: TaskDetail } } },
    ({ params }) => detailOf(shell, params.id),
  );
  const summaries = {
    cancel: 'End a task for good',
    retry: 'Try a task again',
    hold: 'Keep a task from being started',
    release: 'Let a held task start',
  } as const;
  for (const verb of ['cancel', 'retry', 'hold', 'release'] as const) {
    app.post(
      `/api/v1/tasks/:id/${verb}`,
      { schema: { summary: summaries[verb], params: Reference, response: { 200: TaskDetail } } },
      async ({ params }) => {
        const task = await shell.read((cluster) => taskOf(cluster, params.id));
        await shell.request({ type: `${verb}-task`, task });
        return detailOf(shell, params.id);
      },
    );
  }
  const PriorityBody = Type.Object({ priority: Priority }, { additionalProperties: false });
  app.post(
    '/api/v1/tasks/:id/priority',
    {
      schema: {
        summary: 'Give a task another priority',
        params: Reference,
        body: PriorityBody,
        response: { 200: TaskDetail },
      },
    },
    async ({ params, body: { priority } }) => {
      const task = await shell.read((cluster) => taskOf(cluster, params.id));
      await shell.request({ type: 'set-priority', task, priority });
      return detailOf(shell, params.id);
    },
  );
  app.get(
    '/api/v1/tasks/:id/output',
    {
      schema: {
        summary: 'Read what an attempt wrote',
        params: Reference,
        querystring: OutputQuery,
        produces: 'application/octet-stream',
      },
    },
    async ({ params, query }, reply) => {
      const { attempt, number } = await attemptOf(shell, params.id, query.attempt);
      const { stream = 'stdout', tail, waitMs } = query;
      const end = tail === undefined ? undefined : await outputLength(shell, attempt, stream);
      const offset = end === undefined ? (query.offset ?? 0) : Math.max(0, end - (tail ?? 0));
      const place = { attempt, stream, offset };
      const output = await (waitMs === undefined
        ? readOutput(shell, place)
        : sharedOutput.read(place, shell.now() + waitMs));
      const isLost = output.isComplete && (await wasLost(shell, attempt));
      return reply
        .header(outputHeaders.offset, String(offset))
        .header(outputHeaders.nextOffset, String(output.nextOffset))
        .header(outputHeaders.isComplete, String(output.isComplete))
        .header(outputHeaders.attempt, String(number))
        .header(outputHeaders.isAway, String(output.isAway))
        .header(outputHeaders.isLost, String(isLost))
        .type('application/octet-stream')
        .send(Buffer.from(output.data.buffer, output.data.byteOffset, output.data.byteLength));
    },
  );
}

/** Whether it ran, and its worker did not live to tell what it wrote. */
async function wasLost(shell: ControllerShell, attempt: AttemptId): Promise<boolean> {
  const [row] = await shell.store.attempts([attempt]);
  return row !== undefined && row.startedAt > 0 && row.outcome?.kind === 'lost' && row.outcome.what === 'worker';
}

export async function attemptsOf(shell: ControllerShell, task: TaskId) {
  const last = await shell.read((cluster) => cluster.tasks.lastAttempt(task));
  return last === undefined ? [] : shell.store.attemptsBack(last);
}

export async function detailOf(shell: ControllerShell, name: string): Promise<TaskDetail> {
  const task = await shell.read((cluster) => taskOf(cluster, name));
  const [definition] = await shell.store.definitions([task]);
  const rows = await attemptsOf(shell, task);
  if (definition === undefined) throw new DroverError('task-unknown', `there is no task ${name}`);
  const spec = await shell.store.workflowSpec(definition.workflow);
  const resourcesOf = await attemptResources(shell, rows);
  const shortfalls = await shortfallsOf(shell, await shortOf(shell, [task], [rows.at(-1)]));
  return shell.read((cluster) => ({
    ...renderTask(cluster, task, definition, rows.at(-1)),
    ...activeResources(cluster, task),
    ...optional('shortfall', shortfalls.get(task)),
    workflow: printWorkflow(definition.workflow),
    cwd: spec?.cwd ?? '',
    continuations: renderContinuations(cluster, task),
    history: rows.map((row) => ({ ...renderAttempt(cluster, row), ...resourcesOf(cluster, row) })),
  }));
}

/** The last attempt, unless one is named. */
async function attemptOf(
  shell: ControllerShell,
  name: string,
  wanted: number | undefined,
): Promise<{ attempt: AttemptId; number: number }> {
  const task = await shell.read((cluster) => taskOf(cluster, name));
  const rows = await attemptsOf(shell, task);
  const row = wanted === undefined ? rows.at(-1) : rows.find(({ number }) => number === wanted);
  if (row !== undefined) return { attempt: row.id, number: row.number };
  const [workflow, index] = await shell.read(
    (cluster) => [cluster.tasks.workflow(task), cluster.tasks.index(task)] as const,
  );
  const which = wanted === undefined ? 'has not run yet' : `has no attempt ${wanted}`;
  throw new DroverError('attempt-unknown', `${printTask(workflow, index)} ${which}`);
}
