/**
 * How many edges into a task are not met: counted along as edges come and go and as parents change their states, so that
 * nobody has to look through the edges of a task to know whether it may go.
 *
 * Owns: the count, which is a column of the tasks. Does not own: the edges, and the states of their ends.
 * 1. `pending` of a task that is registering or waiting is the number of its edges that are not met. Of others it means nothing.
 */
import { assert } from '../../model/errors.ts';
import type { TaskId } from '../../model/ids.ts';
import type { TaskState } from '../../model/states.ts';
import type { Edges } from '../change.ts';
import { edgeStatus, forEachPair, type Graph, isTelling } from '../graph.ts';
import type { WorkLists } from '../work-lists.ts';
import type { TaskColumns } from './columns.ts';
import { countPending } from './waiting.ts';

/** What of a cluster is counted, and who has to know when there is nothing left to count. */
interface Linked {
  readonly tasks: TaskColumns;
  readonly graph: Graph;
  readonly work: WorkLists;
}

export class PendingEdges {
  readonly #cluster: Linked;

  constructor(cluster: Linked) {
    this.#cluster = cluster;
  }

  add(edges: Edges): void {
    const { graph, tasks, work } = this.#cluster;
    forEachPair(edges, (parent, child) => {
      graph.add(parent, child, edges.after);
      const status = edgeStatus(edges.after, tasks.state(parent));
      if (status !== 'met') tasks.setPending(child, tasks.pending(child) + 1);
      if (status === 'impossible') work.doomed.push(child);
    });
  }

  remove(parent: TaskId, child: TaskId): void {
    const { graph, tasks, work } = this.#cluster;
    const after = graph.remove(parent, child);
    assert(after !== undefined, 'an edge that is removed is there');
    if (!this.#isCounted(child)) return;
    if (edgeStatus(after, tasks.state(parent)) !== 'met') tasks.setPending(child, tasks.pending(child) - 1);
    if (tasks.pending(child) === 0) work.file(child);
  }

  /** Of one that was not counted, and is from now on. */
  countAnew(task: TaskId): void {
    this.#cluster.tasks.setPending(task, countPending(this.#cluster, task));
  }

  /** A parent went from one state to another: counts its continuations' edges anew. */
  tellChildren(parent: TaskId, before: TaskState, after: TaskState): void {
    const { graph, tasks, work } = this.#cluster;
    const first = graph.firstFrom(parent);
    if (first === 0 || !isTelling(before, after)) return;
    for (let edge = first; edge !== 0; edge = graph.nextFrom(edge)) {
      const child = graph.childOf(edge);
      const was = edgeStatus(graph.kindOf(edge), before);
      const is = edgeStatus(graph.kindOf(edge), after);
      if (was === is || !this.#isCounted(child)) continue;
      if (is === 'met') tasks.setPending(child, tasks.pending(child) - 1);
      else if (was === 'met') tasks.setPending(child, tasks.pending(child) + 1);
      if (is === 'impossible') work.doomed.push(child);
      else if (tasks.pending(child) === 0) work.file(child);
    }
  }

  #isCounted(task: TaskId): boolean {
    const state = this.#cluster.tasks.state(task);
    return state === 'waiting' || state === 'registering';
  }
}
