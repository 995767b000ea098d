/** Adding and removing continuations of tasks that exist. */
import { DroverError } from '../../model/errors.ts';
import { printTask, type TaskId } from '../../model/ids.ts';
import type { EdgeKind } from '../../model/states.ts';
import type { Turn } from '../turn.ts';

export function addContinuation(turn: Turn, parent: TaskId, child: TaskId, after: EdgeKind): void {
  const { graph, tasks } = turn.cluster;
  if (graph.has(parent, child)) return;
  if (graph.reaches(child, parent)) {
    const [a, b] = [parent, child].map((task) => printTask(tasks.workflow(task), tasks.index(task)));
    throw new DroverError('dependency-cycle', `${b} after ${a} would close a cycle`);
  }
  turn.mustTask(child, { type: 'acquire' }, 'definer');
  const single = (task: TaskId) => ({ from: task, to: task });
  turn.emit({ type: 'edges-added', edges: { parents: single(parent), children: single(child), after } });
}

export function removeContinuation(turn: Turn, parent: TaskId, child: TaskId): void {
  const { graph, tasks } = turn.cluster;
  if (!graph.has(parent, child)) {
    const [a, b] = [parent, child].map((task) => printTask(tasks.workflow(task), tasks.index(task)));
    throw new DroverError('edge-unknown', `${b} does not wait for ${a}`);
  }
  turn.emit({ type: 'edge-removed', parent, child });
}
