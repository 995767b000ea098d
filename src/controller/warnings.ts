/** What whoever submits tasks should know of them, although they are taken: no worker that is there could run them. */
import type { TaskSeed } from '../core/change.ts';
import type { Cluster } from '../core/cluster.ts';
import { couldHold, hasWorkers } from '../core/resources/queues.ts';
import { printTask, type WorkflowId } from '../model/ids.ts';
import { warnedNeedsMax } from '../model/limits.ts';
import { type Need, plainNeed } from '../model/need.ts';

/** One for each need, at its first task. As long as there is no worker at all, nobody knows. */
export function warningsOf(
  cluster: Cluster,
  workflow: WorkflowId,
  firstIndex: number,
  seeds: readonly TaskSeed[],
  now: number,
): string[] {
  if (!hasWorkers(cluster)) return [];
  const { rules } = cluster.workflow(workflow);
  const warnings: string[] = [];
  const seen = new Set<number>();
  let last: Need | undefined;
  for (const [offset, { kind, need = rules.need ?? plainNeed }] of seeds.entries()) {
    if (need === last || kind !== 'command') continue;
    last = need;
    const number = cluster.needs.number(need);
    if (seen.has(number)) continue;
    seen.add(number);
    const holding = couldHold(cluster, need, now);
    if (!holding.ok) warnings.push(`${printTask(workflow, firstIndex + offset)} ${holding.lacks}`);
    if (seen.size === warnedNeedsMax) break;
  }
  return warnings;
}
