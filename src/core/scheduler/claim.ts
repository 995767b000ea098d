/**
 * Work stealing: a worker over HTTP takes queued tasks itself, one that it names or the next ones in the scheduler's
 * order. A claim is one step from queued to running, in one turn: of two claimers exactly one wins.
 */
import { DroverError } from '../../model/errors.ts';
import {
  type AttemptId,
  attemptId,
  printAttempt,
  printTask,
  printWorker,
  type TaskId,
  taskId,
} from '../../model/ids.ts';
import type { Cluster } from '../cluster.ts';
import { allowedCommands, decideBy } from '../machine.ts';
import { describeRefusal } from '../resources/limits.ts';
import { couldFit, fits } from '../resources/room.ts';
import { taskTable } from '../task/table.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import type { ReadyQueue } from '../workflow/ready-tasks.ts';
import { Chooser } from './choose.ts';

/** One task by its name. Throws when it, or the worker, is not in a state for that. */
export function claimTask(turn: Turn, worker: WorkerRecord, task: TaskId): AttemptId {
  mustHaveRoom(worker);
  const { tasks } = turn.cluster;
  const workflow = turn.cluster.workflow(tasks.workflow(task));
  if (tasks.until(task) < turn.now) turn.task(task, { type: 'expire', now: turn.now }, 'controller');
  if (tasks.state(task) === 'queued' && !workflow.launches) {
    throw notAvailable(
      turn,
      task,
      `its workflow is ${workflow.stop === undefined ? workflow.state : 'being cancelled'}`,
    );
  }
  if (turn.cluster.avoided.get(task) === worker.id) throw notAvailable(turn, task, 'it is tried on another worker');
  if (tasks.state(task) === 'queued') mustFit(turn, worker, task);
  const claimed = take(turn, worker, task);
  dropTaken(turn.cluster, workflow.ready.queue(tasks.need(task)));
  return claimed;
}

function mustFit(turn: Turn, worker: WorkerRecord, task: TaskId): void {
  const { cluster } = turn;
  const number = cluster.tasks.need(task);
  const [need, demand] = [cluster.needs.get(number), cluster.needs.demand(number)];
  const { id, capacity, room, load } = worker;
  const name = printWorker(id);
  if (need.queue !== capacity.queue) {
    throw notAvailable(turn, task, `it is for queue '${need.queue}', ${name} is of queue '${capacity.queue}'`);
  }
  if (!couldFit(room, demand)) throw notAvailable(turn, task, `it needs more than ${name} has`);
  if (!fits(room, load, demand)) throw full(worker);
  const refusal = cluster.limits.refusalOf(cluster.workflow(cluster.tasks.workflow(task)), need);
  if (refusal !== undefined) throw notAvailable(turn, task, `${describeRefusal(refusal)} is reached`);
}

/** The next ones, as many as the worker wants and has room for; none, where there are none or it gets none. */
export function claimTasks(turn: Turn, worker: WorkerRecord, most: number): AttemptId[] {
  const { cluster } = turn;
  const claimed: AttemptId[] = [];
  // Also what fits no other worker.
  const chooser = new Chooser(turn, { open: new Set(cluster.lanes.all()), stuck: new Set() });
  const room = worker.bar === undefined ? most : 0;
  while (claimed.length < room) {
    const task = chooser.takeFor(worker, 0);
    if (task === undefined) break;
    claimed.push(take(turn, worker, task));
  }
  chooser.putBack();
  return claimed;
}

function take(turn: Turn, worker: WorkerRecord, task: TaskId): AttemptId {
  const { cluster, now } = turn;
  const attempt = attemptId(cluster.lastAttempt + 1);
  const number = cluster.tasks.attemptNumber(task) + 1;
  const decision = decideBy(taskTable, cluster.taskView(task), { type: 'claim', attempt, number, now }, 'operator');
  if (decision.kind !== 'accept') throw notAvailable(turn, task, decision.why);
  turn.emit({ type: 'attempt-recorded', attempt, task, number, worker: worker.id });
  for (const event of decision.events) turn.emit({ type: 'task-changed', task, event });
  turn.emit({ type: 'attempt-started', attempt, startedAt: now });
  return attempt;
}

