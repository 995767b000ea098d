/**
 * The hot state of all tasks, in columns indexed by task id (ids count from 1). The tagged union is the view of a row.
 * Owns: what a task's row in the store holds, and the count of its unmet edges.
 * Does not own: commands, environments, names (they stay in the store), edges, attempts.
 */
import { type AttemptId, attemptId, type TaskId, type WorkflowId, workflowId } from '../../model/ids.ts';
import { budgetDefaults, priorityMax } from '../../model/limits.ts';
import { type Exhaustible, exhaustibles } from '../../model/need.ts';
import {
  type CancelReason,
  type Cause,
  cancelReasons,
  causes,
  type FailReason,
  failReasons,
  type TaskState,
  taskStates,
} from '../../model/states.ts';
import type { TaskSeed, WorkflowRules } from '../change.ts';
import { Bytes, Integers, Shorts, Times } from '../columns.ts';
import { StateBlocks, type StateMask } from './state-blocks.ts';
import { type TaskEvent, type TaskKind, type TaskView, taskKinds, type Used } from './view.ts';

const stateCode = new Map<TaskState, number>(taskStates.map((state, code) => [state, code]));
export const maskOf = (states: Iterable<TaskState>): StateMask => {
  let mask = 0;
  for (const state of states) mask |= 1 << (stateCode.get(state) as number);
  return mask;
};

const heldBit = 4;
const kindBits = 3;
/** The reason of a triage is the code of its cause, and that of a resource times this. */
const resourceStep = 16;

/** A task's changeable part as the store keeps it. `reason` is the code of a cause or reason in its state's list. */
export interface TaskRow {
  readonly id: TaskId;
  readonly state: TaskState;
  readonly reason: number;
  readonly held: boolean;
  readonly priority: number;
  readonly used: Used;
  readonly attemptNumber: number;
  readonly lastAttempt: number;
  readonly notBefore: number;
}

export class TaskColumns {
  readonly #workflow = new Integers();
  readonly #index = new Integers();
  readonly #state = new Bytes();
  readonly #reason = new Bytes();
  readonly #flags = new Bytes();
  /** Above the lowest. */
  readonly #priority = new Shorts();
  readonly #maxAttempts = new Shorts();
  readonly #maxResourceRetries = new Bytes();
  readonly #used = { attempts: new Shorts(), resources: new Bytes(), lost: new Bytes(), 'never-started': new Bytes() };
  readonly #attemptNumber = new Integers();
  readonly #lastAttempt = new Times();
  readonly #notBefore = new Times();
  readonly #until = new Times();
  readonly #pending = new Integers();
  /** The number of its need. */
  readonly #need = new Integers();
  /** By state; follows every change of one. */
  readonly blocks = new StateBlocks();
  #size = 0;

  /** How many tasks there are; the last id. */
  get size(): number {
    return this.#size;
  }

  add(task: TaskId, workflow: WorkflowId, index: number, seed: TaskSeed, rules: WorkflowRules, need: number): void {
    this.#size = Math.max(this.#size, task);
    this.#workflow.set(task, workflow);
    this.#index.set(task, index);
    this.#state.set(task, 0);
    this.blocks.added(task, 0);
    if (seed.held) this.blocks.marked(task, 'held', 1);
    this.#reason.set(task, 0);
    this.#flags.set(task, taskKinds.indexOf(seed.kind) | (seed.held ? heldBit : 0));
    this.#setPriority(task, seed.priority ?? 0);
    this.#maxAttempts.set(task, seed.maxAttempts ?? rules.maxAttempts);
    const resourceRetries = seed.maxResourceRetries ?? rules.maxResourceRetries ?? budgetDefaults.resources;
    this.#maxResourceRetries.set(task, resourceRetries);
    for (const cause of causes) this.#used[cause].set(task, 0);
    this.#attemptNumber.set(task, 0);
    this.#lastAttempt.set(task, 0);
    this.#notBefore.set(task, 0);
    this.#until.set(task, seed.until ?? Number.POSITIVE_INFINITY);
    this.#pending.set(task, 0);
    this.#need.set(task, need);
  }

  has(task: TaskId): boolean {
    return task >= 1 && task <= this.#size && this.#workflow.get(task) !== 0;
  }

