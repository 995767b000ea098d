/** Whether something can be placed on a worker: now, or ahead of its turn. */
import { prefetchMax, prefetchMs, workerAttemptsMax } from '../../model/limits.ts';
import type { Obstacle } from '../../model/reasons.ts';
import { couldFit, fits } from '../resources/room.ts';
import type { WorkerRecord } from '../worker.ts';
import type { Lane } from './lanes.ts';

/** Why it is given no tasks, if it is not. One over HTTP takes its tasks itself. */
export function obstacleOf({ kind, state, isAway, bar }: WorkerRecord): Obstacle | undefined {
  if (state !== 'healthy') return state;
  if (isAway) return 'away';
  if (bar !== undefined) return bar.kind;
  return kind === 'native' ? undefined : kind;
}

/** Whether it may be given tasks at all. */
export const mayLaunch = (worker: WorkerRecord): boolean => obstacleOf(worker) === undefined;

/** For how many slots it may have work beyond those that it has. Before the first end nobody knows how long tasks take: none. */
export function prefetchOf(worker: WorkerRecord): number {
  if (worker.averageMs === 0) return 0;
  return Math.min(prefetchMax, Math.floor((worker.slots * prefetchMs) / worker.averageMs));
}

/**
 * `ahead`: in slots, and in as much of all else. What is sent ahead must fit where there is nothing else: the worker
 * starts what it has in the order in which it came.
 */
export function hasRoom(worker: WorkerRecord, lane: Lane, ahead: number, now: number): boolean {
  const { room, load, attempts, reservedFor, capacity } = worker;
  const { demand, need } = lane;
  if (!fits(room, load, demand, ahead) || need.queue !== capacity.queue) return false;
  if (reservedFor !== undefined && reservedFor !== lane.id) return false;
  if (attempts.size >= (ahead === 0 ? workerAttemptsMax : worker.slots + prefetchMax)) return false;
  return (ahead === 0 || demand.isPlain || couldFit(room, demand)) && isInTime(worker, lane, now);
}

/** Whether it would be over before the worker is. */
export const isInTime = ({ capacity: { endsAt } }: WorkerRecord, { need: { runtimeMs } }: Lane, now: number): boolean =>
  endsAt === undefined || runtimeMs === undefined || now + runtimeMs <= endsAt;

/** Whether it could be there if nothing else were. */
export const couldPlace = (worker: WorkerRecord, lane: Lane, now: number): boolean =>
  worker.capacity.queue === lane.need.queue && couldFit(worker.room, lane.demand) && isInTime(worker, lane, now);
