/**
 * The aggregate: everything the controller decides on, and the only way to change it.
 *
 * Owns: the task columns, the graph, what tasks need, and the parts that keep the rest. Each part has a file of its own, with its
 * invariants: known-workflows.ts, known-workers.ts, known-attempts.ts, task/pending-edges.ts, and derived from these
 * work-lists.ts (what settling has to do), scheduler/candidates.ts (who may launch what) and dirty-rows.ts (what the next
 * commit has to write).
 * Does not own: commands and output of tasks, time, sockets, disks.
 *
 * 1. Only `apply` and loading (loading.ts) change the state; loading derives by the same code as applying.
 * 2. A workflow counts its tasks by their states.
 * These and those of the parts are checked by invariants.ts, as far as they can be seen between two turns.
 */
import { DroverError } from '../model/errors.ts';
import { type AttemptId, printTask, type TaskId, taskId, type WorkerId, type WorkflowId } from '../model/ids.ts';
import { type Need, plainNeed } from '../model/need.ts';
import type { TaskState } from '../model/states.ts';
import type { AttemptRecord } from './attempt/record.ts';
import type { Change, ChangeOf, NeedChange } from './change.ts';
import { Dirty, type DirtyRows } from './dirty-rows.ts';
import { Graph } from './graph.ts';
import { KnownAttempts } from './known-attempts.ts';
import { KnownWorkers } from './known-workers.ts';
import { KnownWorkflows } from './known-workflows.ts';
import { Loading } from './loading.ts';
import { Limits } from './resources/limits.ts';
import { adjustable, inGroup, Needs } from './resources/needs.ts';
import { Candidates } from './scheduler/candidates.ts';
import { Lanes } from './scheduler/lanes.ts';
import { TaskColumns } from './task/columns.ts';
import { PendingEdges } from './task/pending-edges.ts';
import { firstState } from './task/table.ts';
import type { TaskEvent, TaskView } from './task/view.ts';
import { countPending } from './task/waiting.ts';
import { WorkLists } from './work-lists.ts';
import type { WorkerRecord } from './worker.ts';
import type { WorkflowRecord } from './workflow/record.ts';

export class Cluster {
  readonly tasks = new TaskColumns();
  readonly needs = new Needs();
  readonly limits = new Limits();
  /** How often the need of a task was raised; of those only where it was. */
  readonly adjustments = new Map<TaskId, number>();
  readonly graph = new Graph();
  /** Workflows that may have something to launch, by what it needs. */
  readonly lanes = new Lanes(this.needs);
  readonly candidates = new Candidates(this);
  readonly work = new WorkLists(this);
  /** Workers on which several tasks in a row have failed: they are dropped when that is noticed to be over. */
  readonly failing = new Set<WorkerRecord>();
  /** Workers under suspicion, tasks that wait in triage for what comes of it, and on which worker not to try one. */
  readonly suspects = new Set<WorkerRecord>();
  readonly suspended = new Set<TaskId>();
  readonly avoided = new Map<TaskId, WorkerId>();

  readonly #dirty = new Dirty();
  readonly #pending = new PendingEdges(this);
  readonly #workflows = new KnownWorkflows(this, this.#dirty);
  readonly #workers = new KnownWorkers(this.candidates, this.#dirty);
  readonly #attempts = new KnownAttempts(this, this.#dirty);

  readonly workflows: ReadonlyMap<WorkflowId, WorkflowRecord> = this.#workflows.byId;
  /** Those that have not ended. */
  readonly active: ReadonlySet<WorkflowId> = this.#workflows.active;
  /** Those that their definer has not closed yet, by when it was last heard. */
  readonly registering: ReadonlySet<WorkflowId> = this.#workflows.registering;
  readonly workers: ReadonlyMap<WorkerId, WorkerRecord> = this.#workers.byId;
  /** Those that are not gone: what is done for every worker is done for these. */
  readonly liveWorkers: ReadonlyMap<WorkerId, WorkerRecord> = this.#workers.live;
  /** Live ones, and lost ones whose worker may still speak up. */
  readonly attempts: ReadonlyMap<AttemptId, AttemptRecord> = this.#attempts.byId;

