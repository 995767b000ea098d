/** Where a need could be placed: one look at each worker, by the predicates that the scheduler launches by. */
import type { TaskId, WorkerId } from '../../model/ids.ts';
import { whyLimits, workerAttemptsMax } from '../../model/limits.ts';
import type { Need } from '../../model/need.ts';
import type { Cluster } from '../cluster.ts';
import { distanceOf, isStaying, type Lack, lacksOf } from '../resources/queues.ts';
import { fullness, type Shortage, shortagesOf } from '../resources/room.ts';
import type { Lane } from '../scheduler/lanes.ts';
import { couldPlace, hasRoom, obstacleOf } from '../scheduler/placement.ts';
import type { WorkerRecord } from '../worker.ts';
import type { Reason, Some, Unavailable } from './reason.ts';
import { Few } from './some.ts';

interface Nearest {
  readonly worker: WorkerRecord;
  readonly distance: number;
}

export class Placing {
  readonly #cluster: Cluster;
  readonly #lane: Lane;
  readonly #now: number;
  /** There are more workers than may be looked at. */
  #isCut = false;
  #staying = 0;
  #leaving = 0;
  #ofQueue = 0;
  readonly #queues = new Set<string>();
  #smaller: Nearest | undefined;
  readonly #unavailable = new Few<Unavailable>();
  readonly #http = new Few<WorkerId>();
  #full: Nearest | undefined;
  #fullCount = 0;
  #fullSlots = 0;
  readonly #reserved = new Few<WorkerId>();
  #reservedFor: Need | undefined;
  /** Have room now. */
  readonly #open = new Few<WorkerId>();
  /** What was found, which is the same for all of the lane. */
  #found: readonly Reason[] | undefined;

