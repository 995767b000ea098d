/** What a lane would launch next, if there were room for it. */
import { type TaskId, taskId } from '../../model/ids.ts';
import type { Turn } from '../turn.ts';
import { priorityOf, type ReadyQueue } from '../workflow/ready-tasks.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import type { Lane } from './lanes.ts';
import { mayTake } from './may-take.ts';

/** The first task of a lane, and whose it is. */
export interface Front {
  readonly workflow: WorkflowRecord;
  readonly queue: ReadyQueue;
  readonly task: TaskId;
}

/** Workflows and tasks that no longer hold are dropped on the way. */
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
      turn.cluster.candidates.makeReady(task);
    } else if (tasks.until(task) < turn.now) {
      queue.pop();
      turn.task(task, { type: 'expire', now: turn.now }, 'controller');
    } else return task;
  }
  return undefined;
}
