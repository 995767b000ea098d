/**
 * What has to be acted on next: the tasks and workflows that settling (settle.ts) goes through, so that it need not look
 * for them among all.
 *
 * Owns: the lists, and who waits for which time. Does not own: tasks that are ready to be launched (scheduler/candidates.ts).
 * 1. A waiting task that could be queued is in `releasable`, one that can never be is in `doomed`, a queued join is in
 *    `joins`, a triaging or adjusting task in the list of that name: entries may be stale, never missing.
 */
import type { TaskId, WorkflowId } from '../model/ids.ts';
import { Heap } from './columns.ts';
import type { Graph } from './graph.ts';
import type { Candidates } from './scheduler/candidates.ts';
import type { TaskColumns } from './task/columns.ts';
import { isDoomed } from './task/waiting.ts';

/** What of a cluster tells where a task belongs. */
interface Filed {
  readonly tasks: TaskColumns;
  readonly graph: Graph;
  readonly candidates: Candidates;
}

export class WorkLists {
  readonly releasable: TaskId[] = [];
  readonly doomed: TaskId[] = [];
  readonly joins: TaskId[] = [];
  readonly triaging: TaskId[] = [];
  readonly adjusting: TaskId[] = [];
  /** Queued for later: by the time from which they may be launched. */
  readonly delayed = new Heap();
  /** Tasks that wait or are queued and have a latest start, by it. */
  readonly deadlines = new Heap();
  /** Workflows of which something changed: they may have to finish, fail fast, or go on. */
  readonly attention = new Set<WorkflowId>();
  readonly #cluster: Filed;

  constructor(cluster: Filed) {
    this.#cluster = cluster;
  }

  /** Puts a task on the list of whoever has to act on it next. */
  file(task: TaskId): void {
    const { tasks, candidates } = this.#cluster;
    switch (tasks.state(task)) {
      case 'waiting':
        this.#fileDeadline(task);
        if (tasks.pending(task) > 0) {
          if (isDoomed(this.#cluster, task)) this.doomed.push(task);
        } else if (!tasks.isHeld(task)) this.releasable.push(task);
        return;
      case 'queued':
        this.#fileDeadline(task);
        if (tasks.isHeld(task)) return;
        if (tasks.kind(task) !== 'command') this.joins.push(task);
        else if (tasks.notBefore(task) > 0) this.delayed.push(tasks.notBefore(task), task);
        else candidates.makeReady(task);
        return;
      case 'triaging':
        this.triaging.push(task);
        return;
      case 'adjusting':
        this.adjusting.push(task);
        return;
      default:
        return;
    }
  }

  /** Each time that it could be late: what was taken off the heap for an earlier try is over. */
  #fileDeadline(task: TaskId): void {
    const until = this.#cluster.tasks.until(task);
    if (until < Number.POSITIVE_INFINITY) this.deadlines.push(until, task);
  }
}
