/**
 * Who comes into question for the next launches: workers that may have room, and workflows that may have tasks for it.
 *
 * Owns: which workers are looked at. Does not own: the lanes, in which workflows have their turns, and the ready tasks.
 * 1. A worker with a part of a slot free is in `vacant`, one that may get work ahead in `eager`, a workflow with something to
 *    launch in the lanes of its needs (lanes.ts): entries may be stale, never missing.
 * 2. A worker over HTTP is in neither: it asks by itself.
 */
import type { TaskId, WorkflowId } from '../../model/ids.ts';
import type { Graph } from '../graph.ts';
import type { Limits } from '../resources/limits.ts';
import type { TaskColumns } from '../task/columns.ts';
import type { WorkerRecord } from '../worker.ts';
import { levelOf, priorityOf } from '../workflow/ready-tasks.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import type { Lanes } from './lanes.ts';
import { hasRoom, prefetchOf } from './placement.ts';

/** What of a cluster tells who they are. */
interface Sources {
  readonly tasks: TaskColumns;
  readonly graph: Graph;
  readonly limits: Limits;
  readonly lanes: Lanes;
  workflow(id: WorkflowId): WorkflowRecord;
}

export class Candidates {
  /** For the tasks of their free slots, and for what is sent ahead of these. */
  readonly vacant = new Set<WorkerRecord>();
  readonly eager = new Set<WorkerRecord>();
  readonly #cluster: Sources;

  constructor(cluster: Sources) {
    this.#cluster = cluster;
  }

  /** A worker may have room that it had not: it is healthy again, or back, or an attempt of it has ended. */
  noteRoom(worker: WorkerRecord): void {
    if (worker.kind === 'http') return;
    const { now, ahead } = this.#cluster.lanes;
    if (worker.load.cpus < worker.room.cpus) this.vacant.add(worker);
    this.eager.add(worker);
    if (now.stuck.size > 0) now.openIf((lane) => hasRoom(worker, lane, 0, 0));
    if (ahead.stuck.size > 0) this.#openAhead(worker);
  }

  /** It is looked at no more, until it may have room again. */
  remove(worker: WorkerRecord): void {
    this.vacant.delete(worker);
    this.eager.delete(worker);
  }

  /** A task is queued, and its time has come. */
  makeReady(task: TaskId): void {
    const { tasks, graph, lanes } = this.#cluster;
    const workflow = this.#cluster.workflow(tasks.workflow(task));
    const need = tasks.need(task);
    const priority = tasks.priority(task);
    workflow.ready.push(need, levelOf(priority, graph.continuations(task)), task);
    if (workflow.launches) lanes.add(need, priority, workflow);
  }

  /** A workflow may have something to launch that it had not, or that was refused. */
  noteSource(workflow: WorkflowRecord): void {
    if (!workflow.launches) return;
    for (const queue of workflow.ready.queues()) {
      if (!queue.isEmpty) this.#cluster.lanes.add(queue.need, priorityOf(queue.level), workflow);
    }
  }

  /** Who waited for a limit gets another turn. */
  noteWoken(): void {
    for (const workflow of this.#cluster.limits.takeWoken()) this.noteSource(workflow);
  }

  #openAhead(worker: WorkerRecord): void {
    const slots = prefetchOf(worker);
    this.#cluster.lanes.ahead.openIf((lane) => hasRoom(worker, lane, slots, 0));
  }
}
