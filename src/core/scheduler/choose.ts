/**
 * Which task goes next to a worker that has room. Between workflows the one with the highest priority of a ready task, then in turns.
 * Within one: by priority, then what unblocks more, then what takes more of the worker, then by id.
 */
import { type TaskId, taskId } from '../../model/ids.ts';
import { lanesLookedAtMax } from '../../model/limits.ts';
import { shareOf } from '../resources/room.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import type { ReadyQueue } from '../workflow/ready-tasks.ts';
import { priorityOf } from '../workflow/ready-tasks.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import { type Lane, rotate } from './lanes.ts';
import { mayTake } from './may-take.ts';
import { hasRoom } from './placement.ts';
import { noteLaunch } from './reservation.ts';

/** The first task of a lane, and whose it is. */
interface Front {
  readonly workflow: WorkflowRecord;
  readonly queue: ReadyQueue;
  readonly task: TaskId;
}

export class Chooser {
  readonly #turn: Turn;
  readonly #lanes: Set<Lane>;
  /** Tasks that are not to be tried on the worker that is being filled. */
  #aside: TaskId[] = [];
  /** There were more lanes than may be looked at: nobody knows whether one of the others fits. */
  isCut = false;

  constructor(turn: Turn, lanes: Set<Lane>) {
    this.#turn = turn;
    this.#lanes = lanes;
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
    this.#take(best, first);
    return first.task;
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
    for (const task of this.#aside) this.#turn.cluster.makeReady(task);
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

/** What a lane would launch next; workflows and tasks that no longer hold are dropped on the way. */
export function frontOf(turn: Turn, lane: Lane): Front | undefined {
  const { turns } = lane;
  for (let workflow = turns.first; workflow !== undefined; workflow = turns.first) {
    const queue = workflow.launches ? workflow.ready.queue(lane.number) : undefined;
    const task = queue === undefined ? undefined : readyIn(turn, queue);
    if (queue === undefined || task === undefined) {
      if (queue !== undefined) workflow.ready.forget(queue);
      turns.drop();
      continue;
    }
    const priority = priorityOf(queue.level);
    const isItsTurn = priority === turns.priority;
    if (isItsTurn && mayTake(turn.cluster, workflow, lane.need)) return { workflow, queue, task };
    turns.drop();
    if (!isItsTurn) turns.add(priority, workflow);
  }
  turn.cluster.lanes.leave(lane);
  return undefined;
}

/** The next task that may really be launched; entries that no longer hold are dropped on the way. */
function readyIn(turn: Turn, queue: ReadyQueue): TaskId | undefined {
  const { tasks } = turn.cluster;
  for (let id = queue.peek(); id !== undefined; id = queue.peek()) {
    const task = taskId(id);
    const isReady = tasks.state(task) === 'queued' && !tasks.isHeld(task) && tasks.notBefore(task) <= turn.now;
    // One whose priority has changed was put where it belongs then.
    if (!isReady || tasks.priority(task) !== priorityOf(queue.level)) queue.pop();
    else if (tasks.need(task) !== queue.need) {
      queue.pop();
      turn.cluster.makeReady(task);
    } else if (tasks.until(task) < turn.now) {
      queue.pop();
      turn.task(task, { type: 'expire', now: turn.now }, 'controller');
    } else return task;
  }
  return undefined;
}
