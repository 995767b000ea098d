/**
 * Why a workflow has not ended: its tasks that have not, by their first reason, the largest group first. Of many tasks some are
 * looked at, at even distances.
 */
import { type TaskId, taskId, type WorkflowId } from '../../model/ids.ts';
import { whyLimits } from '../../model/limits.ts';
import { isEndedTask, isEndedWorkflow, taskStates, type WorkflowState } from '../../model/states.ts';
import type { Cluster } from '../cluster.ts';
import { maskOf, type TaskColumns } from '../task/columns.ts';
import { nextBlock } from '../task/state-blocks.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import { Analyst, reasonsOfWorkflow } from './analyst.ts';
import type { Outlook, Reason, TaskWhy } from './reason.ts';
import { dependsOnOthers } from './roots.ts';

export interface WorkflowWhy {
  readonly workflow: WorkflowId;
  readonly state: WorkflowState;
  /** Of the workflow itself. */
  readonly reasons: readonly Reason[];
  /** Tasks that have not ended, and how many of them were looked at. */
  readonly unended: number;
  readonly sampled: number;
  readonly groups: readonly ReasonGroup[];
  /** Of the sample, in groups beyond the limit. */
  readonly more: { readonly groups: number; readonly tasks: number } | undefined;
}

export interface ReasonGroup {
  /** Of the sample. */
  readonly count: number;
  readonly example: TaskWhy;
}

const unendedMask = maskOf(taskStates.filter((state) => !isEndedTask(state)));

export function whyWorkflow(cluster: Cluster, id: WorkflowId, outlook: Outlook): WorkflowWhy {
  const workflow = cluster.workflow(id);
  const analyst = new Analyst(cluster, outlook);
  const groups = new Map<string, { count: number; readonly first: TaskId }>();
  let sampled = 0;
  for (const task of sample(cluster, workflow)) {
    sampled++;
    const key = keyOf(cluster, analyst, task);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { count: 1, first: task });
    else known.count++;
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count || a.first - b.first);
  const rest = sorted.slice(whyLimits.groupsMax);
  return {
    ...{ workflow: id, state: workflow.state, reasons: reasonsFor(workflow), unended: workflow.unended, sampled },
    groups: sorted.slice(0, whyLimits.groupsMax).map(({ count, first }) => ({ count, example: analyst.why(first) })),
    more:
      rest.length === 0 ? undefined : { groups: rest.length, tasks: rest.reduce((sum, { count }) => sum + count, 0) },
  };
}

function reasonsFor(workflow: WorkflowRecord): Reason[] {
  const { id, state, open, unended } = workflow;
  if (isEndedWorkflow(state) && state !== 'halted') return [{ kind: 'ended', workflow: id, state }];
  const reasons = reasonsOfWorkflow(workflow);
  return open && unended === 0 ? [...reasons, { kind: 'open', workflow: id }] : reasons;
}

/** Tasks that wait for the same, as far as one may do something about it. */
function keyOf(cluster: Cluster, analyst: Analyst, task: TaskId): string {
  // None is launched, whatever it depends on.
  if (cluster.tasks.state(task) === 'registering') return 'registering';
  // To name what each of them waits for would take too long.
  if (dependsOnOthers(cluster, task)) return `dependencies ${analyst.rootKindOf(task)}`;
  const [first] = analyst.reasonsOf(task);
  if (first === undefined) return '';
  switch (first.kind) {
    case 'limit':
      return `${first.kind} ${first.name}`;
    case 'group-limit':
      return `${first.kind} ${first.group}`;
    case 'no-worker':
      return `${first.kind} ${first.need.queue}`;
    case 'no-queue':
      return `${first.kind} ${first.queue}`;
    case 'too-large':
      return `${first.kind} ${first.lacks.map(({ of }) => of).join()} ${first.need.queue}`;
    case 'no-room':
      return `${first.kind} ${first.short.map(({ of }) => of).join()}`;
    case 'settling':
      return `${first.kind} ${first.what}`;
    case 'cancelling':
      return `${first.kind} ${first.reason}`;
    default:
      return first.kind;
  }
}

/** Of those that have not ended: all if they are few, else the first of each stretch; as far as one may look. */
function* sample({ tasks }: Cluster, workflow: WorkflowRecord): Generator<TaskId> {
  const { size, unended } = workflow;
  const isAll = unended <= whyLimits.sampleMax;
  const stretch = Math.ceil(size / whyLimits.sampleMax);
  let left: number = whyLimits.passedMax;
  for (const { from, to } of workflow.ranges(1, size)) {
    for (let at: number = from; at <= to && left > 0; ) {
      const end = isAll ? to : Math.min(to, at + stretch - 1);
      const { found, looks } = firstUnended(tasks, at, end, isAll ? left : whyLimits.passedForOneMax);
      if (found !== undefined) yield found;
      left -= looks;
      at = isAll ? (found ?? end) + 1 : at + stretch;
    }
  }
}

/** Blocks without one are passed over at once. */
function firstUnended(
  tasks: TaskColumns,
  from: number,
  to: number,
  looksMax: number,
): { readonly found: TaskId | undefined; readonly looks: number } {
  let looks = 0;
  for (let at = from; at <= to && looks < looksMax; looks++) {
    if (tasks.isIn(taskId(at), unendedMask)) return { found: taskId(at), looks: looks + 1 };
    at = tasks.blocks.inBlockOf(at, unendedMask) === 0 ? nextBlock(at) : at + 1;
  }
  return { found: undefined, looks };
}