  /** The highest id of an attempt that was given out. */
  get lastAttempt(): number {
    return this.#attempts.last;
  }

  workflow(id: WorkflowId): WorkflowRecord {
    return this.#workflows.get(id);
  }

  findTask(workflow: WorkflowId, index: number): TaskId {
    const task = this.workflow(workflow).task(index);
    if (task === undefined) throw new DroverError('task-unknown', `there is no task ${printTask(workflow, index)}`);
    return task;
  }

  /** What the task's table decides on. A task that has ended and may wait again gets its edges counted anew. */
  taskView(task: TaskId): TaskView {
    const { rules } = this.workflow(this.tasks.workflow(task));
    const view = this.tasks.view(task, rules, adjustable(this.needOf(task)));
    const mayWaitAgain = view.state === 'failed' || view.state === 'cancelled';
    return mayWaitAgain ? { ...view, pending: countPending(this, task) } : view;
  }

  needOf(task: TaskId): Need {
    return this.needs.get(this.tasks.need(task));
  }

  apply(change: Change, at: number): void {
    switch (change.type) {
      case 'workflow-registered':
      case 'workflow-moved':
      case 'workflow-closed':
      case 'workflow-stopping':
      case 'workflow-halt-mode':
      case 'workflow-concurrency':
        return this.#workflows.apply(change, at);
      case 'tasks-added':
        this.#addTasks(change);
        return this.#workflows.touch(change.workflow, at);
      case 'edges-added':
        return this.#pending.add(change.edges);
      case 'edge-removed':
        this.#pending.remove(change.parent, change.child);
        return this.#noteEarly(change.child);
      case 'tasks-activated':
        return this.#onTasksActivated(change);
      case 'tasks-aborted':
        return this.#onTasksAborted(change.workflow);
      case 'task-changed':
        return this.#onTaskChanged(change.task, change.event);
      case 'attempt-recorded':
        return this.#attempts.onRecorded(change, at);
      case 'attempt-started':
        return this.#attempts.onStarted(change);
      case 'attempt-ended':
        return this.#attempts.onEnded(change, at);
      case 'worker-joined':
      case 'worker-patience':
      case 'worker-resized':
      case 'worker-refitted':
      case 'worker-barred':
      case 'worker-gone':
        return this.#workers.apply(change, at);
      case 'need-adjusted':
        return this.#adjust(change);
      case 'need-refused':
        return;
      case 'tasks-grouped':
        return this.#group(change);
      case 'limit-set':
        this.limits.set(change.name, change.max);
        return this.candidates.noteWoken();
    }
  }

  /** How far an attempt is on its way; not durable, since after a restart its worker is asked. */
  noteAttempt(id: AttemptId, state: 'sent' | 'accepted' | 'unsure'): void {
    this.#attempts.note(id, state);
  }

  /** Ids up to this one may have been given out by a controller whose store was lost: they are not given out again. */
  skipAttempts(upTo: number): void {
    this.#attempts.skip(upTo);
  }

  /** Takes the changed rows, and forgets attempts that have ended. */
  takeDirty(): DirtyRows {
    const rows = this.#dirty.rows(this);
    this.#attempts.forgetTaken();
    this.#dirty.clear();
    return rows;
  }

  /** From rows of a store; only into a cluster that is empty. */
  load(): Loading {
    return new Loading(this, {
      addWorkflow: (row, at) => this.#workflows.load(row, at),
      addTasks: (change) => this.#addTasks(change),
      setState: (task, state) => this.#setState(task, state),
      noteRow: (task) => {
        this.#countUnneeded(task, false);
        this.#noteEarly(task);
      },
      noteEarly: (task) => this.#noteEarly(task),
      addAttempt: (row) => this.#attempts.load(row),
      adjust: (change) => this.#adjust(change),
      group: (change) => this.#group(change),
      addWorker: (worker) => this.#workers.add(worker),
    });
  }

