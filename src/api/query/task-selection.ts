/**
 * The tasks that match a plan, found piece by piece. A selection looks at so much and no more (`queryLimits`): where
 * that is not enough it ends early, and says where to go on.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import { type AttemptId, attemptId, type TaskId } from '../../model/ids.ts';
import { queryLimits } from '../../model/limits.ts';
import { breath } from './breath.ts';
import { needsRows, type TaskPlan } from './task-plan.ts';
import { walkTasks } from './task-walk.ts';

export interface Selection {
  readonly tasks: readonly TaskId[];
  /** The last task that was decided on; undefined when there are no more. */
  readonly reached: number | undefined;
}

export interface SelectionOptions {
  readonly after: number | undefined;
  readonly isDescending: boolean;
  readonly most: number;
}

export async function selectTasks(
  shell: ControllerShell,
  plan: TaskPlan,
  { after, isDescending, most }: SelectionOptions,
): Promise<Selection> {
  const { tasksMax, tasksAtOnce, rowsMax, rowsAtOnce } = queryLimits;
  const found: TaskId[] = [];
  // One more than was asked for tells whether there are more.
  const wanted = most + 1;
  let [position, looks, rows] = [after, 0, 0];
  for (;;) {
    const foundMax = needsRows(plan) ? rowsAtOnce : wanted - found.length;
    const walked = await shell.read((cluster) =>
      walkTasks(plan, cluster, { after: position, isDescending, foundMax, looksMax: tasksAtOnce }),
    );
    found.push(...(await passing(shell, plan, walked.found)));
    if (found.length > most) return { tasks: found.slice(0, most), reached: found[most - 1] };
    if (walked.reached === undefined) return { tasks: found, reached: undefined };
    position = walked.reached;
    looks += walked.looks;
    rows += needsRows(plan) ? walked.found.length : 0;
    if (looks >= tasksMax || rows >= rowsMax) return { tasks: found, reached: position };
    await breath();
  }
}

/** Those that pass by their rows. Definitions first: they lie side by side. */
export async function passing(
  shell: ControllerShell,
  plan: TaskPlan,
  tasks: readonly TaskId[],
): Promise<readonly TaskId[]> {
  let selected = tasks;
  if (plan.byDefinition.length > 0) {
    const passed: TaskId[] = [];
    for (let from = 0; from < tasks.length; from += queryLimits.definitionsAtOnce) {
      const definitions = await shell.store.definitions(tasks.slice(from, from + queryLimits.definitionsAtOnce));
      for (const { id: task, spec } of definitions) {
        if (plan.byDefinition.every((test) => test(spec))) passed.push(task);
      }
    }
    selected = passed;
  }
  if (plan.byAttempt.length === 0 || selected.length === 0) return selected;
  const last = await lastAttempts(shell, selected);
  return shell.read((cluster) => selected.filter((_, at) => plan.byAttempt.every((test) => test(last[at], cluster))));
}

/** The stored row of each task's last attempt. */
export async function lastAttempts(
  shell: ControllerShell,
  tasks: readonly TaskId[],
): Promise<(AttemptRow | undefined)[]> {
  const none = attemptId(0);
  const ids = await shell.read((cluster) => tasks.map((task): AttemptId => cluster.tasks.lastAttempt(task) ?? none));
  return shell.store.attempts(ids);
}