  constructor(cluster: Cluster, lane: Lane, now: number) {
    this.#cluster = cluster;
    this.#lane = lane;
    this.#now = now;
    let looks = 0;
    for (const worker of cluster.liveWorkers.values()) {
      if (++looks > whyLimits.workersMax) {
        this.#isCut = true;
        break;
      }
      this.#look(worker);
    }
    for (const few of [this.#unavailable, this.#http, this.#reserved, this.#open]) few.isCut = this.#isCut;
  }

  #look(worker: WorkerRecord): void {
    const { need } = this.#lane;
    const { queue } = worker.capacity;
    const isOurs = queue === need.queue;
    if (!isStaying(worker)) {
      this.#leaving++;
      if (isOurs && couldPlace(worker, this.#lane, this.#now)) this.#onUnavailable(worker);
      return;
    }
    this.#staying++;
    if (!isOurs) return void this.#queues.add(queue);
    this.#ofQueue++;
    if (couldPlace(worker, this.#lane, this.#now)) this.#onLarge(worker);
    else this.#smaller = nearer(this.#smaller, worker, distanceOf(lacksOf(worker, need, this.#now)));
  }

  #onUnavailable(worker: WorkerRecord): void {
    const obstacle = obstacleOf(worker);
    if (obstacle !== undefined) this.#unavailable.add(unavailable(worker));
  }

  #onLarge(worker: WorkerRecord): void {
    const obstacle = obstacleOf(worker);
    if (obstacle === 'http') return this.#http.add(worker.id);
    if (obstacle !== undefined) return this.#onUnavailable(worker);
    if (hasRoom(worker, this.#lane, 0, this.#now)) return this.#open.add(worker.id);
    const { room, load, reservedFor, slots } = worker;
    const isKept = reservedFor !== undefined && reservedFor !== this.#lane.id;
    if (isKept && this.#shortagesOf(worker).length === 0) {
      this.#reserved.add(worker.id);
      this.#reservedFor ??= this.#cluster.lanes.byId(reservedFor)?.need;
      return;
    }
    this.#fullCount++;
    this.#fullSlots += slots;
    this.#full = nearer(this.#full, worker, fullness(room, load, this.#lane.demand));
  }

  /** What a worker that could hold it has too little of for now. */
  #shortagesOf({ room, load, attempts }: WorkerRecord): Shortage[] {
    const short = shortagesOf(room, load, this.#lane.demand);
    const isCrowded = attempts.size >= workerAttemptsMax;
    return isCrowded ? [...short, { of: 'attempts', asked: 1, free: 0 }] : short;
  }

  /** Whether it is, or may soon be, somewhere: then it matters what goes before it. */
  get hasPlaces(): boolean {
    return this.#open.count + this.#fullCount + this.#reserved.count > 0;
  }

  /** Workers that have room, leaving out one. */
  openBeside(avoided: WorkerId | undefined): number {
    const isAmong = avoided !== undefined && this.#isOpen(avoided);
    return this.#open.count - (isAmong ? 1 : 0);
  }

  #isOpen(id: WorkerId): boolean {
    const worker = this.#cluster.liveWorkers.get(id);
    return worker !== undefined && obstacleOf(worker) === undefined && hasRoom(worker, this.#lane, 0, this.#now);
  }

  /** Why it is nowhere; none where a worker beside `avoided` has room. */
  reasons(avoided: WorkerId | undefined): Reason[] {
    if (this.openBeside(avoided) > 0) return [];
    this.#found ??= this.#missing();
    if (this.#open.count === 0 || avoided === undefined) return [...this.#found];
    const until = this.#cluster.workers.get(avoided)?.suspicion?.until;
    return [{ kind: 'avoided', worker: avoided, until }, ...this.#found];
  }

  #missing(): Reason[] {
    const { need } = this.#lane;
    if (this.#staying === 0 && this.#unavailable.count === 0) {
      return [{ kind: 'no-worker', leaving: this.#leaving, need }];
    }
    if (this.hasPlaces) return this.#noPlace();
    const reasons: Reason[] = [];
    if (this.#unavailable.count > 0) reasons.push({ kind: 'workers-unavailable', workers: this.#unavailable });
    if (this.#http.count > 0) reasons.push({ kind: 'unclaimed', workers: this.#http });
    if (reasons.length > 0) return reasons;
    if (this.#ofQueue === 0) return [{ kind: 'no-queue', queue: need.queue, others: this.#otherQueues() }];
    return this.#tooLarge();
  }

  #otherQueues(): Some<string> {
    const others = new Few<string>();
    for (const queue of [...this.#queues].sort()) others.add(queue);
    others.isCut = this.#isCut;
    return others;
  }

  #tooLarge(): Reason[] {
    if (this.#smaller === undefined) return [];
    const { need } = this.#lane;
    const { worker } = this.#smaller;
    const lacks: readonly Lack[] = lacksOf(worker, need, this.#now);
    const [workers, isCut] = [this.#ofQueue, this.#isCut];
    return [{ kind: 'too-large', need, nearest: worker.id, lacks, workers, isCut }];
  }

  /** Some could hold it, and may be given tasks; but not now. */
  #noPlace(): Reason[] {
    const reasons: Reason[] = [];
    const { reserved } = this.#lane;
    if (this.#full !== undefined) reasons.push(this.#noRoom(this.#full.worker));
    if (this.#reserved.count > 0 && this.#reservedFor !== undefined)
      reasons.push({ kind: 'reserved', workers: this.#reserved, need: this.#reservedFor });
    if (reserved !== undefined) reasons.push({ kind: 'reserved-for-it', worker: reserved.id });
    return reasons;
  }

  #noRoom(worker: WorkerRecord): Reason {
    const short = this.#shortagesOf(worker);
    const [workers, slots, isCut] = [this.#fullCount, this.#fullSlots, this.#isCut];
    const [first, ...others] = short;
    if (first?.of === 'cpus' && others.length === 0) {
      const { asked, free } = first;
      return { kind: 'slots-busy', workers, slots, isCut, nearest: worker.id, asked, free };
    }
    const runs = new Few<TaskId>();
    for (const attempt of worker.attempts) {
      const task = this.#cluster.attempts.get(attempt)?.task;
      if (task !== undefined) runs.add(task);
    }
    return { kind: 'no-room', nearest: worker.id, short, runs, workers, isCut };
  }
}

export const unavailable = (worker: WorkerRecord): Unavailable => ({
  worker: worker.id,
  obstacle: obstacleOf(worker) ?? 'away',
  why: worker.ailment ?? worker.bar?.why,
});

const nearer = (nearest: Nearest | undefined, worker: WorkerRecord, distance: number): Nearest =>
  nearest === undefined || distance < nearest.distance ? { worker, distance } : nearest;
