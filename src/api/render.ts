/** From the cluster's columns and the store's rows to what readers see. */
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Cluster } from '../core/cluster.ts';
import type { WorkerRecord } from '../core/worker.ts';
import type { WorkflowRecord } from '../core/workflow/record.ts';
import { type AttemptId, printAttempt, printTask, printWorker, printWorkflow, type TaskId } from '../model/ids.ts';
import { pageRowsMax } from '../model/limits.ts';
import type { Outcome } from '../model/outcome.ts';
import type { TaskState } from '../model/states.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import type { AttemptView, OutcomeView } from '../protocol/views/attempts.ts';
import type { TaskView } from '../protocol/views/tasks.ts';
import type { WorkerView } from '../protocol/views/workers.ts';
import { type Counts, WorkflowSurroundings, type WorkflowView } from '../protocol/views/workflows.ts';
import type { TaskDefinition } from '../store/store.ts';

export const iso = (time: number): string => new Date(time).toISOString();

/** For a field that is absent when there is nothing to say. */
export const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });

const at = <K extends string>(key: K, time: number): { [P in K]?: string } =>
  optional(key, time === 0 ? undefined : iso(time));

/** What is sent ahead of free slots waits there: no more runs than there are slots. */
function renderCounts(workflow: WorkflowRecord, slots: number): Counts {
  const sum = (...states: TaskState[]): number => states.reduce((n, state) => n + workflow.countOfCommands(state), 0);
  const live = sum('launched', 'running', 'cancelling');
  const running = Math.min(live, Math.max(slots, sum('running', 'cancelling')));
  const pending = sum('registering', 'waiting', 'queued', 'triaging', 'adjusting') + live - running;
  const [done, failed, cancelled] = [sum('done'), sum('failed'), sum('cancelled', 'aborted')];
  return { total: pending + running + done + failed + cancelled, pending, running, done, failed, cancelled };
}

export function renderWorkflow(
  cluster: Cluster,
  workflow: WorkflowRecord,
  spec: WorkflowSpec | undefined,
  now: number,
): WorkflowView {
  const { id, state, stop, haltMode, run, createdAt, startedAt, endedAt, version } = workflow;
  let slots = 0;
  for (const worker of cluster.liveWorkers.values()) slots += worker.slots;
  return {
    id: printWorkflow(id),
    ...optional('name', spec?.name),
    state,
    ...optional('stop', stop),
    ...optional('haltMode', haltMode),
    run,
    counts: renderCounts(workflow, slots),
    ...optional('concurrency', workflow.concurrency),
    createdAt: iso(createdAt),
    ...at('startedAt', startedAt),
    ...at('endedAt', endedAt),
    durationMs: startedAt === 0 ? 0 : Math.max(0, (endedAt || now) - startedAt),
    attemptsEnded: workflow.attemptsEnded - workflow.attemptsBefore,
    version,
  };
}

/** Nothing that could be a secret: no value of a variable, and no webhook. */
export function renderSurroundings(spec: WorkflowSpec): WorkflowSurroundings {
  const names = Object.keys(WorkflowSurroundings.properties);
  const known = Object.fromEntries(Object.entries(spec).filter(([name]) => names.includes(name)));
  return { ...(known as Omit<WorkflowSurroundings, 'variables'>), variables: Object.keys(spec.env).length };
}

export function renderOutcome(outcome: Outcome): OutcomeView {
  return { ...outcome };
}

export function renderTask(
  cluster: Cluster,
  task: TaskId,
  { spec }: Pick<TaskDefinition, 'spec'>,
  last: AttemptRow | undefined,
): TaskView {
  const view = cluster.taskView(task);
  const isWaiting = view.state === 'waiting' && view.pending > 0;
  return {
    id: printTask(view.workflow, view.index),
    index: view.index,
    ...optional('name', spec.name),
    ...optional('command', spec.command),
    state: view.state,
    ...optional('skipped', spec.skipped),
    ...('reason' in view ? { reason: view.reason } : {}),
    ...optional('held', view.held ? (true as const) : undefined),
    priority: view.priority,
    ...optional('requestedResources', spec.resources),
    ...optional('expectedDurationMs', spec.expectedDurationMs),
    ...optional('tags', spec.tags),
    ...optional('template', spec.template),
    ...optional('attributes', spec.attributes),
    ...optional('pendingDependencies', isWaiting ? view.pending : undefined),
    ...(view.state === 'queued' ? at('notBefore', view.notBefore) : {}),
    attempts: view.attemptNumber,
    ...optional('outcome', last?.outcome === undefined ? undefined : renderOutcome(last.outcome)),
  };
}

export function renderContinuations({ graph, tasks }: Cluster, task: TaskId): string[] {
  const names: string[] = [];
  for (const { child } of graph.children(task)) {
    if (names.length === pageRowsMax) break;
    names.push(printTask(tasks.workflow(child), tasks.index(child)));
  }
  return names;
}

export function renderAttempt(cluster: Cluster, row: AttemptRow): AttemptView {
  const { tasks, workers, attempts } = cluster;
  const { id, task, number, worker, recordedAt, startedAt, endedAt, outcome, usage, signalledFor } = row;
  const stored = outcome === undefined ? (startedAt > 0 ? 'running' : 'sent') : 'ended';
  return {
    id: printAttempt(tasks.workflow(task), tasks.index(task), number),
    number,
    state: attempts.get(id as AttemptId)?.state ?? stored,
    worker: printWorker(worker),
    host: workers.get(worker)?.host ?? '?',
    recordedAt: iso(recordedAt),
    ...at('startedAt', startedAt),
    ...at('endedAt', endedAt),
    ...optional('outcome', outcome === undefined ? undefined : renderOutcome(outcome)),
    ...optional('signalledFor', signalledFor),
    ...optional('wallMs', usage?.wallMs),
    ...optional('cpuMs', usage?.cpuMs),
    ...optional('peakBytes', usage?.peakBytes),
  };
}

export function renderWorker(worker: WorkerRecord, now: number): WorkerView {
  const { id, kind, shard, host, state, goneFor, slots, attempts, joinedAt, facts, ailment, bar, isAway } = worker;
  const { queue, memoryBytes, gpus, pools, endsAt } = worker.capacity;
  return {
    id: printWorker(id),
    kind,
    shard,
    host,
    state,
    ...optional('bar', bar?.kind),
    ...optional('reason', goneFor ?? bar?.why ?? ailment ?? (isAway ? 'not connected' : undefined)),
    slots,
    queue,
    ...optional('memoryBytes', memoryBytes),
    ...optional('gpus', gpus),
    ...optional('pools', pools),
    ...optional('endsAt', endsAt === undefined ? undefined : iso(endsAt)),
    attempts: attempts.size,
    joinedAt: iso(joinedAt),
    ...optional('heardAgoMs', state === 'gone' ? undefined : Math.max(0, now - facts.heartbeatAt)),
  };
}
