/**
 * Which task goes next to a worker that has room. Between workflows the one with the highest priority of a ready task, then in turns.
 * Within one: by priority, then what unblocks more, then what takes more of the worker, then by id.
 */
import type { TaskId } from '../../model/ids.ts';
import { lanesLookedAtMax } from '../../model/limits.ts';
import { shareOf } from '../resources/room.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import { type Front, frontOf } from './front.ts';
import { type Lane, type LaneList, rotate } from './lanes.ts';
import { couldPlace, hasRoom } from './placement.ts';
import { noteLaunch } from './reservation.ts';

export class Chooser {
  readonly #turn: Turn;
  readonly #lanes: Set<Lane>;
  readonly #stuck: Set<Lane>;
  /** Tasks that are not to be tried on the worker that is being filled. */
  #aside: TaskId[] = [];
  /** There were more lanes than may be looked at: nobody knows whether one of the others fits. */
  isCut = false;
  /** Something was not sent ahead, so that it does not go before what has no room yet. */
  hasHeldBack = false;

  constructor(turn: Turn, { open, stuck }: Pick<LaneList, 'open' | 'stuck'>) {
    this.#turn = turn;
    this.#lanes = open;
    this.#stuck = stuck;
  }

  /** It is no longer among those that are ready. */
  takeFor(worker: WorkerRecord, ahead: number): TaskId | undefined {
    let best: Lane | undefined;
    let first: Front | undefined;
    let looked = 0;
    for (const lane of this.#lanes) {
      if (++looked > lanesLookedAtMax) {
        this.isCut = true;
        break;
      }
      if (!hasRoom(worker, lane, ahead, this.#turn.now)) continue;
      const front = this.#frontFor(lane, worker);
      if (front === undefined) continue;
      if (best !== undefined && first !== undefined && !isBefore(lane, front, best, first, worker)) continue;
      best = lane;
      first = front;
    }
    if (best === undefined || first === undefined) {
      if (this.isCut) rotate(this.#lanes, lanesLookedAtMax);
      return undefined;
    }
    if (ahead > 0 && this.#overtakes(best, first, worker)) {
      this.hasHeldBack = true;
      return undefined;
    }
    this.#take(best, first);
    return first.task;
  }

  /**
   * What is sent ahead is started before what comes later, whatever that is: what a task of its own workflow goes before, but has no
   * room yet, would wait for all of it.
   */
  #overtakes(lane: Lane, front: Front, worker: WorkerRecord): boolean {
    let looked = 0;
    for (const lanes of [this.#lanes, this.#stuck]) {
      for (const other of lanes) {
        if (++looked > lanesLookedAtMax) return false;
        if (other === lane || !couldPlace(worker, other, this.#turn.now)) continue;
        const first = frontOf(this.#turn, other);
        if (first?.workflow === front.workflow && isBefore(other, first, lane, front, worker)) return true;
      }
    }
    return false;
  }

  #take(lane: Lane, { workflow, queue }: Front): void {
    queue.pop();
    workflow.servedAt = noteLaunch(this.#turn, lane);
    if (!queue.isEmpty) return lane.turns.turn();
    workflow.ready.forget(queue);
    lane.turns.drop();
    if (lane.turns.isEmpty) this.#turn.cluster.lanes.leave(lane);
  }

  /** Tasks that were set aside are there for other workers. */
  putBack(): void {
    if (this.#aside.length === 0) return;
    for (const task of this.#aside) this.#turn.cluster.candidates.makeReady(task);
    this.#aside = [];
  }

  #frontFor(lane: Lane, worker: WorkerRecord): Front | undefined {
    const { avoided } = this.#turn.cluster;
    let front = frontOf(this.#turn, lane);
    while (avoided.size > 0 && front !== undefined && avoided.get(front.task) === worker.id) {
      front.queue.pop();
      this.#aside.push(front.task);
      front = frontOf(this.#turn, lane);
    }
    return front;
  }
}

/** Of two different lanes. */
function isBefore(one: Lane, first: Front, other: Lane, second: Front, { room }: WorkerRecord): boolean {
  if (one.turns.priority !== other.turns.priority) return one.turns.priority > other.turns.priority;
  const [a, b] = [first.workflow, second.workflow];
  if (a !== b) return a.servedAt !== b.servedAt ? a.servedAt < b.servedAt : a.id < b.id;
  if (first.queue.level !== second.queue.level) return first.queue.level > second.queue.level;
  const [more, less] = [shareOf(room, one.demand), shareOf(room, other.demand)];
  return more !== less ? more > less : first.task < second.task;
}
