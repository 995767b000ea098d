/**
 * About how many tasks are launched before one that is ready. Within its workflow it is their order; of others with the same
 * priority about as many come first, since workflows take turns. What is no longer ready may be counted, and not all need fit
 * the same workers.
 */
import type { TaskId } from '../../model/ids.ts';
import { lanesLookedAtMax, whyLimits } from '../../model/limits.ts';
import type { Cluster } from '../cluster.ts';
import { levelOf, priorityOf, type ReadyQueue } from '../workflow/ready-tasks.ts';
import type { WorkflowRecord } from '../workflow/record.ts';

export interface PlaceInLine {
  /** Of higher priority. */
  readonly higher: number;
  /** The highest priority that one of them has. */
  readonly highest: number;
  /** Of the same priority. */
  readonly before: number;
  /** There were more to look at. */
  readonly isCut: boolean;
}

export function placeInLine(cluster: Cluster, task: TaskId): PlaceInLine {
  const { tasks, graph, needs } = cluster;
  const workflow = cluster.workflow(tasks.workflow(task));
  const { queue: wanted } = cluster.needOf(task);
  const priority = tasks.priority(task);
  const level = levelOf(priority, graph.continuations(task));
  const above = levelOf(priority + 1, 0);
  let [higher, before, looks, highest] = [0, 0, 0, priority];
  const lookAbove = (queue: ReadyQueue): number => {
    const size = queue.sizeFrom(above);
    higher += size;
    if (size > 0) highest = Math.max(highest, priorityOf(queue.level));
    return size;
  };
  for (const queue of workflow.ready.queues()) {
    if (++looks > lanesLookedAtMax) break;
    if (needs.get(queue.need).queue !== wanted) continue;
    before += queue.sizeBefore(level, task, whyLimits.sourcesMax) - lookAbove(queue);
  }
  const own = before;
  const others = othersOf(cluster, workflow, wanted);
  for (const queue of others.queues) {
    before += Math.min(own, queue.sizeFrom(levelOf(priority, 0)) - lookAbove(queue));
  }
  return { higher, highest, before, isCut: others.isCut || looks > lanesLookedAtMax };
}

/** What other workflows have ready for workers of that queue, as far as may be looked. */
function othersOf(
  { lanes }: Cluster,
  own: WorkflowRecord,
  wanted: string,
): { readonly queues: readonly ReadyQueue[]; readonly isCut: boolean } {
  const queues: ReadyQueue[] = [];
  let looks = 0;
  for (const lane of lanes.all()) {
    if (++looks > whyLimits.sourcesMax) return { queues, isCut: true };
    if (lane.need.queue !== wanted) continue;
    for (const workflow of lane.turns.members()) {
      if (++looks > whyLimits.sourcesMax) return { queues, isCut: true };
      const queue = workflow === own || !workflow.launches ? undefined : workflow.ready.queue(lane.number);
      if (queue !== undefined) queues.push(queue);
    }
  }
  return { queues, isCut: false };
}
