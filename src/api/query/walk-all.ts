/** Over all tasks that a plan lets through, in pieces, with others between them. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import type { TaskId } from '../../model/ids.ts';
import { queryLimits } from '../../model/limits.ts';
import { breath } from './breath.ts';
import type { TaskPlan } from './task-plan.ts';
import { walkTasks } from './task-walk.ts';

export async function walkAll(
  shell: ControllerShell,
  plan: TaskPlan,
  take: (cluster: Cluster, found: readonly TaskId[]) => void,
): Promise<void> {
  for (let after: number | undefined; ; await breath()) {
    const reached = await shell.read((cluster) => {
      const walk = {
        after,
        isDescending: false,
        foundMax: Number.POSITIVE_INFINITY,
        looksMax: queryLimits.tasksAtOnce,
      };
      const walked = walkTasks(plan, cluster, walk);
      take(cluster, walked.found);
      return walked.reached;
    });
    if (reached === undefined) return;
    after = reached;
  }
}
