/** A plan for a filter on tasks, once what it needs is known. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import { failureValues } from './failure-values.ts';
import { planTasks, type TaskPlan } from './task-plan.ts';

/** Right after a restart it may take a moment until all failures have been read: a filter on them must miss none. */
export async function planFor(shell: ControllerShell, filter: Filter): Promise<TaskPlan> {
  const isAboutFailures = filter.some(({ field: { name } }) => name === 'cause' || name === 'fingerprint');
  if (isAboutFailures) await shell.observations.failuresKnown();
  return planTasks(filter, failureValues(shell));
}
