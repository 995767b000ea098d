/** Trying one task again, on a definer's word. */
import type { TaskId } from '../../model/ids.ts';
import type { Turn } from '../turn.ts';

/**
 * One that is held is released. What was cancelled because of it waits again; a workflow that had ended gets a new run
 * for it. A task that is done, or on its way, is left as it is.
 */
export function retryTask(turn: Turn, task: TaskId): void {
  if (turn.task(task, { type: 'release' }, 'definer').kind === 'accept') return;
  const decision = turn.mustTask(task, { type: 'retry' }, 'definer');
  if (decision.kind === 'accept') reinstateBehind(turn, task);
}

/** What was cancelled because of a task that is tried again waits for it again. */
export function reinstateBehind(turn: Turn, task: TaskId): void {
  const open = [task];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    turn.workflow(turn.cluster.tasks.workflow(next), { type: 'reopen' }, 'controller');
    for (const { child } of turn.cluster.graph.children(next)) {
      if (turn.task(child, { type: 'reinstate' }, 'controller').kind === 'accept') open.push(child);
    }
  }
}
