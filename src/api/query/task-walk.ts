/** Goes over the tasks that can match a plan, in the order of their ids, and passes over blocks that have none. */
import type { Range } from '../../core/change.ts';
import type { Cluster } from '../../core/cluster.ts';
import { endOfBlockBefore, nextBlock } from '../../core/task/state-blocks.ts';
import { type TaskId, taskId } from '../../model/ids.ts';
import { mayBeInBlockOf, passesInMemory, rangesOf, type TaskPlan } from './task-plan.ts';

export interface Walk {
  /** Only tasks beyond this one, in the direction of the walk. */
  readonly after: number | undefined;
  readonly isDescending: boolean;
  /** Ends when so many are found, or so many were looked at. */
  readonly foundMax: number;
  readonly looksMax: number;
}

export interface Walked {
  readonly found: readonly TaskId[];
  readonly looks: number;
  /** The last task that was looked at; undefined when there are no more. */
  readonly reached: number | undefined;
}

export function walkTasks(plan: TaskPlan, cluster: Cluster, walk: Walk): Walked {
  const ranges = rangesOf(plan, cluster);
  if (walk.isDescending) ranges.reverse();
  const found: TaskId[] = [];
  let looks = 0;
  for (const range of ranges) {
    const walked = walkRange(plan, cluster, range, walk, found, looks);
    looks = walked.looks;
    if (walked.reached !== undefined) return { found, looks, reached: walked.reached };
  }
  return { found, looks, reached: undefined };
}

function walkRange(
  plan: TaskPlan,
  cluster: Cluster,
  { from, to }: Range,
  { after, isDescending, foundMax, looksMax }: Walk,
  found: TaskId[],
  looksBefore: number,
): Omit<Walked, 'found'> {
  const { tasks } = cluster;
  const step = isDescending ? -1 : 1;
  const end = isDescending ? from - 1 : to + 1;
  let id: number = isDescending ? Math.min(to, (after ?? to + 1) - 1) : Math.max(from, (after ?? 0) + 1);
  let looks = looksBefore;
  /** Where the next block begins, in the direction of the walk. */
  let border = id;
  while ((end - id) * step > 0) {
    if (found.length >= foundMax || looks >= looksMax) return { looks, reached: id - step };
    looks++;
    const task = taskId(id);
    if ((id - border) * step >= 0) {
      border = isDescending ? endOfBlockBefore(id) : nextBlock(id);
      if (!mayBeInBlockOf(plan, cluster, task)) {
        id = border;
        continue;
      }
    }
    if (tasks.has(task) && passesInMemory(plan, cluster, task)) found.push(task);
    id += step;
  }
  return { looks, reached: undefined };
}
