/**
 * The tasks that match a plan, found piece by piece. A selection looks at so much and no more (`queryLimits`): where
 * that is not enough it ends early, and says where to go on.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import { type AttemptId, attemptId, type TaskId } from '../../model/ids.ts';
import { queryLimits } from '../../model/limits.ts';
import type { TaskDefinition } from '../../store/store.ts';
import { breath } from './breath.ts';
import { needsRows, type TaskPlan } from './task-plan.ts';
import { walkTasks } from './task-walk.ts';

export interface SelectedTask {
  readonly task: TaskId;
  /** As far as the filter needed them. */
  readonly definition?: TaskDefinition;
  readonly last?: AttemptRow | undefined;
}

export interface Selection {
  readonly tasks: readonly SelectedTask[];
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
  const found: SelectedTask[] = [];
  // One more than was asked for tells whether there are more.
  const wanted = most + 1;
  let [position, looks, rows] = [after, 0, 0];
  for (;;) {
    const foundMax = needsRows(plan) ? rowsAtOnce : wanted - found.length;
    const walked = await shell.read((cluster) =>
      walkTasks(plan, cluster, { after: position, isDescending, foundMax, looksMax: tasksAtOnce }),
    );
    found.push(...(await passing(shell, plan, walked.found)));
    if (found.length > most) return { tasks: found.slice(0, most), reached: found[most - 1]?.task };
    if (walked.reached === undefined) return { tasks: found, reached: undefined };
    position = walked.reached;
    looks += walked.looks;
    rows += needsRows(plan) ? walked.found.length : 0;
    if (looks >= tasksMax || rows >= rowsMax) return { tasks: found, reached: position };
    await breath();
  }
}

/** Those that pass by their rows. Definitions first: they lie side by side. */
async function passing(shell: ControllerShell, plan: TaskPlan, tasks: readonly TaskId[]): Promise<SelectedTask[]> {
  let selected: SelectedTask[] = tasks.map((task) => ({ task }));
  if (plan.byDefinition.length > 0) {
    selected = (await shell.store.definitions(tasks))
      .filter(({ spec }) => plan.byDefinition.every((test) => test(spec)))
      .map((definition) => ({ task: definition.id, definition }));
  }
  if (plan.byAttempt.length === 0 || selected.length === 0) return selected;
  const last = await lastAttempts(
    shell,
    selected.map(({ task }) => task),
  );
  const withLast = selected.map((one, at) => ({ ...one, last: last[at] }));
  return shell.read((cluster) => withLast.filter((one) => plan.byAttempt.every((test) => test(one.last, cluster))));
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
