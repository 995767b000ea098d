/**
 * One workflow in memory: its rules, its state, where its tasks are, how many are in which state, and which are ready.
 * 1. `counts` sum up to `size`. 2. `live` counts the tasks that a worker holds. 3. `ready` has every queued command of
 * the workflow that is not held and whose time has come, and maybe entries that no longer are: a taker checks.
 */
import { type Concurrency, groupLimits } from '../../model/concurrency.ts';
import { assert } from '../../model/errors.ts';
import { type TaskId, taskId, type WorkflowId } from '../../model/ids.ts';
import { type HaltMode, type TaskState, taskStates, type WorkflowState } from '../../model/states.ts';
import type { Range, WorkflowRules } from '../change.ts';
import type { StateMask } from '../task/state-blocks.ts';
import type { TaskKind } from '../task/view.ts';
import { ReadyTasks } from './ready-tasks.ts';
import type { Stop, WorkflowView } from './table.ts';

/** Tasks of consecutive ids and indices; a submission adds one, or lengthens the last. */
interface Extent {
  readonly first: TaskId;
  readonly firstIndex: number;
  count: number;
}

export interface WorkflowRow {
  readonly id: WorkflowId;
  readonly rules: WorkflowRules;
  readonly state: WorkflowState;
  readonly open: boolean;
  readonly stop: Stop | undefined;
  readonly haltMode: HaltMode | undefined;
  readonly run: number;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly concurrency: Concurrency | undefined;
  readonly attemptsBefore: number;
}

type CountsByState = Record<TaskState, number>;

const noCounts = (): CountsByState => Object.fromEntries(taskStates.map((state) => [state, 0])) as CountsByState;

export class WorkflowRecord {
  readonly id: WorkflowId;
  readonly rules: WorkflowRules;
  readonly createdAt: number;
  state: WorkflowState = 'registering';
  open: boolean;
  stop: Stop | undefined;
  haltMode: HaltMode | undefined;
  /** The number of the last run, 0 before the first. */
  run = 0;
  /** Of the last run; 0 for none. */
  startedAt = 0;
  endedAt = 0;
  /** When the definer was last heard, while registering. Not durable: a restart gives it a full period anew. */
  touchedAt: number;
  /** Counts what readers may see changed; not durable. */
  version = 0;
  /** Attempts that have ended, of all runs: after a restart, by the rows of tasks. */
  attemptsEnded = 0;
  /** Those of them that had ended when the last run began. */
  attemptsBefore = 0;
  /** How far a sweep (cancel all, retry all) has come; not durable, a sweep may safely start over. */
  sweptTo = 0;
  /** Tasks that were cancelled because the failure that they were for did not happen: nothing is missing without them. */
  unneeded = 0;
  /** By the groups of needs; as `concurrency` says. */
  groupMax: ReadonlyMap<string, number> = new Map();
  /** When it was last given its turn, counted in launches; not durable. */
  servedAt = 0;
  readonly ready = new ReadyTasks();
  readonly #counts = noCounts();
  readonly #joins = noCounts();
  readonly #extents: Extent[] = [];
  #concurrency: Concurrency | undefined;

  constructor(id: WorkflowId, rules: WorkflowRules, at: number) {
    this.id = id;
    this.rules = rules;
    this.open = rules.open;
    this.createdAt = at;
    this.touchedAt = at;
    this.concurrency = rules.concurrency;
  }

  /** How many of its tasks may be with a worker. */
  get concurrency(): Concurrency | undefined {
    return this.#concurrency;
  }

  set concurrency(concurrency: Concurrency | undefined) {
    this.#concurrency = concurrency;
    this.groupMax = groupLimits(concurrency ?? {});
  }

  get size(): number {
    const last = this.#extents.at(-1);
    return last === undefined ? 0 : last.firstIndex + last.count - 1;
  }

  count(state: TaskState): number {
    return this.#counts[state];
  }

  countIn(mask: StateMask): number {
    return taskStates.reduce((sum, state, code) => sum + (((mask >>> code) & 1) === 1 ? this.#counts[state] : 0), 0);
  }

  get live(): number {
    return this.count('launched') + this.count('running') + this.count('cancelling');
  }

  get unended(): number {
    return this.size - this.count('done') - this.count('failed') - this.count('cancelled') - this.count('aborted');
  }

  /** Whether its queued tasks may be launched now. */
  get launches(): boolean {
    return this.state === 'running' && this.stop === undefined;
  }

  /** Joins are tasks to the core, but not to people. */
  countOfCommands(state: TaskState): number {
    return this.#counts[state] - this.#joins[state];
  }

  counted(state: TaskState, amount: number, kind: TaskKind): void {
    this.#counts[state] += amount;
    if (kind !== 'command') this.#joins[state] += amount;
  }

  extend(first: TaskId, firstIndex: number, count: number): void {
    assert(firstIndex === this.size + 1, `tasks of w${this.id} are added in order`);
    const last = this.#extents.at(-1);
    if (last !== undefined && last.first + last.count === first) last.count += count;
    else this.#extents.push({ first, firstIndex, count });
  }

  /** The task of an index, counted from 1. Few extents: linear is fine. */
  task(index: number): TaskId | undefined {
    for (const extent of this.#extents) {
      const offset = index - extent.firstIndex;
      if (offset >= 0 && offset < extent.count) return taskId(extent.first + offset);
    }
    return undefined;
  }

  /** The ids of consecutive indices: consecutive themselves, except where another submission came between. */
  ranges(fromIndex: number, toIndex: number): Range[] {
    const ranges: Range[] = [];
    for (const { first, firstIndex, count } of this.#extents) {
      const from = Math.max(fromIndex, firstIndex);
      const to = Math.min(toIndex, firstIndex + count - 1);
      if (from <= to) ranges.push({ from: taskId(first + from - firstIndex), to: taskId(first + to - firstIndex) });
    }
    return ranges;
  }

  *tasks(fromIndex = 1): Generator<TaskId> {
    for (const extent of this.#extents) {
      for (let offset = Math.max(0, fromIndex - extent.firstIndex); offset < extent.count; offset++) {
        yield taskId(extent.first + offset);
      }
    }
  }

  view(): WorkflowView {
    return {
      state: this.state,
      open: this.open,
      stop: this.stop,
      haltMode: this.haltMode,
      live: this.live,
      failed: this.count('failed'),
      cancelled: this.count('cancelled') - this.unneeded,
      unended: this.unended,
    };
  }

  row(): WorkflowRow {
    const { id, rules, state, open, stop, haltMode, run, createdAt, startedAt, endedAt, concurrency } = this;
    const { attemptsBefore } = this;
    return { id, rules, state, open, stop, haltMode, run, createdAt, startedAt, endedAt, concurrency, attemptsBefore };
  }

  static load(row: WorkflowRow): WorkflowRecord {
    const record = new WorkflowRecord(row.id, row.rules, row.createdAt);
    const { state, open, stop, haltMode, run, startedAt, endedAt, concurrency, attemptsBefore } = row;
    const facts = { state, open, stop, haltMode, run, startedAt, endedAt, concurrency, attemptsBefore };
    return Object.assign(record, facts);
  }
}
