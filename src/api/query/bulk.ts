/**
 * The same done to all tasks that a filter lets through, in turns of bounded size: others have theirs between them, and
 * what was done stays done, whatever becomes of the rest. It goes once over the tasks, in the order of their ids, so that
 * none is met twice however it has changed.
 */
import type { TasksSteered } from '../../controller/messages.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import { foreseeTask, type Steering } from '../../core/task/steering.ts';
import type { TaskId } from '../../model/ids.ts';
import { bulkLimits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { BulkResult } from '../../protocol/views/tasks.ts';
import { breath } from './breath.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { planFor } from './planning.ts';
import type { TaskPlan } from './task-plan.ts';
import { selectTasks } from './task-selection.ts';

const order = { list: 'bulk', sort: 'id' } as const;

export interface BulkOptions {
  readonly isDryRun: boolean;
  readonly cursor: string | undefined;
}

export async function steerMatching(
  shell: ControllerShell,
  filter: Filter,
  steering: Steering,
  { isDryRun, cursor }: BulkOptions,
): Promise<BulkResult> {
  const plan = await planFor(shell, filter);
  const until = shell.now() + bulkLimits.msMax;
  const result: BulkResult = { matched: 0, changed: 0, unchanged: 0, refused: {} };
  let after = cursor === undefined ? undefined : decodeCursor(order, cursor);
  do {
    const { tasks, reached } = await selectTasks(shell, plan, {
      after,
      isDescending: false,
      most: bulkLimits.tasksAtOnce,
    });
    result.matched += tasks.length;
    if (isDryRun) add(result, await foresee(shell, tasks, steering));
    else await steer(shell, plan, tasks, steering, result);
    if (reached === undefined) return result;
    after = reached;
    await breath();
  } while (result.matched < bulkLimits.tasksMax && shell.now() < until);
  return { ...result, next: encodeCursor(order, after) };
}

/** A turn may end before all of them had theirs, where one task moves many others. */
async function steer(
  shell: ControllerShell,
  plan: TaskPlan,
  tasks: readonly TaskId[],
  steering: Steering,
  result: BulkResult,
): Promise<void> {
  for (let from = 0; from < tasks.length; ) {
    const request = { type: 'steer-tasks', tasks: tasks.slice(from), steering, mask: plan.mask } as const;
    const reply = await shell.request(request);
    if (reply.type !== 'tasks-steered') return;
    add(result, reply);
    from += reply.taken;
  }
}

function foresee(shell: ControllerShell, tasks: readonly TaskId[], steering: Steering): Promise<TasksSteered> {
  return shell.read((cluster) => {
    const found = { taken: tasks.length, changed: 0, unchanged: 0, refused: {} as Record<string, number> };
    for (const task of tasks) {
      const { kind } = foreseeTask(cluster, task, steering);
      const state = cluster.tasks.state(task);
      if (kind === 'accept') found.changed++;
      else if (kind === 'ignore') found.unchanged++;
      else found.refused[state] = (found.refused[state] ?? 0) + 1;
    }
    return found;
  });
}

function add(result: BulkResult, { changed, unchanged, refused }: Omit<TasksSteered, 'taken'>): void {
  result.changed += changed;
  result.unchanged += unchanged;
  for (const [state, count] of Object.entries(refused)) result.refused[state] = (result.refused[state] ?? 0) + count;
}
