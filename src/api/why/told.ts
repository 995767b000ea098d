/** What it takes to tell a reason: what things are called, and what only the store knows. */
import type { Cluster } from '../../core/cluster.ts';
import type { Dependency, Some } from '../../core/why/reason.ts';
import { causeOf, showCause } from '../../model/failure-cause.ts';
import { type AttemptId, printTask, printWorker, type TaskId, type WorkerId } from '../../model/ids.ts';
import type { Need } from '../../model/need.ts';
import type { Outcome } from '../../model/outcome.ts';
import { showAtLeastBytes, showCount, showDuration } from '../../model/units.ts';

export interface Told {
  readonly cluster: Cluster;
  readonly now: number;
  /** Whose reason it is: the name of a task or workflow. */
  readonly subject: string;
  /** How it is spoken of: `its workflow w3`, or `it`. */
  readonly workflow: string;
  readonly outcomes: ReadonlyMap<AttemptId, Outcome>;
  /** What tasks that failed for want of a resource would have needed. */
  readonly shortfalls: ReadonlyMap<TaskId, string>;
  readonly task: TaskId | undefined;
}

export const taskName = ({ tasks }: Cluster, task: TaskId): string =>
  printTask(tasks.workflow(task), tasks.index(task));

/** `k1 on host n7` */
export const workerName = ({ workers }: Cluster, worker: WorkerId): string =>
  `${printWorker(worker)} on host ${workers.get(worker)?.host ?? '?'}`;

/** `in 12 s`, or at once. */
export const inTime = (until: number, now: number): string => `in ${showDuration(Math.max(0, until - now))}`;
export const forTime = (until: number, now: number): string => `for another ${showDuration(Math.max(0, until - now))}`;

/** `1 task`, `at least 1,000 tasks` */
export const amountOf = (count: number, noun: string, isCut = false): string =>
  `${isCut ? 'at least ' : ''}${showCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `a, b and 3 more` */
export function listed(some: Some<string>): string {
  const rest = some.count - some.first.length;
  const first = some.first.join(', ');
  if (some.first.length === 0) return '';
  return rest > 0 || some.isCut ? `${first} and ${some.isCut ? 'at least ' : ''}${showCount(rest)} more` : first;
}

export const namesOf = <T>({ first, count, isCut }: Some<T>, name: (one: T) => string): Some<string> => ({
  ...{ first: first.map(name), count, isCut },
});

const ends = { success: '', any: ', any end counts', failure: ', its failure counts' } as const;

/** `w3.1 (running)` */
export const dependencyName = (cluster: Cluster, { task, state, after }: Dependency): string =>
  `${taskName(cluster, task)} (${state}${ends[after]})`;

/** `exit 1`; nothing for an end that nobody knows, or that was no failure. */
export function outcomeText({ outcomes }: Told, attempt: AttemptId | undefined): string {
  const outcome = attempt === undefined ? undefined : outcomes.get(attempt);
  const cause = outcome === undefined ? undefined : causeOf(outcome);
  if (outcome === undefined || cause === undefined) return '';
  return outcome.kind === 'never-started' ? `${showCause(cause)}: ${outcome.message}` : showCause(cause);
}

/** `2 cpus, 100 MB of memory and 1 gpu` */
export function needText({ cpus, memoryBytes, gpus, runtimeMs, pools = {} }: Need): string {
  return [
    `${cpus} ${cpus === 1 ? 'cpu' : 'cpus'}`,
    ...(memoryBytes === undefined ? [] : [`${showAtLeastBytes(memoryBytes)} of memory`]),
    ...(gpus === undefined ? [] : [`${gpus} ${gpus === 1 ? 'gpu' : 'gpus'}`]),
    ...(runtimeMs === undefined ? [] : [`${showDuration(runtimeMs)} of time`]),
    ...Object.entries(pools).map(([name, amount]) => `${amount} of ${name}`),
  ].join(', ');
}
