/**
 * A cluster from the rows of a store: each row is set in its place by the same steps that changes take, and at the end what
 * live changes would have derived is derived.
 */
import { type TaskId, taskId, type WorkflowId } from '../model/ids.ts';
import { isHeldByWorker, type TaskState } from '../model/states.ts';
import type { AttemptRow } from './attempt/record.ts';
import type { ChangeOf, Edges, NeedChange } from './change.ts';
import { forEachPair, type Graph } from './graph.ts';
import type { TaskColumns, TaskRow } from './task/columns.ts';
import { firstState } from './task/table.ts';
import { countPending } from './task/waiting.ts';
import type { WorkLists } from './work-lists.ts';
import { WorkerRecord, type WorkerRow } from './worker.ts';
import type { WorkflowRecord, WorkflowRow } from './workflow/record.ts';

type Adjustment = Pick<NeedChange, 'task' | 'number' | 'need'>;
type Grouping = Pick<ChangeOf<'tasks-grouped'>, 'group' | 'tasks'>;

/** What of a cluster rows are set in. */
interface Loaded {
  readonly tasks: TaskColumns;
  readonly graph: Graph;
  readonly work: WorkLists;
  readonly workflows: ReadonlyMap<WorkflowId, WorkflowRecord>;
  workflow(id: WorkflowId): WorkflowRecord;
}

/** The steps that changes and rows have in common. */
export interface LoadingSteps {
  addWorkflow(row: WorkflowRow, at: number): void;
  addTasks(change: ChangeOf<'tasks-added'>): void;
  setState(task: TaskId, state: TaskState): void;
  /** Of a task whose row was set: what is counted of it, and whether it has to be written with its workflow. */
  noteRow(task: TaskId): void;
  noteEarly(task: TaskId): void;
  addAttempt(row: AttemptRow): void;
  adjust(change: Adjustment): void;
  group(change: Grouping): void;
  addWorker(worker: WorkerRecord): void;
}

export class Loading {
  readonly #cluster: Loaded;
  readonly #steps: LoadingSteps;

  constructor(cluster: Loaded, steps: LoadingSteps) {
    this.#cluster = cluster;
    this.#steps = steps;
  }

  /** A definer that was registering gets its full time again: how long the controller was away is not its fault. */
  workflow(row: WorkflowRow, at: number): void {
    this.#steps.addWorkflow(row, at);
  }

  /** After its workflow. A task without a row of its own stands where its activation put it. */
  tasks(change: ChangeOf<'tasks-added'>): void {
    this.#steps.addTasks(change);
    const { tasks } = this.#cluster;
    const { state } = this.#cluster.workflow(change.workflow);
    if (state === 'registering') return;
    for (let offset = 0; offset < change.seeds.length; offset++) {
      const task = taskId(change.first + offset);
      const first = firstState({ held: tasks.isHeld(task), pending: 0 });
      this.#steps.setState(task, state === 'aborted' ? 'aborted' : first);
    }
  }

  /** After all tasks, before their rows. */
  edges(edges: Edges): void {
    const { graph, tasks } = this.#cluster;
    forEachPair(edges, (parent, child) => {
      graph.add(parent, child, edges.after);
      if (tasks.state(child) === 'queued') this.#steps.setState(child, 'waiting');
    });
  }

  removedEdge(parent: TaskId, child: TaskId): void {
    this.#cluster.graph.remove(parent, child);
    this.#steps.noteEarly(child);
  }

  taskRow(row: TaskRow): void {
    this.#steps.setState(row.id, row.state);
    this.#cluster.tasks.load(row);
    this.#steps.noteRow(row.id);
    // All of its attempts have ended but the one that a worker may still have.
    const live = isHeldByWorker(row.state) ? 1 : 0;
    this.#cluster.workflow(this.#cluster.tasks.workflow(row.id)).attemptsEnded += row.attemptNumber - live;
  }

  attempt(row: AttemptRow): void {
    this.#steps.addAttempt(row);
  }

  /** After its task. Adjustments of a task come in their order. */
  adjustment(change: Adjustment): void {
    this.#steps.adjust(change);
  }

  /** After the adjustments of its tasks, and before their attempts. */
  grouping(change: Grouping): void {
    this.#steps.group(change);
  }

  worker(row: WorkerRow, at: number): void {
    this.#steps.addWorker(WorkerRecord.load(row, at));
  }

  /** After everything is loaded. */
  finish(): void {
    const { tasks, workflows, work } = this.#cluster;
    for (let id = 1; id <= tasks.size; id++) {
      const task = taskId(id);
      if (!tasks.has(task)) continue;
      const state = tasks.state(task);
      if (state === 'registering' || state === 'waiting') tasks.setPending(task, countPending(this.#cluster, task));
      work.file(task);
    }
    for (const id of workflows.keys()) work.attention.add(id);
  }
}
