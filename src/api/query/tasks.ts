/** A page of tasks. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { TaskId } from '../../model/ids.ts';
import { pageCharactersMax, queryLimits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { CountView } from '../../protocol/views/pages.ts';
import { type Shortfall, type TaskList, TaskView } from '../../protocol/views/tasks.ts';
import { optional, renderTask } from '../render.ts';
import { activeResources, shortfallsOf, shortOf } from '../task-resources.ts';
import { breath } from './breath.ts';
import { type ListQuery, pageOf } from './list-query.ts';
import { planFor } from './planning.ts';
import { type Projection, projectionOf } from './projection.ts';
import { countAtHand, needsRows, passesInMemory, type TaskPlan } from './task-plan.ts';
import { lastAttempts, selectTasks } from './task-selection.ts';
import { walkTasks } from './task-walk.ts';

const none: ReadonlyMap<TaskId, Shortfall> = new Map();
/** What the definition of a task says, and memory does not. */
const definedFields = [
  ...(['name', 'command', 'requestedResources', 'expectedDurationMs', 'tags', 'skipped'] as const),
  ...(['template', 'attributes'] as const),
];
const names = Object.keys(TaskView.properties) as (keyof TaskView)[];

export async function taskPage(shell: ControllerShell, filter: Filter, query: ListQuery): Promise<TaskList> {
  const page = pageOf('tasks', query, ['id', '-id']);
  const projection = projectionOf<TaskView>(query.fields, names);
  const plan = await planFor(shell, filter);
  const { after, isDescending, limit: most } = page;
  const { tasks, reached } = await selectTasks(shell, plan, { after, isDescending, most });
  const isWhole = after === undefined && reached === undefined;
  const { views, cutAt } = await renderAll(shell, plan, tasks, projection);
  return {
    tasks: views,
    ...page.next(cutAt ?? reached),
    ...(query.count
      ? { count: isWhole ? { matched: tasks.length, isExact: true } : await countTasks(shell, plan) }
      : {}),
  };
}

/**
 * One that has meanwhile left the states asked for is left out: a page has nothing that its filter excludes. `cutAt` is
 * the last task of a page that would have become too large.
 */
async function renderAll(
  shell: ControllerShell,
  plan: TaskPlan,
  tasks: readonly TaskId[],
  projection: Projection<TaskView>,
): Promise<{ readonly views: TaskView[]; readonly cutAt?: number | undefined }> {
  const views: TaskView[] = [];
  let characters = 0;
  for (let from = 0; from < tasks.length; from += queryLimits.definitionsAtOnce) {
    const slice = tasks.slice(from, from + queryLimits.definitionsAtOnce);
    const rendered = await renderSlice(shell, plan, slice, projection);
    views.push(...rendered);
    for (const { command } of rendered) characters += command?.length ?? 0;
    const isLast = from + slice.length >= tasks.length;
    if (characters > pageCharactersMax && !isLast) return { views, cutAt: slice.at(-1) };
  }
  return { views };
}

async function renderSlice(
  shell: ControllerShell,
  plan: TaskPlan,
  tasks: readonly TaskId[],
  projection: Projection<TaskView>,
): Promise<TaskView[]> {
  const isDefined = projection.has(...definedFields);
  const definitions = isDefined ? await shell.store.definitions(tasks) : [];
  const last = projection.has('outcome', 'shortfall') ? await lastAttempts(shell, tasks) : [];
  const shortfalls = projection.has('shortfall') ? await shortfallsOf(shell, await shortOf(shell, tasks, last)) : none;
  return shell.read((cluster) =>
    tasks.flatMap((task, at) => {
      if (!passesInMemory(plan, cluster, task)) return [];
      const view = renderTask(cluster, task, definitions[at] ?? { spec: {} }, last[at]);
      const resources = activeResources(cluster, task);
      return [projection.of({ ...view, ...resources, ...optional('shortfall', shortfalls.get(task)) })];
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
