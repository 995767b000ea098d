/** How a definer writes a workflow: register, extend with tasks and edges, close. */
import { DroverError } from '../../model/errors.ts';
import { printWorkflow, type TaskId, taskId, type WorkflowId, workflowId } from '../../model/ids.ts';
import { workflowTasksMax } from '../../model/limits.ts';
import type { EdgeKind } from '../../model/states.ts';
import type { TaskSeed, WorkflowRules } from '../change.ts';
import type { Turn } from '../turn.ts';

/** Edges by the tasks' indices within the workflow, both ends included; one side is a single task. */
export interface IndexedEdges {
  readonly parents: readonly [number, number];
  readonly children: readonly [number, number];
  readonly after: EdgeKind;
}

/** Edges from a task that is there already, whatever its workflow, to new ones. */
export interface OutsideEdges {
  readonly parent: TaskId;
  readonly children: readonly [number, number];
  readonly after: EdgeKind;
}

export interface Extension {
  readonly seeds: readonly TaskSeed[];
  readonly edges: readonly IndexedEdges[];
  readonly outside?: readonly OutsideEdges[];
}

export function registerWorkflow(turn: Turn, rules: WorkflowRules): WorkflowId {
  const workflow = workflowId(turn.cluster.workflows.size + 1);
  turn.emit({ type: 'workflow-registered', workflow, rules });
  // An open workflow's tasks go as they come; another's when it is closed.
  if (rules.open) turn.emit({ type: 'workflow-moved', workflow, to: 'queued' });
  return workflow;
}

/** Refuses what can't be added to a workflow that has so many tasks. */
export function checkExtension(
  name: string,
  size: number,
  added: number,
  edges: readonly IndexedEdges[],
  outside: readonly OutsideEdges[] = [],
): void {
  const last = size + added;
  if (last > workflowTasksMax)
    throw new DroverError('too-large', `${name} would have more than ${workflowTasksMax} tasks`);
  for (const edge of edges) checkEdges(edge, size + 1, last);
  for (const { children } of outside) checkChildren(children, size + 1, last);
}

/** Returns the first new task's id and index. */
export function extendWorkflow(
  turn: Turn,
  workflow: WorkflowId,
  { seeds, edges, outside = [] }: Extension,
): { first: number; firstIndex: number } {
  turn.mustWorkflow(workflow, { type: 'extend' }, 'definer');
  const record = turn.cluster.workflow(workflow);
  const first = taskId(turn.cluster.tasks.size + 1);
  const firstIndex = record.size + 1;
  checkExtension(printWorkflow(workflow), record.size, seeds.length, edges, outside);
  turn.emit({ type: 'tasks-added', workflow, first, firstIndex, seeds });
  for (const { parents, children, after } of edges) {
    for (const from of record.ranges(...parents)) {
      for (const to of record.ranges(...children)) {
        turn.emit({ type: 'edges-added', edges: { parents: from, children: to, after } });
      }
    }
  }
  for (const { parent, children, after } of outside) {
    for (const to of record.ranges(...children)) {
      turn.emit({ type: 'edges-added', edges: { parents: { from: parent, to: parent }, children: to, after } });
    }
  }
  if (record.state !== 'registering') turn.emit({ type: 'tasks-activated', workflow, fromIndex: firstIndex });
  return { first, firstIndex };
}

/** An edge leads from an earlier to a later, new task: so there can be no cycle, and no started task gets one. */
function checkEdges({ parents, children }: IndexedEdges, firstNew: number, last: number): void {
  const [parentFrom, parentTo] = parents;
  const [childFrom, childTo] = children;
  const ordered = 1 <= parentFrom && parentFrom <= parentTo && parentTo < childFrom && childFrom <= childTo;
  const single = parentFrom === parentTo || childFrom === childTo;
  if (ordered && single && childFrom >= firstNew && childTo <= last) return;
  throw new DroverError(
    'bad-input',
    `edge ${parentFrom}-${parentTo} → ${childFrom}-${childTo}: parents come before children, one side is a single task, and children are new`,
  );
}

function checkChildren([from, to]: readonly [number, number], firstNew: number, last: number): void {
  if (firstNew <= from && from <= to && to <= last) return;
  throw new DroverError('bad-input', `edge from outside → ${from}-${to}: children are new`);
}

export function closeWorkflow(turn: Turn, workflow: WorkflowId): void {
  const wasRegistering = turn.cluster.workflow(workflow).state === 'registering';
  turn.mustWorkflow(workflow, { type: 'close' }, 'definer');
  if (wasRegistering) turn.emit({ type: 'tasks-activated', workflow, fromIndex: 1 });
}

export function abortWorkflow(turn: Turn, workflow: WorkflowId): void {
  const decision = turn.mustWorkflow(workflow, { type: 'abort' }, 'definer');
  if (decision.kind === 'accept') turn.emit({ type: 'tasks-aborted', workflow });
}

export function cancelWorkflow(turn: Turn, workflow: WorkflowId): void {
  const wasRegistering = turn.cluster.workflow(workflow).state === 'registering';
  turn.mustWorkflow(workflow, { type: 'cancel' }, 'definer');
  if (wasRegistering) turn.emit({ type: 'tasks-aborted', workflow });
}
