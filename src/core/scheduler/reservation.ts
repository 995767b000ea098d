/**
 * No need is starved by others: one that has found no room for too long, while others were launched, gets a worker
 * reserved. Nothing else is placed there until it fits, there or elsewhere.
 */
import { reserveAfterMs } from '../../model/limits.ts';
import { fullness } from '../resources/room.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import { frontOf } from './front.ts';
import type { Lane, LaneList } from './lanes.ts';
import { couldPlace, mayLaunch } from './placement.ts';

/** All workers were looked at: what is open fits nowhere, or was held back for others. */
export function noteStuck({ cluster: { lanes }, now }: Turn, list: LaneList, hasHeldBack: boolean): void {
  if (list === lanes.ahead) {
    for (const lane of list.open) lane.isBehind = hasHeldBack;
  } else {
    for (const lane of list.open) {
      if (lane.stuckSince > 0) continue;
      lane.stuckSince = now;
      lane.launchesBefore = lanes.launches;
      lane.reserveAt = now + reserveAfterMs;
      lanes.reserveAt = Math.min(lanes.reserveAt, lane.reserveAt);
    }
  }
  list.markStuck();
}

/** A task of that need goes to a worker. Returns how many have by now. */
export function noteLaunch({ cluster, now }: Turn, lane: Lane): number {
  const { lanes } = cluster;
  lane.stuckSince = 0;
  if (lane.reserved !== undefined) release(cluster, lane);
  if (lanes.hasOverdue) lanes.reserveAt = Math.min(lanes.reserveAt, now);
  return ++lanes.launches;
}

function release(cluster: Turn['cluster'], lane: Lane): void {
  const worker = lane.reserved;
  cluster.lanes.reserving.delete(lane);
  lane.reserved = undefined;
  if (worker === undefined) return;
  worker.reservedFor = undefined;
  // A pass that goes on looks at it again, although it may have had its turn: it had room for nobody else then.
  cluster.candidates.remove(worker);
  if (worker.state !== 'gone') cluster.candidates.noteRoom(worker);
}

/** Drops reservations that no longer hold, and makes those that are due. */
export function reserveRoom(turn: Turn): void {
  const { cluster, now } = turn;
  const { lanes } = cluster;
  for (const lane of lanes.reserving) {
    const worker = lane.reserved;
    const holds = worker !== undefined && mayLaunch(worker) && couldPlace(worker, lane, now);
    if (!holds || frontOf(turn, lane) === undefined) release(cluster, lane);
  }
  if (now < lanes.reserveAt) return;
  lanes.reserveAt = Number.POSITIVE_INFINITY;
  lanes.hasOverdue = false;
  for (const lane of lanes.now.stuck) {
    if (lane.reserved !== undefined) continue;
    // Where nobody else is launched either, it is just that everything is taken: nothing is due before somebody is.
    if (lane.reserveAt <= now && lanes.launches === lane.launchesBefore) lanes.hasOverdue = true;
    else reserveIfDue(turn, lane);
  }
}

function reserveIfDue(turn: Turn, lane: Lane): void {
  const { lanes } = turn.cluster;
  if (lane.reserveAt <= turn.now) {
    if (frontOf(turn, lane) !== undefined) reserve(turn, lane);
    lane.reserveAt = turn.now + reserveAfterMs;
    lane.launchesBefore = lanes.launches;
  }
  lanes.reserveAt = Math.min(lanes.reserveAt, lane.reserveAt);
}

function reserve({ cluster, now }: Turn, lane: Lane): void {
  let best: WorkerRecord | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const worker of cluster.liveWorkers.values()) {
    if (!mayLaunch(worker) || worker.reservedFor !== undefined || !couldPlace(worker, lane, now)) continue;
    const full = fullness(worker.room, worker.load, lane.demand);
    if (full >= least) continue;
    best = worker;
    least = full;
  }
  if (best === undefined) return;
  best.reservedFor = lane.id;
  lane.reserved = best;
  cluster.lanes.reserving.add(lane);
}
