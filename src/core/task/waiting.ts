/** What a task waits for, by the states of those that its edges come from. */
import type { TaskId } from '../../model/ids.ts';
import { edgeStatus, type Graph } from '../graph.ts';
import type { TaskColumns } from './columns.ts';

interface Waiting {
  readonly graph: Graph;
  readonly tasks: TaskColumns;
}

/** Edges into a task that are not met. */
export function countPending({ graph, tasks }: Waiting, task: TaskId): number {
  let pending = 0;
  for (let edge = graph.firstInto(task); edge !== 0; edge = graph.nextInto(edge)) {
    if (edgeStatus(graph.kindOf(edge), tasks.state(graph.parentOf(edge))) !== 'met') pending++;
  }
  return pending;
}

/** Whether an edge into a waiting task can never be met. */
export function isDoomed({ graph, tasks }: Waiting, task: TaskId): boolean {
  for (let edge = graph.firstInto(task); edge !== 0; edge = graph.nextInto(edge)) {
    if (edgeStatus(graph.kindOf(edge), tasks.state(graph.parentOf(edge))) === 'impossible') return true;
  }
  return false;
}

/** Whether a doomed task waits for nothing but failures that did not happen, or for others that are not needed for that. */
export function isUnneeded({ graph, tasks }: Waiting, task: TaskId): boolean {
  for (let edge = graph.firstInto(task); edge !== 0; edge = graph.nextInto(edge)) {
    const parent = graph.parentOf(edge);
    const state = tasks.state(parent);
    if (edgeStatus(graph.kindOf(edge), state) !== 'impossible') continue;
    if (state !== 'done' && tasks.reason(parent) !== 'unneeded') return false;
  }
  return true;
}