function mustHaveRoom(worker: WorkerRecord): void {
  const { id, bar, load, room } = worker;
  const name = printWorker(id);
  if (bar !== undefined) throw new DroverError('worker-barred', `${name} gets no tasks: it is ${bar.kind}, ${bar.why}`);
  if (load.cpus >= room.cpus) throw full(worker);
}

const full = ({ id, attempts, slots }: WorkerRecord): DroverError =>
  new DroverError(
    'worker-full',
    `${printWorker(id)} has ${attempts.size} attempts and ${slots} slots: there is no room`,
  );

/** Says who has it, so that a worker which lost the answer to its claim can tell that it is its own. */
function notAvailable({ cluster }: Turn, task: TaskId, why: string): DroverError {
  const { tasks } = cluster;
  const state = tasks.state(task);
  const [workflow, index] = [tasks.workflow(task), tasks.index(task)];
  const holder = holderOf(cluster, task);
  const held =
    holder === undefined
      ? {}
      : { worker: printWorker(holder.worker), attempt: printAttempt(workflow, index, holder.number) };
  return new DroverError('task-not-available', `${printTask(workflow, index)} is ${state}: ${why}`, {
    details: { state, allowed: allowedCommands(taskTable, state, 'operator'), ...held },
  });
}

function holderOf({ tasks, attempts }: Cluster, task: TaskId) {
  const last = tasks.lastAttempt(task);
  const record = last === undefined ? undefined : attempts.get(last);
  return record === undefined || record.state === 'ended' ? undefined : record;
}

/** Workers claim what they see first: without this the list of what is ready would begin with what was claimed. */
function dropTaken({ tasks }: Cluster, queue: ReadyQueue | undefined): void {
  if (queue === undefined) return;
  for (let next = queue.peek(); next !== undefined && tasks.state(taskId(next)) !== 'queued'; next = queue.peek()) {
    queue.pop();
  }
}

/** Whether somebody may claim something now; stale entries may make it true for a moment. */
export const hasClaimable = ({ lanes }: Cluster): boolean => !lanes.isEmpty;

/** Tasks that could be claimed, about in the scheduler's order within each need; a reader's view, which changes nothing. */
export function* availableTasks({ lanes, tasks }: Cluster, now: number): Generator<TaskId> {
  const seen = new Set<number>();
  for (const { turns, number } of lanes.all()) {
    for (const workflow of turns.members()) {
      if (!workflow.launches) continue;
      for (const id of workflow.ready.queue(number)?.values() ?? []) {
        const task = taskId(id);
        const isFree = tasks.state(task) === 'queued' && !tasks.isHeld(task) && tasks.notBefore(task) <= now;
        if (!isFree || tasks.until(task) < now || seen.has(id)) continue;
        seen.add(id);
        yield task;
      }
    }
  }
}

export interface StopOrder {
  readonly attempt: AttemptId;
  readonly why: 'cancel' | 'halt';
}

/** Which of its attempts a worker has to end now. It follows from the state, so it may be asked for at any time. */
export function stopOrders(cluster: Cluster, worker: WorkerRecord): StopOrder[] {
  const orders: StopOrder[] = [];
  for (const attempt of worker.attempts) {
    const task = cluster.attempts.get(attempt)?.task;
    if (task === undefined) continue;
    const { state, haltMode } = cluster.workflow(cluster.tasks.workflow(task));
    if (cluster.tasks.state(task) === 'cancelling') orders.push({ attempt, why: 'cancel' });
    else if (state === 'halting' && haltMode === 'kill') orders.push({ attempt, why: 'halt' });
  }
  return orders;
}
