/**
 * Which attempts are to be taken back, since they wait behind others although there is room elsewhere. What is sent
 * ahead is reckoned from how long tasks took until now: a long one among short ones would hold up all behind it.
 */

import type { AttemptId } from '../../model/ids.ts';
import { overdueMs } from '../../model/limits.ts';
import type { AttemptState } from '../../model/states.ts';
import type { AttemptRecord } from '../attempt/record.ts';
import type { Cluster } from '../cluster.ts';
import { fits, isOver, Load } from '../resources/room.ts';
import type { WorkerRecord } from '../worker.ts';
import { mayLaunch } from './placement.ts';

const waiting: ReadonlySet<AttemptState> = new Set(['recorded', 'sent', 'accepted']);

/** As many as there is room for elsewhere; the last to be sent come first, since they would wait longest. */
export function overdueAttempts(cluster: Cluster, now: number): AttemptId[] {
  const spare = new SpareRoom(cluster);
  const overdue: AttemptId[] = [];
  if (spare.isNone) return overdue;
  for (const worker of cluster.liveWorkers.values()) {
    if (spare.isNone) break;
    if (!isOver(worker.room, worker.load)) continue;
    const left = copyOf(worker.load);
    for (const attempt of [...worker.attempts].reverse()) {
      if (!isOver(worker.room, left)) break;
      const record = cluster.attempts.get(attempt);
      if (record === undefined || !waiting.has(record.state) || record.recordedAt > now - overdueMs) continue;
      if (!spare.take(record)) continue;
      left.remove(cluster.needs.demand(record.need));
      overdue.push(attempt);
    }
  }
  return overdue;
}

/** What is free, and less of it with everything that is to go there. */
class SpareRoom {
  readonly #cluster: Cluster;
  readonly #rooms: readonly { readonly worker: WorkerRecord; readonly load: Load }[];
  /** Before this one nobody has room for that need: what is free becomes less, never more. */
  readonly #from = new Map<number, number>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    const hasFree = (worker: WorkerRecord): boolean =>
      mayLaunch(worker) && worker.reservedFor === undefined && worker.load.cpus < worker.room.cpus;
    this.#rooms = [...cluster.liveWorkers.values()]
      .filter(hasFree)
      .map((worker) => ({ worker, load: copyOf(worker.load) }));
  }

  get isNone(): boolean {
    return this.#rooms.length === 0;
  }

  take({ need: number }: AttemptRecord): boolean {
    const { needs } = this.#cluster;
    const [need, demand] = [needs.get(number), needs.demand(number)];
    for (let at = this.#from.get(number) ?? 0; ; at++) {
      this.#from.set(number, at);
      const room = this.#rooms[at];
      if (room === undefined) return false;
      const { worker, load } = room;
      if (worker.capacity.queue !== need.queue || !fits(worker.room, load, demand)) continue;
      load.add(demand);
      return true;
    }
  }
}

function copyOf({ cpus, memoryBytes, gpus, odd, pools }: Load): Load {
  const copy = new Load();
  for (const [name, amount] of pools) copy.pools.set(name, amount);
  return Object.assign(copy, { cpus, memoryBytes, gpus, odd });
}
