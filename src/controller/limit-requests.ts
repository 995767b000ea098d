/** Limits as clients set them: of the cluster, of a workflow, and which tasks a limit on a tag concerns. */
import type { Range } from '../core/change.ts';
import type { Cluster } from '../core/cluster.ts';
import type { Turn } from '../core/turn.ts';
import { type Concurrency, tagGroup } from '../model/concurrency.ts';
import { DroverError } from '../model/errors.ts';
import { printWorkflow, type TaskId, type WorkflowId } from '../model/ids.ts';
import { clusterLimitsMax, concurrencyLimitsMax } from '../model/limits.ts';
import type { Need } from '../model/need.ts';

/** What is not named stays; null lifts a limit. */
export interface ConcurrencyPatch {
  readonly workflow?: number | null;
  readonly templates?: Readonly<Record<string, number | null>>;
  readonly tags?: Readonly<Record<string, number | null>>;
}

/** Without a maximum it is lifted. */
export function setLimit(turn: Turn, name: string, max: number | undefined): void {
  const { limits } = turn.cluster;
  if (max === undefined) {
    if (!limits.has(name)) throw new DroverError('limit-unknown', `there is no limit '${name}'`);
    turn.emit({ type: 'limit-set', name });
    return;
  }
  if (!limits.has(name) && limits.size >= clusterLimitsMax) {
    throw new DroverError('too-large', `there are ${clusterLimitsMax} limits already`, {
      hint: "lift one that nobody needs: 'drover limit NAME none'",
    });
  }
  if (limits.get(name).max !== max) turn.emit({ type: 'limit-set', name, max });
}

export function setConcurrency(turn: Turn, workflow: WorkflowId, patch: ConcurrencyPatch): void {
  const { concurrency: before = {} } = turn.cluster.workflow(workflow);
  const concurrency = patched(before, patch);
  for (const [what, limits] of Object.entries({ templates: concurrency.templates, tags: concurrency.tags })) {
    if (Object.keys(limits ?? {}).length <= concurrencyLimitsMax) continue;
    throw new DroverError(
      'too-large',
      `${printWorkflow(workflow)} would have limits on more than ${concurrencyLimitsMax} ${what}`,
    );
  }
  if (JSON.stringify(concurrency) !== JSON.stringify(before)) {
    turn.emit({ type: 'workflow-concurrency', workflow, concurrency });
  }
}

/** In one order, so that what says the same is the same. */
function patched(before: Concurrency, patch: ConcurrencyPatch): Concurrency {
  const workflow = patch.workflow === undefined ? before.workflow : (patch.workflow ?? undefined);
  const [templates, tags] = [merged(before.templates, patch.templates), merged(before.tags, patch.tags)];
  return {
    ...(workflow === undefined ? {} : { workflow }),
    ...(templates === undefined ? {} : { templates }),
    ...(tags === undefined ? {} : { tags }),
  };
}

type Limits = Readonly<Record<string, number>>;

function merged(before: Limits = {}, patch: Readonly<Record<string, number | null>> = {}): Limits | undefined {
  const limits = Object.entries({ ...before, ...patch }).filter(
    (entry): entry is [string, number] => entry[1] !== null,
  );
  return limits.length === 0 ? undefined : Object.fromEntries(limits.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** These have a tag that got a limit after they were added. Returns how many are new to its group. */
export function groupTasks(turn: Turn, tag: string, tasks: readonly TaskId[]): number {
  const group = tagGroup(tag);
  const added = tasks.filter((task) => !turn.cluster.needOf(task).groups?.includes(group));
  if (added.length > 0) turn.emit({ type: 'tasks-grouped', group, tasks: rangesOf(added) });
  return added.length;
}

function rangesOf(tasks: readonly TaskId[]): Range[] {
  const ranges: { from: TaskId; to: TaskId }[] = [];
  for (const task of tasks) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to + 1 === task) last.to = task;
    else ranges.push({ from: task, to: task });
  }
  return ranges;
}

/** What a definer should know of limits that tasks with these needs name. */
export function limitWarnings({ limits }: Cluster, needs: Iterable<Need | undefined>): string[] {
  const most = new Map<string, number>();
  for (const need of new Set(needs)) {
    for (const [name, amount] of Object.entries(need?.limits ?? {})) {
      most.set(name, Math.max(amount, most.get(name) ?? 0));
    }
  }
  return [...most].flatMap(([name, amount]) => {
    const { max } = limits.get(name);
    if (max === undefined) return [`nobody has set the limit '${name}': it holds nobody back until an admin sets it`];
    return amount <= max
      ? []
      : [`a task asks for ${amount} of '${name}', of which there are ${max}: it waits until there are more`];
  });
}
