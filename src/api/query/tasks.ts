/** A page of tasks. */
import type { ControllerShell } from '../../controller/shell.ts';
import { queryLimits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import { type CountView, type TaskList, TaskView } from '../../protocol/views.ts';
import { renderTask } from '../render.ts';
import { breath } from './breath.ts';
import { type ListQuery, pageOf } from './list-query.ts';
import { type Projection, projectionOf } from './projection.ts';
import { countAtHand, needsRows, passesInMemory, planTasks, type TaskPlan } from './task-plan.ts';
import { lastAttempts, type SelectedTask, selectTasks } from './task-selection.ts';
import { walkTasks } from './task-walk.ts';

const names = Object.keys(TaskView.properties) as (keyof TaskView)[];

export async function taskPage(shell: ControllerShell, filter: Filter, query: ListQuery): Promise<TaskList> {
  const page = pageOf('tasks', query, ['id', '-id']);
  const projection = projectionOf<TaskView>(query.fields, names);
  const plan = planTasks(filter);
  const { after, isDescending, limit: most } = page;
  const { tasks, reached } = await selectTasks(shell, plan, { after, isDescending, most });
  const isWhole = after === undefined && reached === undefined;
  return {
    tasks: await renderAll(shell, plan, tasks, projection),
    ...page.next(reached),
    ...(query.count
      ? { count: isWhole ? { matched: tasks.length, isExact: true } : await countTasks(shell, plan) }
      : {}),
  };
}

/** One that has meanwhile left the states asked for is left out: a page has nothing that its filter excludes. */
async function renderAll(
  shell: ControllerShell,
  plan: TaskPlan,
  selected: readonly SelectedTask[],
  projection: Projection<TaskView>,
): Promise<TaskView[]> {
  const ids = selected.map(({ task }) => task);
  const hasDefinitions = plan.byDefinition.length > 0;
  const isDefined = projection.has('name', 'command', 'requestedResources', 'expectedDurationMs', 'tags');
  const definitions = isDefined && !hasDefinitions ? await shell.store.definitions(ids) : undefined;
  const last = projection.has('outcome') ? await lastAttempts(shell, ids) : undefined;
  return shell.read((cluster) =>
    selected.flatMap(({ task, definition }, at) => {
      if (!passesInMemory(plan, cluster, task)) return [];
      const defined = definition ?? definitions?.[at] ?? { spec: {} };
      return [projection.of(renderTask(cluster, task, defined, last?.[at]))];
    }),
  );
}

/** Exact where counts are kept, or where all could be looked at; else how many there are at least. */
async function countTasks(shell: ControllerShell, plan: TaskPlan): Promise<CountView> {
  const atHand = await shell.read((cluster) => countAtHand(plan, cluster));
  if (atHand !== undefined) return { matched: atHand, isExact: true };
  if (needsRows(plan)) {
    const { tasks, reached } = await selectTasks(shell, plan, {
      after: undefined,
      isDescending: false,
      most: queryLimits.rowsMax,
    });
    return { matched: tasks.length, isExact: reached === undefined };
  }
  let [matched, looks, after] = [0, 0, 0];
  for (; looks < queryLimits.countedTasksMax; await breath()) {
    const range = { after, isDescending: false, foundMax: Number.POSITIVE_INFINITY, looksMax: queryLimits.tasksAtOnce };
    const walked = await shell.read((cluster) => walkTasks(plan, cluster, range));
    matched += walked.found.length;
    looks += walked.looks;
    if (walked.reached === undefined) return { matched, isExact: true };
    after = walked.reached;
  }
  return { matched, isExact: false };
}
