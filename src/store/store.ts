/**
 * The store's two sides. A `Writer` makes a batch durable as a whole, or throws and has written nothing; a `Reader`
 * gives what was committed. Rows are the truth; history holds every change in order, and folding it gives the rows.
 * A store decides nothing: it has no idea of states and transitions beyond their encoding.
 */
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Change, Edges, Range, TaskSeed } from '../core/change.ts';
import type { DirtyRows } from '../core/dirty-rows.ts';
import type { TaskRow } from '../core/task/columns.ts';
import type { WorkerRow } from '../core/worker.ts';
import type { WorkflowRow } from '../core/workflow/record.ts';
import type { AttemptId, TaskId, WorkflowId } from '../model/ids.ts';
import type { OutputStream, UsageMetric } from '../model/states.ts';
import type { TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import type { AdjustmentRow } from './adjustment-row.ts';
import type { AnswerRow } from './answer-row.ts';
import type { FailedAttempt, FailureRow, FingerprintRow, TaggedTask } from './failure-rows.ts';
import type { LimitRow } from './limit-row.ts';
import type { NoticeRow } from './notice-row.ts';
import type { TokenRow } from './token-row.ts';

/** What was said of a task when it was added; never changes. */
export interface TaskDefinition {
  readonly id: TaskId;
  readonly workflow: WorkflowId;
  readonly index: number;
  readonly spec: TaskSpec;
}

/** A piece of an attempt's output: which bytes of the stream, and where in which packed file they are. */
export interface OutputPiece {
  readonly attempt: AttemptId;
  readonly stream: OutputStream;
  readonly offset: number;
  readonly length: number;
  readonly file: number;
  readonly position: number;
}

/** What somebody measured of an attempt at that time. Never changes state, and is in no history. */
export interface UsageSample {
  readonly attempt: AttemptId;
  readonly metric: UsageMetric;
  readonly at: number;
  readonly value: number;
}

export interface Batch {
  /** The time of the turn: of every change in it. */
  readonly at: number;
  readonly changes: readonly Change[];
  readonly rows: DirtyRows;
  readonly specs: readonly { readonly workflow: WorkflowId; readonly spec: WorkflowSpec }[];
  readonly definitions: readonly TaskDefinition[];
  readonly output: readonly OutputPiece[];
  /** In the order in which they came; past a limit a store keeps some of them only (thinning.ts). */
  readonly samples?: readonly UsageSample[];
  /** Of attempts that failed in this turn, and fingerprints that none had before. */
  readonly failures?: { readonly attempts: readonly FailureRow[]; readonly fingerprints: readonly FingerprintRow[] };
  /** The store's from now on: what was written to it before went another way than others remember. */
  readonly generation?: string;
  /** Of no history: who may ask is no part of what is asked for. */
  readonly tokens?: { readonly written: readonly TokenRow[]; readonly removed: readonly number[] };
  /** Nor is what is to be told to whom. `cursor`: how far history was looked through for it. */
  readonly notices?: {
    readonly cursor: number;
    readonly written: readonly NoticeRow[];
    readonly removed: readonly number[];
  };
  /** Nor is what was answered; but it is durable with what the request did. */
  readonly answers?: { readonly written: readonly AnswerRow[]; readonly forgottenTo: number };
}

export interface HistoryEntry {
  readonly seq: number;
  readonly at: number;
  readonly change: Change;
}

/** Tasks of one workflow with consecutive ids and indices, without their commands. */
export interface SeedRun {
  readonly workflow: WorkflowId;
  readonly first: TaskId;
  readonly firstIndex: number;
  readonly seeds: readonly TaskSeed[];
}

export type EdgeRow =
  | { readonly type: 'added'; readonly edges: Edges }
  | { readonly type: 'removed'; readonly parent: TaskId; readonly child: TaskId };

/** Tasks that came into a group after they were added. */
export interface GroupingRow {
  readonly group: string;
  readonly tasks: readonly Range[];
}

export interface Writer {
  /** Resolves when the batch is durable. A failure leaves the store as it was. */
  commit(batch: Batch): Promise<void>;
  close(): Promise<void>;
}

/** The async iterables give rows in chunks, in the order of their ids (edges: of their writing). */
export interface Reader {
  /** Rises by one with every opening for writing: which controller wrote. */
  readonly epoch: number;
  /** Made with the store, and anew when it was found to be a restored one: which store. As it was when it was opened. */
  readonly generation: string;
  /** The number of the last change in history. */
  lastChange(): Promise<number>;
  /** The highest attempt id ever recorded. */
  lastAttempt(): Promise<number>;
  workflowRows(): AsyncIterable<readonly WorkflowRow[]>;
  seedRuns(): AsyncIterable<readonly SeedRun[]>;
  edgeRows(): AsyncIterable<readonly EdgeRow[]>;
  taskRows(): AsyncIterable<readonly TaskRow[]>;
  /** By task, in the order of their numbers. */
  adjustmentRows(): AsyncIterable<readonly AdjustmentRow[]>;
  /** In the order of their writing. */
  groupingRows(): AsyncIterable<readonly GroupingRow[]>;
  /** All of them, by name. */
  limitRows(): Promise<LimitRow[]>;
  /** Attempts that have not ended, and ended ones whose outcome is `lost` and which are their task's last. */
  openAttempts(): AsyncIterable<readonly AttemptRow[]>;
  workerRows(): AsyncIterable<readonly WorkerRow[]>;
  workflowSpec(workflow: WorkflowId): Promise<WorkflowSpec | undefined>;
  /** In the order asked for; an unknown id is an error. */
  definitions(tasks: readonly TaskId[]): Promise<TaskDefinition[]>;
  /** When a task was added; 0 where the store does not know. */
  addedAt(task: TaskId): Promise<number>;
  /** Of these tasks, in their order. */
  adjustmentsOf(tasks: readonly TaskId[]): Promise<AdjustmentRow[]>;
  attempts(ids: readonly AttemptId[]): Promise<(AttemptRow | undefined)[]>;
  /** Stored attempts beyond that id, in the order of their ids or the other way round. */
  attemptsFrom(after: number, limit: number, isDescending: boolean): Promise<AttemptRow[]>;
  /** All attempts of a task, first to last, found from its last one back. */
  attemptsBack(last: AttemptId): Promise<AttemptRow[]>;
  /** Attempts beyond that id that failed, in the order of their ids. One whose failure was corrected since may be among them. */
  failedAttempts(after: number, limit: number): Promise<FailedAttempt[]>;
  /** All of them, in the order of their ids. */
  fingerprints(): Promise<FingerprintRow[]>;
  /** Those of the tasks with these ids, both ends included, that have tags. */
  tagsBetween(from: number, to: number): Promise<TaggedTask[]>;
  outputPieces(attempt: AttemptId): Promise<OutputPiece[]>;
  /** By metric, in the order in which they came. */
  usageSamples(attempt: AttemptId): Promise<UsageSample[]>;
  /** The highest packed file and its length as far as pieces use it. */
  outputEnd(): Promise<{ file: number; length: number }>;
  history(after: number, limit: number): Promise<HistoryEntry[]>;
  /** All of them, in the order of their ids. */
  tokens(): Promise<TokenRow[]>;
  /** All that were not forgotten, in the order of their ids. */
  answers(): Promise<AnswerRow[]>;
  /** All that were not removed, in the order of their ids. */
  notices(): Promise<{ readonly cursor: number; readonly rows: readonly NoticeRow[] }>;
  /** The newest first, and not all if there are a great many. */
  workflowsNamed(name: string): Promise<WorkflowId[]>;
}

export interface Store extends Reader, Writer {}
