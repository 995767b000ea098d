/**
 * The aggregate: everything the controller decides on, and the only way to change it.
 *
 * Owns: the task columns, the graph, workflows, live attempts, known workers, and what is derived from them (ready and
 * delayed tasks, work that settling has to do, rows that the next commit has to write).
 * Does not own: commands and output of tasks, time, sockets, disks.
 *
 * Invariants (checked by invariants.ts):
 * 1. Only `apply` and loading (loading.ts) change the state; loading derives by the same code as applying.
 * 2. `pending` of a task that is registering or waiting is the number of its edges that are not met.
 * 3. A waiting task that could be queued is in `releasable`, one that can never be is in `doomed`, a queued join is in
 *    `joins`, a triaging or adjusting task in the list of that name: entries may be stale, never missing.
 * 4. A worker with a part of a slot free is in `vacant`, one that may get work ahead in `eager`, a workflow with something to
 *    launch in the lanes of its needs (lanes.ts): entries may be stale, never missing.
 * 5. A task that is launched, running or cancelling has a live attempt, on exactly one worker; no other task has one.
 */
import { assert, DroverError } from '../model/errors.ts';
import {
  type AttemptId,
  printTask,
  printWorkflow,
  type TaskId,
  taskId,
  type WorkerId,
  type WorkflowId,
} from '../model/ids.ts';
import { type Need, plainNeed } from '../model/need.ts';
import { isEndedTask, isEndedWorkflow, type TaskState } from '../model/states.ts';
import type { AttemptRecord } from './attempt/record.ts';
import type { Change, Edges, NeedChange } from './change.ts';
import { Heap } from './columns.ts';
import { Dirty, type DirtyRows } from './dirty-rows.ts';
import { edgeStatus, forEachPair, Graph, isTelling } from './graph.ts';
import { Loading } from './loading.ts';
import { Limits } from './resources/limits.ts';
import { adjustable, inGroup, Needs } from './resources/needs.ts';
import { Lanes } from './scheduler/lanes.ts';
import { hasRoom, prefetchOf } from './scheduler/placement.ts';
import { TaskColumns } from './task/columns.ts';
import { firstState } from './task/table.ts';
import type { TaskEvent, TaskView } from './task/view.ts';
import { countPending, isDoomed } from './task/waiting.ts';
import { WorkerRecord } from './worker.ts';
import { levelOf, priorityOf } from './workflow/ready-tasks.ts';
import { WorkflowRecord } from './workflow/record.ts';

type Of<T extends Change['type']> = Extract<Change, { readonly type: T }>;

export class Cluster {
  readonly tasks = new TaskColumns();
  readonly needs = new Needs();
  readonly limits = new Limits();
  /** How often the need of a task was raised; of those only where it was. */
  readonly adjustments = new Map<TaskId, number>();
  readonly graph = new Graph();
  readonly workflows = new Map<WorkflowId, WorkflowRecord>();
  /** Live ones, and lost ones whose worker may still speak up. */
  readonly attempts = new Map<AttemptId, AttemptRecord>();
  readonly workers = new Map<WorkerId, WorkerRecord>();
  /** Those that are not gone: what is done for every worker is done for these. */
  readonly liveWorkers = new Map<WorkerId, WorkerRecord>();
  /** Workers on which several tasks in a row have failed: they are dropped when that is noticed to be over. */
  readonly failing = new Set<WorkerRecord>();
  /** Workers under suspicion, tasks that wait in triage for what comes of it, and on which worker not to try one. */
  readonly suspects = new Set<WorkerRecord>();
  readonly suspended = new Set<TaskId>();
  readonly avoided = new Map<TaskId, WorkerId>();
  lastAttempt = 0;

  readonly releasable: TaskId[] = [];
  readonly doomed: TaskId[] = [];
  readonly joins: TaskId[] = [];
  readonly triaging: TaskId[] = [];
  readonly adjusting: TaskId[] = [];
  /** Workers that may have room: for the tasks of their free slots, and for what is sent ahead of these. */
  readonly vacant = new Set<WorkerRecord>();
  readonly eager = new Set<WorkerRecord>();
  /** Workflows that may have something to launch, by what it needs. */
  readonly lanes = new Lanes(this.needs);
  /** Queued for later: by the time from which they may be launched. */
  readonly delayed = new Heap();
  /** Tasks that wait or are queued and have a latest start, by it. */
  readonly deadlines = new Heap();
  /** Workflows of which something changed: they may have to finish, fail fast, or go on. */
  readonly attention = new Set<WorkflowId>();
  /** Workflows that have not ended. */
  readonly active = new Set<WorkflowId>();
  /** Those that their definer has not closed yet, by when it was last heard. */
  readonly registering = new Set<WorkflowId>();

