/** Steers many tasks in one turn, as far as the turn goes. */
import type { StateMask } from '../core/task/state-blocks.ts';
import { type Steering, steerTask } from '../core/task/steering.ts';
import type { Turn } from '../core/turn.ts';
import type { TaskId } from '../model/ids.ts';
import { commitRowsMax } from '../model/limits.ts';
import type { TasksSteered } from './messages.ts';

/** One that has meanwhile left the states in which it was found is refused: it is not what was meant any more. */
export function steerTasks(turn: Turn, tasks: readonly TaskId[], steering: Steering, mask: StateMask): TasksSteered {
  const refused: Record<string, number> = {};
  let [taken, changed, unchanged] = [0, 0, 0];
  for (const task of tasks) {
    // At least one, or it would never end.
    if (taken > 0 && turn.changes.length >= commitRowsMax) break;
    taken++;
    const state = turn.cluster.tasks.state(task);
    const decision = turn.cluster.tasks.isIn(task, mask) ? steerTask(turn, task, steering).kind : 'reject';
    if (decision === 'accept') changed++;
    else if (decision === 'ignore') unchanged++;
    else refused[state] = (refused[state] ?? 0) + 1;
  }
  return { taken, changed, unchanged, refused };
}
