/**
 * Which queued task goes to which worker. Free room is filled first, then every worker gets a little ahead, measured in
 * time, so that a slot never waits for a round trip. What goes first is in choose.ts.
 */
import { type AttemptId, attemptId, type TaskId } from '../../model/ids.ts';
import { slotParts } from '../resources/room.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import { Chooser } from './choose.ts';
import type { LaneList } from './lanes.ts';
import { mayLaunch, prefetchOf } from './placement.ts';
import { noteStuck, reserveRoom } from './reservation.ts';

export interface Assignment {
  readonly worker: WorkerRecord;
  readonly attempts: readonly AttemptId[];
}

export interface Launched {
  readonly assignments: readonly Assignment[];
  /** It stopped at the limit: there is more to launch. */
  readonly isCut: boolean;
}

/** Goes over those who may have room and those who may have work only, and leaves out who turns out to have none. */
export function launchTasks(turn: Turn, limit: number): Launched {
  const { candidates, lanes } = turn.cluster;
  const assigned = new Map<WorkerRecord, AttemptId[]>();
  reserveRoom(turn);
  fill(turn, { workers: candidates.vacant, list: lanes.now, aheadOf: () => 0 }, limit, assigned);
  fill(turn, { workers: candidates.eager, list: lanes.ahead, aheadOf: prefetchOf }, limit, assigned);
  const assignments = Array.from(assigned, ([worker, attempts]) => ({ worker, attempts }));
  return { assignments, isCut: turn.changes.length >= limit };
}

interface Pass {
  readonly workers: Set<WorkerRecord>;
  readonly list: LaneList;
  readonly aheadOf: (worker: WorkerRecord) => number;
}

function fill(turn: Turn, pass: Pass, limit: number, assigned: Map<WorkerRecord, AttemptId[]>): void {
  const { workers, list, aheadOf } = pass;
  if (list.open.size === 0) return;
  const chooser = new Chooser(turn, list);
  for (const worker of workers) {
    if (list.open.size === 0 || turn.changes.length >= limit) return;
    const ahead = mayLaunch(worker) ? aheadOf(worker) : undefined;
    if (ahead !== undefined) {
      const attempts = launchOn(turn, worker, chooser, ahead, limit);
      if (attempts.length > 0) assigned.set(worker, [...(assigned.get(worker) ?? []), ...attempts]);
    }
    if (ahead === undefined || worker.load.cpus >= worker.room.cpus + ahead * slotParts) workers.delete(worker);
  }
  const isLookedThrough = turn.changes.length < limit && !chooser.isCut && turn.cluster.avoided.size === 0;
  if (isLookedThrough) noteStuck(turn, list, chooser.hasHeldBack);
}

function launchOn(turn: Turn, worker: WorkerRecord, chooser: Chooser, ahead: number, limit: number): AttemptId[] {
  const attempts: AttemptId[] = [];
  const most = worker.room.cpus + ahead * slotParts;
  while (worker.load.cpus < most && turn.changes.length < limit) {
    const task = chooser.takeFor(worker, ahead);
    if (task === undefined) break;
    attempts.push(launch(turn, task, worker));
  }
  chooser.putBack();
  return attempts;
}

function launch(turn: Turn, task: TaskId, worker: WorkerRecord): AttemptId {
  const attempt = attemptId(turn.cluster.lastAttempt + 1);
  const number = turn.cluster.tasks.attemptNumber(task) + 1;
  turn.emit({ type: 'attempt-recorded', attempt, task, number, worker: worker.id });
  turn.task(task, { type: 'launch', attempt, number, now: turn.now }, 'distributor');
  return attempt;
}