  workflow(task: TaskId): WorkflowId {
    return workflowId(this.#workflow.get(task));
  }

  index(task: TaskId): number {
    return this.#index.get(task);
  }

  state(task: TaskId): TaskState {
    return taskStates[this.#state.get(task)] as TaskState;
  }

  isIn(task: TaskId, mask: StateMask): boolean {
    return ((mask >>> this.#state.get(task)) & 1) === 1;
  }

  kind(task: TaskId): TaskKind {
    return taskKinds[this.#flags.get(task) & kindBits] as TaskKind;
  }

  isHeld(task: TaskId): boolean {
    return (this.#flags.get(task) & heldBit) !== 0;
  }

  priority(task: TaskId): number {
    return this.#priority.get(task) - priorityMax;
  }

  /** Why it failed, or was or is being cancelled. */
  reason(task: TaskId): FailReason | CancelReason | undefined {
    const state = this.state(task);
    if (state === 'failed') return failReasons[this.#reason.get(task)];
    return state === 'cancelled' || state === 'cancelling' ? cancelReasons[this.#reason.get(task)] : undefined;
  }

  notBefore(task: TaskId): number {
    return this.#notBefore.get(task);
  }

  until(task: TaskId): number {
    return this.#until.get(task);
  }

  attemptNumber(task: TaskId): number {
    return this.#attemptNumber.get(task);
  }

  lastAttempt(task: TaskId): AttemptId | undefined {
    const attempt = this.#lastAttempt.get(task);
    return attempt === 0 ? undefined : attemptId(attempt);
  }

  used(task: TaskId, cause: Cause): number {
    return this.#used[cause].get(task);
  }

  need(task: TaskId): number {
    return this.#need.get(task);
  }

  setNeed(task: TaskId, need: number): void {
    this.#need.set(task, need);
  }

  pending(task: TaskId): number {
    return this.#pending.get(task);
  }

  setPending(task: TaskId, count: number): void {
    this.#pending.set(task, count);
  }

  setState(task: TaskId, state: TaskState): void {
    const before = this.#state.get(task);
    const after = stateCode.get(state) as number;
    if (before === after) return;
    this.#state.set(task, after);
    this.blocks.moved(task, before, after);
  }

  apply(task: TaskId, event: TaskEvent): void {
    if (event.type === 'held') {
      this.#setHeld(task, event.held);
      return;
    }
    if (event.type === 'prioritised') return this.#setPriority(task, event.priority);
    if (event.type === 'refunded') {
      this.#used[event.cause].set(task, Math.max(0, this.used(task, event.cause) - 1));
      return;
    }
    const { move } = event;
    this.setState(task, move.to);
    this.#reason.set(task, reasonCode(move));
    if (event.fresh) for (const cause of causes) this.#used[cause].set(task, 0);
    if (event.charge !== undefined) this.#used[event.charge].set(task, this.used(task, event.charge) + 1);
    if (move.to === 'queued') this.#notBefore.set(task, move.notBefore);
    if (move.to === 'launched' || move.to === 'running') {
      this.#attemptNumber.set(task, move.number);
      this.#setLastAttempt(task, move.attempt);
    }
  }

  view(task: TaskId, { onLost = 'requeue' }: Pick<WorkflowRules, 'onLost'>, adjusts: readonly Exhaustible[]): TaskView {
    const facts = {
      id: task,
      workflow: this.workflow(task),
      index: this.index(task),
      kind: this.kind(task),
      held: this.isHeld(task),
      priority: this.priority(task),
      pending: this.pending(task),
      used: this.#usedBy(task),
      maxAttempts: this.#maxAttempts.get(task),
      maxResourceRetries: this.#maxResourceRetries.get(task),
      adjusts,
      onLost,
      until: this.until(task),
      attemptNumber: this.attemptNumber(task),
      lastAttempt: this.lastAttempt(task),
    };
    const state = this.state(task);
    const reason = this.#reason.get(task);
    switch (state) {
      case 'queued':
        return { ...facts, state, notBefore: this.notBefore(task) };
      case 'triaging':
        return { ...facts, state, ...triageOf(reason) };
      case 'adjusting':
        return { ...facts, state, resource: exhaustibles[reason] as Exhaustible };
      case 'cancelling':
      case 'cancelled':
        return { ...facts, state, reason: cancelReasons[reason] as (typeof cancelReasons)[number] };
      case 'failed':
        return { ...facts, state, reason: failReasons[reason] as (typeof failReasons)[number] };
      default:
        return { ...facts, state };
    }
  }

  row(task: TaskId): TaskRow {
    return {
      id: task,
      state: this.state(task),
      reason: this.#reason.get(task),
      held: this.isHeld(task),
      priority: this.priority(task),
      used: this.#usedBy(task),
      attemptNumber: this.attemptNumber(task),
      lastAttempt: this.#lastAttempt.get(task),
      notBefore: this.notBefore(task),
    };
  }

  /** Takes a row of the store over a task that was added before. */
  load(row: TaskRow): void {
    const task = row.id;
    this.setState(task, row.state);
    this.#reason.set(task, row.reason);
    this.#setHeld(task, row.held);
    this.#setPriority(task, row.priority);
    for (const cause of causes) this.#used[cause].set(task, row.used[cause]);
    this.#attemptNumber.set(task, row.attemptNumber);
    this.#setLastAttempt(task, row.lastAttempt);
    this.#notBefore.set(task, row.notBefore);
  }

  #setHeld(task: TaskId, held: boolean): void {
    if (held === this.isHeld(task)) return;
    this.#flags.set(task, this.#flags.get(task) ^ heldBit);
    this.blocks.marked(task, 'held', held ? 1 : -1);
  }

  /** Once there was one, there always is. */
  #setLastAttempt(task: TaskId, attempt: number): void {
    if (this.#lastAttempt.get(task) === 0 && attempt !== 0) this.blocks.marked(task, 'attempted', 1);
    this.#lastAttempt.set(task, attempt);
  }

  #setPriority(task: TaskId, priority: number): void {
    this.#priority.set(task, priority + priorityMax);
  }

  #usedBy(task: TaskId): Used {
    return {
      attempts: this.#used.attempts.get(task),
      resources: this.#used.resources.get(task),
      lost: this.#used.lost.get(task),
      'never-started': this.#used['never-started'].get(task),
    };
  }
}

function triageOf(reason: number): { readonly cause: Cause; readonly resource?: Exhaustible } {
  const cause = causes[reason % resourceStep] as Cause;
  if (cause !== 'resources') return { cause };
  return { cause, resource: exhaustibles[Math.floor(reason / resourceStep)] as Exhaustible };
}

function reasonCode(move: Extract<TaskEvent, { type: 'moved' }>['move']): number {
  switch (move.to) {
    case 'triaging':
      return causes.indexOf(move.cause) + resourceStep * exhaustibles.indexOf(move.resource ?? 'memory');
    case 'adjusting':
      return exhaustibles.indexOf(move.resource);
    case 'cancelling':
    case 'cancelled':
      return cancelReasons.indexOf(move.reason);
    case 'failed':
      return failReasons.indexOf(move.reason);
    default:
      return 0;
  }
}
