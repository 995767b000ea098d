/** The virtual resources of the seed: what is known of a task's attempts, and what is reported of them. */
import { Type } from '@fastify/type-provider-typebox';
import { notYours } from '../../controller/http-workers.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import { DroverError } from '../../model/errors.ts';
import { printWorker, type TaskId } from '../../model/ids.ts';
import type { UsageMetric } from '../../model/states.ts';
import { ExecutionHistory, ExecutionInfo, ExecutionReport, UsageReport } from '../../protocol/http-worker.ts';
import { oneOf } from '../../protocol/schema.ts';
import type { UsageSample } from '../../store/store.ts';
import { type App, Reference } from '../app.ts';
import { type Identity, mustBeOwn } from '../gate.ts';
import { taskOf, workerOf } from '../reference.ts';
import { iso, optional } from '../render.ts';
import { timeOf } from '../times.ts';
import { reportStart } from './task-changes.ts';
import { attemptsOf } from './tasks.ts';

const fields = [
  'worker',
  'exit_status',
  'time_started',
  'time_terminated',
  'memory_usage',
  'cpu_utilization',
  'gpu_usage',
] as const;

const metrics: Readonly<Record<string, UsageMetric>> = {
  memory_usage: 'memory',
  cpu_utilization: 'cpu',
  gpu_usage: 'gpu',
};

const AttemptQuery = Type.Object({ attempt: Type.Optional(Type.Integer({ minimum: 1 })) });

export function registerExecutionInfoRoutes(app: App, shell: ControllerShell): void {
  registerReading(app, shell);
  registerReports(app, shell);
}

function registerReading(app: App, shell: ControllerShell): void {
  const taskNamed = (name: string): Promise<TaskId> => shell.read((cluster) => taskOf(cluster, name));
  const infoOf = async (name: string, number: number | undefined): Promise<ExecutionInfo> =>
    render(shell, await attemptRow(shell, name, await taskNamed(name), number));
  app.get(
    '/api/v1/tasks/:id/current_history',
    { schema: { summary: 'Read all attempts of a task', params: Reference, response: { 200: ExecutionHistory } } },
    async ({ params }) => {
      const rows = await attemptsOf(shell, await taskNamed(params.id));
      const history: ExecutionInfo[] = [];
      for (const row of rows) history.push(await render(shell, row));
      return { history };
    },
  );
  app.get(
    '/api/v1/tasks/:id/execution_info',
    {
      schema: {
        summary: 'Read how an attempt goes, and what it uses over time',
        params: Reference,
        querystring: AttemptQuery,
        response: { 200: ExecutionInfo },
      },
    },
    ({ params, query }) => infoOf(params.id, query.attempt),
  );
  const Field = Type.Object({ id: Type.String({ maxLength: 40 }), field: oneOf(fields) });
  app.get(
    '/api/v1/tasks/:id/execution_info/:field',
    { schema: { summary: 'Read one thing of how an attempt goes', params: Field, querystring: AttemptQuery } },
    async ({ params, query }) => {
      const info = await infoOf(params.id, query.attempt);
      return { attempt: info.attempt, ...optional(params.field, info[params.field]) };
    },
  );
}

function registerReports(app: App, shell: ControllerShell): void {
  app.post(
    '/api/v1/tasks/:id/execution_info/time_started',
    { schema: { summary: 'Report the start of an attempt', params: Reference, body: ExecutionReport } },
    async ({ params, body, identity }) => {
      const task = await shell.read((cluster) => taskOf(cluster, params.id));
      const startedAt = timeOf(body.time_started) ?? shell.now();
      await reportStart(shell, identity, task, body, startedAt);
      return { time_started: iso(startedAt) };
    },
  );
  for (const [field, metric] of Object.entries(metrics)) {
    for (const prefix of ['', 'execution_info/']) {
      app.route({
        method: ['POST', 'PATCH'],
        url: `/api/v1/tasks/:id/${prefix}report_${field}`,
        schema: { summary: 'Report what an attempt uses', params: Reference, body: UsageReport },
        handler: async ({ params, body, identity }) => {
          const { id } = params as { id: string };
          return keep({ shell, identity }, id, metric, body as UsageReport);
        },
      });
    }
  }
}

/** An attempt that has ended takes reports, too: they may come late. */
async function keep(
  { shell, identity }: { readonly shell: ControllerShell; readonly identity: Identity },
  name: string,
  metric: UsageMetric,
  report: UsageReport,
): Promise<object> {
  const task = await shell.read((cluster) => taskOf(cluster, name));
  const row = await attemptRow(shell, name, task, report.attempt);
  const worker = report.worker ?? printWorker(row.worker);
  const speaker = await shell.read((cluster) => {
    const record = workerOf(cluster, worker);
    mustBeOwn(identity, record.owner ?? '', worker);
    return record.id;
  });
  if (speaker !== row.worker) throw notYours(`${name}#${row.number}`, speaker);
  const given = report.value === undefined ? [] : [{ value: report.value, at: report.at }];
  const now = Math.round(shell.now());
  const samples = [...given, ...(report.samples ?? [])].map(
    ({ value, at }): UsageSample => ({ attempt: row.id, metric, at: timeOf(at) ?? now, value }),
  );
  if (samples.length === 0) throw new DroverError('bad-input', 'nothing is reported', { hint: 'give a value' });
  await shell.request({ type: 'report-usage', samples });
  return { attempt: row.number, kept: samples.length };
}

async function attemptRow(
  shell: ControllerShell,
  name: string,
  task: TaskId,
  number: number | undefined,
): Promise<AttemptRow> {
  const rows = await attemptsOf(shell, task);
  const row = number === undefined ? rows.at(-1) : rows.find((one) => one.number === number);
  if (row !== undefined) return row;
  const which = number === undefined ? 'has not run yet' : `has no attempt ${number}`;
  throw new DroverError('attempt-unknown', `${name} ${which}`);
}

async function render(shell: ControllerShell, row: AttemptRow): Promise<ExecutionInfo> {
  const { id, number, worker, startedAt, endedAt, outcome } = row;
  const samples = await shell.store.usageSamples(id);
  const of = (metric: UsageMetric) =>
    samples.flatMap((sample) => (sample.metric === metric ? [{ at: iso(sample.at), value: sample.value }] : []));
  const code =
    outcome?.kind === 'succeeded' ? 0 : outcome !== undefined && 'code' in outcome ? outcome.code : undefined;
  const signal = outcome !== undefined && 'signal' in outcome ? outcome.signal : undefined;
  return {
    attempt: number,
    worker: printWorker(worker),
    ...optional('time_started', startedAt === 0 ? undefined : iso(startedAt)),
    ...optional('time_terminated', endedAt === 0 ? undefined : iso(endedAt)),
    ...optional('exit_status', code),
    ...optional('signal', signal),
    ...optional('outcome', outcome?.kind),
    memory_usage: of('memory'),
    cpu_utilization: of('cpu'),
    gpu_usage: of('gpu'),
  };
}
