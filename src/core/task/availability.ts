/** A definer's word that a task may run: all that may be in its way is that it is held. */
import { DroverError } from '../../model/errors.ts';
import { printTask, type TaskId } from '../../model/ids.ts';
import { allowedCommands } from '../machine.ts';
import type { Turn } from '../turn.ts';
import { taskTable } from './table.ts';

export function makeAvailable(turn: Turn, task: TaskId): void {
  const { state, pending, workflow, index } = turn.cluster.taskView(task);
  const isFree = state === 'queued' || (state === 'waiting' && pending === 0);
  if (!isFree) {
    const why = state === 'waiting' ? `${pending} dependencies are not met yet` : 'not from this state';
    throw new DroverError('transition-not-allowed', `${printTask(workflow, index)} is ${state}: ${why}`, {
      details: { state, allowed: allowedCommands(taskTable, state, 'definer') },
    });
  }
  turn.mustTask(task, { type: 'release' }, 'definer');
}