  readonly #dirty = new Dirty();

  workflow(id: WorkflowId): WorkflowRecord {
    const record = this.workflows.get(id);
    if (record === undefined) throw new DroverError('workflow-unknown', `there is no workflow ${printWorkflow(id)}`);
    return record;
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
        this.workflows.set(change.workflow, new WorkflowRecord(change.workflow, change.rules, at));
        this.active.add(change.workflow);
        this.#touch(change.workflow, at);
        this.#dirty.workflows.add(change.workflow);
        return;
      case 'tasks-added':
        return this.#onTasksAdded(change, at);
      case 'edges-added':
        return this.#onEdgesAdded(change.edges);
      case 'edge-removed':
        return this.#onEdgeRemoved(change);
      case 'tasks-activated':
        return this.#onTasksActivated(change);
      case 'tasks-aborted':
        return this.#onTasksAborted(change.workflow);
      case 'workflow-moved':
        return this.#onWorkflowMoved(change, at);
      case 'workflow-closed':
        return this.#changeWorkflow(change.workflow, (workflow) => {
          workflow.open = false;
        });
      case 'workflow-stopping':
        return this.#changeWorkflow(change.workflow, (workflow) => {
          workflow.stop = change.stop;
          workflow.sweptTo = 0;
        });
      case 'workflow-halt-mode':
        return this.#changeWorkflow(change.workflow, (workflow) => {
          workflow.haltMode = change.mode;
        });
      case 'task-changed':
        return this.#onTaskChanged(change.task, change.event);
      case 'attempt-recorded':
        return this.#onAttemptRecorded(change, at);
      case 'attempt-started':
        return this.#onAttemptStarted(change);
      case 'attempt-ended':
        return this.#onAttemptEnded(change, at);
      case 'worker-joined':
        this.#addWorker(new WorkerRecord(change, at));
        this.#dirty.workers.add(change.worker);
        return;
      case 'worker-patience':
        return this.#changeWorker(change.worker, (worker) => {
          worker.silenceMs = change.silenceMs;
        });
      case 'worker-resized':
        return this.#changeWorker(change.worker, (worker) => {
          worker.slots = change.slots;
          this.noteRoom(worker);
        });
      case 'worker-refitted':
        return this.#changeWorker(change.worker, (worker) => {
          worker.capacity = change.capacity;
          this.noteRoom(worker);
        });
      case 'worker-barred':
        return this.#changeWorker(change.worker, (worker) => {
          worker.bar = change.bar;
          this.noteRoom(worker);
        });
      case 'need-adjusted':
        return this.#adjust(change);
      case 'need-refused':
        return;
      case 'tasks-grouped':
        return this.#group(change);
      case 'workflow-concurrency':
        return this.#changeWorkflow(change.workflow, (workflow) => {
          workflow.concurrency = change.concurrency;
          this.limits.changed(workflow);
          this.#wake();
        });
      case 'limit-set':
        this.limits.set(change.name, change.max);
        return this.#wake();
      case 'worker-gone':
        return this.#changeWorker(change.worker, (worker) => {
          worker.state = 'gone';
          worker.goneFor = change.why;
          this.liveWorkers.delete(worker.id);
          this.vacant.delete(worker);
          this.eager.delete(worker);
        });
    }
  }

  /** How far an attempt is on its way; not durable, since after a restart its worker is asked. */
  noteAttempt(id: AttemptId, state: 'sent' | 'accepted' | 'unsure'): void {
    const record = this.#attempt(id);
    const unsure = this.workers.get(record.worker)?.unsure;
    record.state = state;
    if (state === 'unsure') unsure?.add(id);
    else unsure?.delete(id);
  }

  /** A worker may have room that it had not: it is healthy again, or back, or an attempt of it has ended. */
  noteRoom(worker: WorkerRecord): void {
    if (worker.kind === 'http') return;
    const { now, ahead } = this.lanes;
    if (worker.load.cpus < worker.room.cpus) this.vacant.add(worker);
    this.eager.add(worker);
    if (now.stuck.size > 0) now.openIf((lane) => hasRoom(worker, lane, 0, 0));
    if (ahead.stuck.size > 0) this.#openAhead(worker);
  }

  /** It is queued, and its time has come. */
  makeReady(task: TaskId): void {
    const workflow = this.workflow(this.tasks.workflow(task));
    const need = this.tasks.need(task);
    const priority = this.tasks.priority(task);
    workflow.ready.push(need, levelOf(priority, this.graph.continuations(task)), task);
    if (workflow.launches) this.lanes.add(need, priority, workflow);
  }

  /** It may have something to launch that it had not, or that was refused. */
  noteSource(workflow: WorkflowRecord): void {
    if (!workflow.launches) return;
    for (const queue of workflow.ready.queues()) {
      if (!queue.isEmpty) this.lanes.add(queue.need, priorityOf(queue.level), workflow);
    }
  }

  /** The same for all of them. */
  noteSources(): void {
    for (const id of this.active) this.noteSource(this.workflow(id));
  }

  /** Ids up to this one may have been given out by a controller whose store was lost: they are not given out again. */
  skipAttempts(upTo: number): void {
    this.lastAttempt = Math.max(this.lastAttempt, upTo);
  }

  /** Takes the changed rows, and forgets attempts that have ended. */
  takeDirty(): DirtyRows {
    const rows = this.#dirty.rows(this);
    for (const id of this.#dirty.attempts) this.#forgetIfOver(id);
    this.#dirty.clear();
    return rows;
  }

  /** From rows of a store; only into a cluster that is empty. */
  load(): Loading {
    return new Loading(this, {
      addTasks: (change) => this.#addTasks(change),
      setState: (task, state) => this.#setState(task, state),
      noteRow: (task) => {
        this.#countUnneeded(task, false);
        this.#noteEarly(task);
      },
      noteEarly: (task) => this.#noteEarly(task),
      give: (record) => this.#give(record),
      mayBeCorrected: (record) => this.#mayBeCorrected(record),
      adjust: (change) => this.#adjust(change),
      group: (change) => this.#group(change),
      addWorker: (worker) => this.#addWorker(worker),
      touch: (workflow, at) => this.#touch(workflow, at),
      file: (task) => this.#file(task),
    });
  }

  #adjust({ task, number, need }: Pick<NeedChange, 'task' | 'number' | 'need'>): void {
    this.tasks.setNeed(task, this.needs.number(need));
    this.adjustments.set(task, number);
  }

  #group({ group, tasks }: Pick<Of<'tasks-grouped'>, 'group' | 'tasks'>): void {
    for (const { from, to } of tasks) {
      for (let id: number = from; id <= to; id++) this.#addToGroup(taskId(id), group);
    }
  }

  #addWorker(worker: WorkerRecord): void {
    this.workers.set(worker.id, worker);
    if (worker.state === 'gone') return;
    this.liveWorkers.set(worker.id, worker);
    this.noteRoom(worker);
  }

  /** Its definer was heard. */
  #touch(id: WorkflowId, at: number): void {
    const workflow = this.workflow(id);
    workflow.touchedAt = at;
    if (workflow.state !== 'registering' || workflow.open) return;
    this.registering.delete(id);
    this.registering.add(id);
  }

  #openAhead(worker: WorkerRecord): void {
    const slots = prefetchOf(worker);
    this.lanes.ahead.openIf((lane) => hasRoom(worker, lane, slots, 0));
  }

  #changeWorker(id: WorkerId, change: (worker: WorkerRecord) => void): void {
    const worker = this.workers.get(id);
    assert(worker !== undefined, `worker k${id} is known`);
    change(worker);
    this.#dirty.workers.add(id);
  }

  #changeWorkflow(id: WorkflowId, change: (workflow: WorkflowRecord) => void): void {
    const workflow = this.workflow(id);
    change(workflow);
    workflow.version++;
    this.noteSource(workflow);
    this.#dirty.workflows.add(id);
    this.attention.add(id);
  }

  #onWorkflowMoved(change: Of<'workflow-moved'>, at: number): void {
    this.#changeWorkflow(change.workflow, (workflow) => {
      workflow.state = change.to;
      if (change.run !== undefined) {
        Object.assign(workflow, { run: workflow.run + 1, startedAt: at, endedAt: 0, sweptTo: 0 });
        workflow.attemptsBefore = workflow.attemptsEnded;
        // A first run has none but one that came before it began, and holds.
        if (change.run !== 'fresh') Object.assign(workflow, { stop: undefined, haltMode: undefined });
        if (change.run === 'retry') workflow.sweptTo = workflow.size;
      }
      // One that is reset after its end had ended before, and is being cancelled no more.
      if (isEndedWorkflow(change.to) && workflow.endedAt === 0) workflow.endedAt = at;
      if (change.to === 'halted') workflow.stop = undefined;
    });
    if (isEndedWorkflow(change.to)) this.active.delete(change.workflow);
    else this.active.add(change.workflow);
    if (change.to !== 'registering') this.registering.delete(change.workflow);
  }

  #onTasksAdded(change: Of<'tasks-added'>, at: number): void {
    this.#addTasks(change);
    this.#touch(change.workflow, at);
  }

  #addTasks({ workflow: id, first, firstIndex, seeds }: Of<'tasks-added'>): void {
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

  #onEdgesAdded(edges: Edges): void {
    forEachPair(edges, (parent, child) => {
      this.graph.add(parent, child, edges.after);
      const status = edgeStatus(edges.after, this.tasks.state(parent));
      if (status !== 'met') this.tasks.setPending(child, this.tasks.pending(child) + 1);
      if (status === 'impossible') this.doomed.push(child);
    });
  }

  #onEdgeRemoved({ parent, child }: Of<'edge-removed'>): void {
    const after = this.graph.remove(parent, child);
    assert(after !== undefined, 'an edge that is removed is there');
    this.#noteEarly(child);
    if (!this.#isCounted(child)) return;
    if (edgeStatus(after, this.tasks.state(parent)) !== 'met') {
      this.tasks.setPending(child, this.tasks.pending(child) - 1);
    }
    if (this.tasks.pending(child) === 0) this.#file(child);
  }

  #onTasksActivated({ workflow: id, fromIndex }: Of<'tasks-activated'>): void {
    for (const task of this.workflow(id).tasks(fromIndex)) {
      this.#dirty.writeIfEarly(task);
      if (this.tasks.state(task) !== 'registering') continue;
      const first = firstState({ held: this.tasks.isHeld(task), pending: 0 });
      this.#setState(task, first === 'queued' && this.graph.hasParents(task) ? 'waiting' : first);
      this.#file(task);
    }
    this.attention.add(id);
  }

  #onTasksAborted(id: WorkflowId): void {
    for (const task of this.workflow(id).tasks()) {
      const before = this.tasks.state(task);
      this.#setState(task, 'aborted');
      this.#dirty.writeIfEarly(task);
      this.#tellChildren(task, before, 'aborted');
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
    if (this.#isQueuedCommand(task)) this.#file(task);
    this.#wake();
  }

  /** Who waited for a limit gets another turn. */
  #wake(): void {
    for (const workflow of this.limits.takeWoken()) this.noteSource(workflow);
  }

  #onTaskChanged(task: TaskId, event: TaskEvent): void {
    const before = this.tasks.state(task);
    if (event.type === 'moved' && event.move.to === 'waiting') this.tasks.setPending(task, countPending(this, task));
    const wasUnneeded = this.tasks.reason(task) === 'unneeded';
    if (event.type === 'moved') this.#setState(task, event.move.to);
    this.tasks.apply(task, event);
    this.#countUnneeded(task, wasUnneeded);
    this.#dirty.tasks.add(task);
    this.#noteEarly(task);
    if (event.type !== 'prioritised' || this.#isQueuedCommand(task)) this.#file(task);
    if (event.type === 'moved') this.#tellChildren(task, before, event.move.to);
    this.#forgetLost(task);
    this.attention.add(this.tasks.workflow(task));
  }

  #countUnneeded(task: TaskId, was: boolean): void {
    const is = this.tasks.reason(task) === 'unneeded';
    if (was !== is) this.workflow(this.tasks.workflow(task)).unneeded += is ? 1 : -1;
  }

  /** A parent went from one state to another: counts its continuations' edges anew. */
  #tellChildren(parent: TaskId, before: TaskState, after: TaskState): void {
    const { graph } = this;
    const first = graph.firstFrom(parent);
    if (first === 0 || !isTelling(before, after)) return;
    for (let edge = first; edge !== 0; edge = graph.nextFrom(edge)) {
      const child = graph.childOf(edge);
      const was = edgeStatus(graph.kindOf(edge), before);
      const is = edgeStatus(graph.kindOf(edge), after);
      if (was === is || !this.#isCounted(child)) continue;
      if (is === 'met') this.tasks.setPending(child, this.tasks.pending(child) - 1);
      else if (was === 'met') this.tasks.setPending(child, this.tasks.pending(child) + 1);
      if (is === 'impossible') this.doomed.push(child);
      else if (this.tasks.pending(child) === 0) this.#file(child);
    }
  }

  #onAttemptRecorded({ attempt, task, number, worker }: Of<'attempt-recorded'>, at: number): void {
    this.lastAttempt = Math.max(this.lastAttempt, attempt);
    const previous = this.tasks.lastAttempt(task);
    // One that ended in this same turn is forgotten when its row has been taken.
    if (previous !== undefined && !this.#dirty.attempts.has(previous)) this.attempts.delete(previous);
    const record: AttemptRecord = {
      id: attempt,
      task,
      number,
      previous: previous ?? 0,
      worker,
      state: 'recorded',
      recordedAt: at,
      startedAt: 0,
      endedAt: 0,
      outcome: undefined,
      usage: undefined,
      signalledFor: undefined,
      need: this.tasks.need(task),
    };
    this.attempts.set(attempt, record);
    this.#give(record);
    this.#dirty.attempts.add(attempt);
  }

  #give({ id, task, worker: holder, need }: AttemptRecord): void {
    this.limits.take(this.tasks.workflow(task), this.needOf(task));
    const worker = this.workers.get(holder);
    worker?.attempts.add(id);
    worker?.load.add(this.needs.demand(need));
  }

  #onAttemptStarted({ attempt, startedAt }: Of<'attempt-started'>): void {
    const record = this.#attempt(attempt);
    record.state = 'running';
    record.startedAt = startedAt;
    this.workers.get(record.worker)?.unsure.delete(attempt);
    this.#dirty.attempts.add(attempt);
  }

  #onAttemptEnded(change: Of<'attempt-ended'>, at: number): void {
    const { attempt, outcome, startedAt, endedAt, usage, signalledFor } = change;
    const record = this.#attempt(attempt);
    const workflow = this.workflow(this.tasks.workflow(record.task));
    // One that was lost, and whose worker speaks after all, ends twice.
    if (record.state !== 'ended') {
      this.limits.give(workflow, this.needOf(record.task));
      workflow.attemptsEnded++;
    }
    record.state = 'ended';
    record.outcome = outcome;
    record.endedAt = endedAt ?? at;
    record.startedAt = startedAt ?? record.startedAt;
    record.usage = usage;
    record.signalledFor = signalledFor;
    const worker = this.workers.get(record.worker);
    if (worker?.attempts.delete(attempt)) {
      worker.unsure.delete(attempt);
      worker.load.remove(this.needs.demand(record.need));
      if (worker.state !== 'gone') this.noteRoom(worker);
    }
    this.#wake();
    this.#dirty.attempts.add(attempt);
  }

  #attempt(id: AttemptId): AttemptRecord {
    const record = this.attempts.get(id);
    assert(record !== undefined, `attempt ${id} is known`);
    return record;
  }

  #forgetIfOver(id: AttemptId): void {
    const record = this.attempts.get(id);
    if (record?.state !== 'ended') return;
    if (!this.#mayBeCorrected(record)) this.attempts.delete(id);
  }

  /** The worker that was given up may still speak, until the task has ended, or begun anew with fresh budgets. */
  #mayBeCorrected({ id, task, outcome }: AttemptRecord): boolean {
    if (outcome?.kind !== 'lost' || this.tasks.lastAttempt(task) !== id) return false;
    const state = this.tasks.state(task);
    return state === 'triaging' || (!isEndedTask(state) && this.tasks.used(task, 'lost') > 0);
  }

  #forgetLost(task: TaskId): void {
    const last = this.tasks.lastAttempt(task);
    if (last !== undefined && !this.#dirty.attempts.has(last)) this.#forgetIfOver(last);
  }

  #isQueuedCommand(task: TaskId): boolean {
    return this.tasks.state(task) === 'queued' && this.tasks.kind(task) === 'command';
  }

  #isCounted(task: TaskId): boolean {
    const state = this.tasks.state(task);
    return state === 'waiting' || state === 'registering';
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

  /** Puts a task on the list of whoever has to act on it next. */
  #file(task: TaskId): void {
    switch (this.tasks.state(task)) {
      case 'waiting':
        this.#fileDeadline(task);
        if (this.tasks.pending(task) > 0) {
          if (isDoomed(this, task)) this.doomed.push(task);
        } else if (!this.tasks.isHeld(task)) this.releasable.push(task);
        return;
      case 'queued':
        this.#fileDeadline(task);
        if (this.tasks.isHeld(task)) return;
        if (this.tasks.kind(task) !== 'command') this.joins.push(task);
        else if (this.tasks.notBefore(task) > 0) this.delayed.push(this.tasks.notBefore(task), task);
        else this.makeReady(task);
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
    const until = this.tasks.until(task);
    if (until < Number.POSITIVE_INFINITY) this.deadlines.push(until, task);
  }
}
