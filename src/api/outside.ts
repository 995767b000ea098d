/** Tasks of other workflows that new ones wait for: from what people call them to what the controller does. */
import type { ControllerShell } from '../controller/shell.ts';
import type { OutsideEdges } from '../core/workflow/registration.ts';
import { DroverError } from '../model/errors.ts';
import { parseReference, printTask, printWorkflow, type TaskId, taskId, type WorkflowId } from '../model/ids.ts';
import type { OutsideEdgeSpec, TaskBatch } from '../protocol/spec.ts';

/** Tasks that are looked at in one go: others are served between two of them. */
const tasksAtOnce = 2_000;

/** Refuses what is not there. */
export async function outsideOf(shell: ControllerShell, { outside = [] }: TaskBatch): Promise<OutsideEdges[]> {
  const found = new Map<string, TaskId>();
  const edges: OutsideEdges[] = [];
  for (const { workflow, task, children, after } of outside) {
    const key = JSON.stringify([workflow, task]);
    const parent = found.get(key) ?? (await taskOf(shell, workflow, task));
    found.set(key, parent);
    edges.push({ parent, children, after });
  }
  return edges;
}

async function taskOf(shell: ControllerShell, name: string, task: OutsideEdgeSpec['task']): Promise<TaskId> {
  const workflow = await workflowOf(shell, name);
  if (typeof task === 'number') return shell.read((cluster) => cluster.findTask(workflow, task));
  const named = await namedTasks(shell, workflow, task);
  const [first] = named;
  if (first !== undefined && named.length === 1) return first.id;
  const what =
    first === undefined
      ? 'no task'
      : `more than one task, ${named.map(({ index }) => printTask(workflow, index)).join(' and ')},`;
  throw new DroverError('task-unknown', `${printWorkflow(workflow)} has ${what} of the name '${task}'`);
}

/** By its id; or the newest of a name, unless it was given up. */
async function workflowOf(shell: ControllerShell, name: string): Promise<WorkflowId> {
  const reference = parseReference(name);
  if (reference !== undefined && reference.index === undefined) {
    return shell.read((cluster) => cluster.workflow(reference.workflow).id);
  }
  const named = await shell.store.workflowsNamed(name);
  const found = await shell.read((cluster) => named.find((id) => cluster.workflow(id).state !== 'aborted'));
  if (found !== undefined) return found;
  throw new DroverError('workflow-unknown', `there is no workflow '${name}' to wait for`);
}

/** The first two: more are one too many. */
async function namedTasks(shell: ControllerShell, workflow: WorkflowId, name: string) {
  const ranges = await shell.read((cluster) => cluster.workflow(workflow).ranges(1, cluster.workflow(workflow).size));
  const named: { readonly id: TaskId; readonly index: number }[] = [];
  for (const { from, to } of ranges) {
    for (let first: number = from; first <= to && named.length < 2; first += tasksAtOnce) {
      const ids = Array.from({ length: Math.min(tasksAtOnce, to - first + 1) }, (_, offset) => taskId(first + offset));
      const definitions = await shell.store.definitions(ids);
      named.push(...definitions.filter(({ spec }) => spec.name === name));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return named.slice(0, 2);
}
