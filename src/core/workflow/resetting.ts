/** A workflow begins anew on its definer's word: what is not done, or all of it, as if it had never been tried. */
import type { TaskId, WorkflowId } from '../../model/ids.ts';
import { countPending } from '../task/waiting.ts';
import type { Turn } from '../turn.ts';

export interface Resetting {
  readonly workflow: WorkflowId;
  /** With what is done. */
  readonly all: boolean;
  /** Only tasks beyond this index. */
  readonly after: number;
}

export interface Reset {
  /** Tasks with a command that begin anew. */
  readonly count: number;
  /** Where to go on; absent when all were looked at. */
  readonly next?: number;
}

/**
 * As many as fit about so many changes. It is halted all the while, and each call asks the table anew: a resume between
 * two of them ends it, with what was reset so far. Asked for again it goes on: what waits already is left as it is.
 */
export function resetWorkflow(turn: Turn, { workflow, all, after }: Resetting, limit: number): Reset {
  const { tasks } = turn.cluster;
  if (turn.mustWorkflow(workflow, { type: 'reset', all }, 'definer').kind !== 'accept') return { count: 0 };
  let count = 0;
  for (const task of turn.cluster.workflow(workflow).tasks(after + 1)) {
    if (turn.changes.length >= limit) return { count, next: tasks.index(task) - 1 };
    count += resetWithEarlier(turn, task, all);
  }
  return { count };
}

/**
 * Parents mostly come before their children, which are then met later on the way. A child that comes first, since its
 * edge was added afterwards, was looked at when its parent still stood as before: it is looked at again.
 */
function resetWithEarlier(turn: Turn, task: TaskId, all: boolean): number {
  const { tasks, graph } = turn.cluster;
  let count = 0;
  const open = [task];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const unmet = countPending(turn.cluster, next) > 0;
    if (turn.task(next, { type: 'reset', all: all && next === task, unmet }, 'controller').kind !== 'accept') continue;
    if (tasks.kind(next) === 'command') count++;
    for (const { child } of graph.children(next)) {
      if (child < next && tasks.workflow(child) === tasks.workflow(task)) open.push(child);
    }
  }
  return count;
}
