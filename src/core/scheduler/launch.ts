/**
 * Which queued task goes to which worker. Workflows take turns, tasks of one go in the order of their ids; slots are
 * filled first, then every worker gets a little ahead, measured in time, so that a slot never waits for a round trip.
 */
import { type AttemptId, attemptId, type TaskId, taskId } from '../../model/ids.ts';
import { prefetchMax, prefetchMs } from '../../model/limits.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import type { Rota } from './rota.ts';

export interface Assignment {
  readonly worker: WorkerRecord;
  readonly attempts: readonly AttemptId[];
}

/** Whether it may be given tasks at all. One over HTTP takes its tasks itself. */
export const mayLaunch = ({ kind, state, isAway, bar }: WorkerRecord): boolean =>
  kind === 'native' && state === 'healthy' && !isAway && bar === undefined;

/** Before the first end nothing is known of how long tasks take: nothing is sent ahead. */
function prefetchOf(worker: WorkerRecord): number {
  if (worker.averageMs === 0) return 0;
  return Math.min(prefetchMax, Math.floor((worker.slots * prefetchMs) / worker.averageMs));
}

export interface Launched {
  readonly assignments: readonly Assignment[];
  /** It stopped at the limit: there is more to launch. */
  readonly isCut: boolean;
}

/** Goes over those who may have room and those who may have work only, and leaves out who turns out to have none. */
export function launchTasks(turn: Turn, limit: number): Launched {
  const { vacant, eager, sources, patient } = turn.cluster;
  const assigned = new Map<WorkerRecord, AttemptId[]>();
  fill(turn, { workers: vacant, sources, capacity: (worker) => worker.slots }, limit, assigned);
  // Under fail-fast nothing may start into a freed slot before the failure is known: nothing is sent ahead.
  fill(turn, { workers: eager, sources: patient, capacity: capacityOf }, limit, assigned);
  const assignments = Array.from(assigned, ([worker, attempts]) => ({ worker, attempts }));
  return { assignments, isCut: turn.changes.length >= limit };
}

/** Attempts that a worker may have, those that wait for a slot included. */
export const capacityOf = (worker: WorkerRecord): number => worker.slots + prefetchOf(worker);

interface Pass {
  readonly workers: Set<WorkerRecord>;
  readonly sources: Rota<WorkflowRecord>;
  readonly capacity: (worker: WorkerRecord) => number;
}

function fill(
  turn: Turn,
  { workers, sources, capacity }: Pass,
  limit: number,
  assigned: Map<WorkerRecord, AttemptId[]>,
): void {
  for (const worker of workers) {
    if (sources.size === 0 || turn.changes.length >= limit) return;
    const most = mayLaunch(worker) ? capacity(worker) : 0;
    const attempts = launchOn(turn, worker, most, sources, limit);
    if (worker.attempts.size >= most) workers.delete(worker);
    if (attempts.length > 0) assigned.set(worker, [...(assigned.get(worker) ?? []), ...attempts]);
  }
}

function launchOn(
  turn: Turn,
  worker: WorkerRecord,
  most: number,
  sources: Rota<WorkflowRecord>,
  limit: number,
): AttemptId[] {
  const { avoided } = turn.cluster;
  const attempts: AttemptId[] = [];
  const aside: TaskId[] = [];
  while (worker.attempts.size < most && turn.changes.length < limit) {
    const task = takeNext(turn, sources);
    if (task === undefined) break;
    if (avoided.get(task) === worker.id) aside.push(task);
    else attempts.push(launch(turn, task, worker));
  }
  // Tasks that are not to be tried on that worker are there for the others.
  for (const task of aside) turn.cluster.makeReady(task);
  return attempts;
}

/** From the workflow whose turn it is; one that has nothing to launch is left out. */
export function takeNext(turn: Turn, sources: Rota<WorkflowRecord>): TaskId | undefined {
  for (let source = sources.first; source !== undefined; source = sources.first) {
    const task = source.launches ? takeReady(turn, source) : undefined;
    if (task === undefined) sources.drop();
    else {
      sources.turn();
      return task;
    }
  }
  return undefined;
}

/** The next task that may really be launched; entries that no longer hold are dropped on the way. */
function takeReady(turn: Turn, workflow: WorkflowRecord): TaskId | undefined {
  const { tasks } = turn.cluster;
  while (workflow.ready.size > 0) {
    const task = taskId(workflow.ready.pop());
    if (tasks.state(task) !== 'queued' || tasks.isHeld(task) || tasks.notBefore(task) > turn.now) continue;
    if (tasks.until(task) < turn.now) turn.task(task, { type: 'expire', now: turn.now }, 'controller');
    else return task;
  }
  return undefined;
}

function launch(turn: Turn, task: TaskId, worker: WorkerRecord): AttemptId {
  const attempt = attemptId(turn.cluster.lastAttempt + 1);
  const number = turn.cluster.tasks.attemptNumber(task) + 1;
  turn.emit({ type: 'attempt-recorded', attempt, task, number, worker: worker.id });
  turn.task(task, { type: 'launch', attempt, number, now: turn.now }, 'distributor');
  return attempt;
}