  #adjust({ task, number, need }: Pick<NeedChange, 'task' | 'number' | 'need'>): void {
    this.tasks.setNeed(task, this.needs.number(need));
    this.adjustments.set(task, number);
  }

  #group({ group, tasks }: Pick<ChangeOf<'tasks-grouped'>, 'group' | 'tasks'>): void {
    for (const { from, to } of tasks) {
      for (let id: number = from; id <= to; id++) this.#addToGroup(taskId(id), group);
    }
  }

  /** Its attempt, if it has one, counts in the group from now on. */
  #addToGroup(task: TaskId, group: string): void {
    const [before, workflow] = [this.needOf(task), this.workflow(this.tasks.workflow(task))];
    const after = inGroup(before, group);
    if (after === before) return;
    const last = this.tasks.lastAttempt(task);
    const attempt = last === undefined ? undefined : this.attempts.get(last);
    const isLive = attempt !== undefined && attempt.state !== 'ended';
    if (isLive) this.limits.give(workflow, before);
    this.tasks.setNeed(task, this.needs.number(after));
    if (isLive) this.limits.take(workflow.id, after);
    // It is ready among those of its new need, too; whoever finds it among the others leaves it.
    if (this.#isQueuedCommand(task)) this.work.file(task);
    this.candidates.noteWoken();
  }

  #addTasks({ workflow: id, first, firstIndex, seeds }: ChangeOf<'tasks-added'>): void {
    const workflow = this.workflow(id);
    workflow.extend(first, firstIndex, seeds.length);
    this.graph.reserve(first + seeds.length);
    seeds.forEach((seed, offset) => {
      const task = taskId(first + offset);
      const need = this.needs.number(seed.need ?? workflow.rules.need ?? plainNeed);
      this.tasks.add(task, id, firstIndex + offset, seed, workflow.rules, need);
      workflow.counted('registering', 1, seed.kind);
    });
  }

  #onTasksActivated({ workflow: id, fromIndex }: ChangeOf<'tasks-activated'>): void {
    for (const task of this.workflow(id).tasks(fromIndex)) {
      this.#dirty.writeIfEarly(task);
      if (this.tasks.state(task) !== 'registering') continue;
      const first = firstState({ held: this.tasks.isHeld(task), pending: 0 });
      this.#setState(task, first === 'queued' && this.graph.hasParents(task) ? 'waiting' : first);
      this.work.file(task);
    }
    this.work.attention.add(id);
  }

  #onTasksAborted(id: WorkflowId): void {
    for (const task of this.workflow(id).tasks()) {
      const before = this.tasks.state(task);
      this.#setState(task, 'aborted');
      this.#dirty.writeIfEarly(task);
      this.#pending.tellChildren(task, before, 'aborted');
    }
  }

  #onTaskChanged(task: TaskId, event: TaskEvent): void {
    const before = this.tasks.state(task);
    if (event.type === 'moved' && event.move.to === 'waiting') this.#pending.countAnew(task);
    const wasUnneeded = this.tasks.reason(task) === 'unneeded';
    if (event.type === 'moved') this.#setState(task, event.move.to);
    this.tasks.apply(task, event);
    this.#countUnneeded(task, wasUnneeded);
    this.#dirty.tasks.add(task);
    this.#noteEarly(task);
    if (event.type !== 'prioritised' || this.#isQueuedCommand(task)) this.work.file(task);
    if (event.type === 'moved') this.#pending.tellChildren(task, before, event.move.to);
    this.#attempts.forgetLost(task);
    this.work.attention.add(this.tasks.workflow(task));
  }

  #countUnneeded(task: TaskId, was: boolean): void {
    const is = this.tasks.reason(task) === 'unneeded';
    if (was !== is) this.workflow(this.tasks.workflow(task)).unneeded += is ? 1 : -1;
  }

  #isQueuedCommand(task: TaskId): boolean {
    return this.tasks.state(task) === 'queued' && this.tasks.kind(task) === 'command';
  }

  #noteEarly(task: TaskId): void {
    if (this.workflow(this.tasks.workflow(task)).state === 'registering') this.#dirty.noteEarly(task);
  }

  #setState(task: TaskId, state: TaskState): void {
    const workflow = this.workflow(this.tasks.workflow(task));
    const kind = this.tasks.kind(task);
    workflow.counted(this.tasks.state(task), -1, kind);
    workflow.counted(state, 1, kind);
    workflow.version++;
    this.tasks.setState(task, state);
  }
}
