/** Adding and removing continuations of tasks that exist: all that one request names, or none. */
import { DroverError } from '../../model/errors.ts';
import { printTask, type TaskId } from '../../model/ids.ts';
import type { EdgeKind } from '../../model/states.ts';
import type { Turn } from '../turn.ts';

const nameOf = ({ cluster: { tasks } }: Turn, task: TaskId): string =>
  printTask(tasks.workflow(task), tasks.index(task));

/** An edge that is there already stays as it is. */
export function addContinuations(turn: Turn, parent: TaskId, children: readonly TaskId[], after: EdgeKind): void {
  const added = new Set(children.filter((child) => !turn.cluster.graph.has(parent, child)));
  refuseCycle(turn, parent, added);
  // It changes nothing by itself, so it is asked of all before anything is done.
  for (const child of added) turn.mustTask(child, { type: 'acquire' }, 'definer');
  const single = (task: TaskId) => ({ from: task, to: task });
  for (const child of added) {
    turn.emit({ type: 'edges-added', edges: { parents: single(parent), children: single(child), after } });
  }
}

/** One way back from the parent finds whichever of the children comes before it. */
function refuseCycle(turn: Turn, parent: TaskId, children: ReadonlySet<TaskId>): void {
  const path = turn.cluster.graph.pathTo(parent, (task) => children.has(task));
  const [first] = path ?? [];
  if (path === undefined || first === undefined) return;
  const cycle = [...path, first].map((task) => nameOf(turn, task));
  const [child, name] = [nameOf(turn, first), nameOf(turn, parent)];
  throw new DroverError('dependency-cycle', `${child} after ${name} would close a cycle: ${cycle.join(' → ')}`, {
    details: { cycle },
  });
}

export function removeContinuations(turn: Turn, parent: TaskId, children: readonly TaskId[]): void {
  const { graph } = turn.cluster;
  const unknown = children.find((child) => !graph.has(parent, child));
  if (unknown !== undefined) {
    throw new DroverError('edge-unknown', `${nameOf(turn, unknown)} does not wait for ${nameOf(turn, parent)}`);
  }
  for (const child of new Set(children)) turn.emit({ type: 'edge-removed', parent, child });
}
