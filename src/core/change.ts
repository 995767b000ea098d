/**
 * What has changed, in the past tense: the only thing that `apply` takes, that history keeps, and that a commit holds.
 * Folding all changes of a store over an empty cluster gives the cluster that its rows give.
 */
import type { Capacity } from '../model/capacity.ts';
import type { Concurrency } from '../model/concurrency.ts';
import type { AttemptId, TaskId, WorkerId, WorkflowId } from '../model/ids.ts';
import type { Exhaustible, Need } from '../model/need.ts';
import type { Outcome } from '../model/outcome.ts';
import type { EdgeKind, HaltMode, LossPolicy, WorkerKind, WorkflowState } from '../model/states.ts';
import type { TaskEvent, TaskKind } from './task/view.ts';
import type { Bar } from './worker.ts';
import type { RunKind, Stop } from './workflow/table.ts';

/** What holds for all tasks of a workflow. The core reads only these; the rest of a specification is opaque to it. */
export interface WorkflowRules {
  readonly maxAttempts: number;
  readonly failFast: boolean;
  readonly open: boolean;
  /** Of tasks that have none of their own. Absent: one slot of any worker. */
  readonly need?: Need;
  /** Absent: requeue. */
  readonly onLost?: LossPolicy;
  /** Absent: `budgetDefaults.resources`. */
  readonly maxResourceRetries?: number;
  /** As it begins; it may be changed. */
  readonly concurrency?: Concurrency;
  /** Absent for one that is nobody's second try. */
  readonly identity?: Identity;
}

/** By which a workflow that is submitted again is known. */
export interface Identity {
  /** Of its name and its arguments. */
  readonly key: string;
  /** The digest of its tasks and edges. */
  readonly graph: string;
  /** It takes the place of one with the same key. */
  readonly replaces?: true;
}

/** What the core must know of a task when it is added. Its command and environment stay in the store. */
export interface TaskSeed {
  readonly kind: TaskKind;
  readonly held?: true;
  readonly maxAttempts?: number;
  readonly maxResourceRetries?: number;
  readonly until?: number;
  readonly priority?: number;
  /** Absent: that of its workflow. */
  readonly need?: Need;
}

/** Both ends included. */
export interface Range {
  readonly from: TaskId;
  readonly to: TaskId;
}

/** Edges from every task of `parents` to every task of `children`; one of the two is a single task. */
export interface Edges {
  readonly parents: Range;
  readonly children: Range;
  readonly after: EdgeKind;
}

export interface Usage {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes?: number;
}

/** After an attempt that ran out of a resource. */
export interface NeedChange {
  readonly task: TaskId;
  /** Counts the adjustments of a task from 1; of one that is refused, which it would be. */
  readonly number: number;
  readonly need: Need;
  readonly resource: Exhaustible;
  readonly why: string;
  readonly attempt: AttemptId;
}

export type Change =
  | { readonly type: 'workflow-registered'; readonly workflow: WorkflowId; readonly rules: WorkflowRules }
  | {
      readonly type: 'tasks-added';
      readonly workflow: WorkflowId;
      readonly first: TaskId;
      readonly firstIndex: number;
      readonly seeds: readonly TaskSeed[];
    }
  | { readonly type: 'edges-added'; readonly edges: Edges }
  | { readonly type: 'edge-removed'; readonly parent: TaskId; readonly child: TaskId }
  /** All tasks that are still registering become waiting or queued; or, in an aborted workflow, aborted. */
  | { readonly type: 'tasks-activated'; readonly workflow: WorkflowId; readonly fromIndex: number }
  | { readonly type: 'tasks-aborted'; readonly workflow: WorkflowId }
  | {
      readonly type: 'workflow-moved';
      readonly workflow: WorkflowId;
      readonly to: WorkflowState;
      readonly run?: RunKind;
    }
  | { readonly type: 'workflow-closed'; readonly workflow: WorkflowId }
  | { readonly type: 'workflow-stopping'; readonly workflow: WorkflowId; readonly stop: Stop }
  | { readonly type: 'workflow-halt-mode'; readonly workflow: WorkflowId; readonly mode: HaltMode }
  | { readonly type: 'task-changed'; readonly task: TaskId; readonly event: TaskEvent }
  | {
      readonly type: 'attempt-recorded';
      readonly attempt: AttemptId;
      readonly task: TaskId;
      readonly number: number;
      readonly worker: WorkerId;
    }
  | { readonly type: 'attempt-started'; readonly attempt: AttemptId; readonly startedAt: number }
  | {
      readonly type: 'attempt-ended';
      readonly attempt: AttemptId;
      readonly outcome: Outcome;
      readonly startedAt?: number | undefined;
      /** When it ended by its worker's clock; absent: when that became known. */
      readonly endedAt?: number | undefined;
      readonly usage?: Usage | undefined;
      /** Why the worker signalled it, if it did. */
      readonly signalledFor?: string | undefined;
    }
  | {
      readonly type: 'worker-joined';
      readonly worker: WorkerId;
      /** Absent: native. */
      readonly kind?: WorkerKind;
      readonly owner?: string;
      readonly shard: string;
      readonly lock: string;
      readonly instance: string;
      readonly host: string;
      readonly slots: number;
      /** Absent: that of a worker that says nothing. */
      readonly capacity?: Capacity;
    }
  | { readonly type: 'worker-gone'; readonly worker: WorkerId; readonly why: string }
  /** It was told timeouts by which it may live on for so long in silence: one that is restarted with shorter ones waits as long. */
  | { readonly type: 'worker-patience'; readonly worker: WorkerId; readonly silenceMs: number }
  /** It has another number of slots. */
  | { readonly type: 'worker-resized'; readonly worker: WorkerId; readonly slots: number }
  /** It has more or less of something else, or ends at another time. */
  | { readonly type: 'worker-refitted'; readonly worker: WorkerId; readonly capacity: Capacity }
  /** It gets no tasks; or, without a bar, gets some again. */
  | { readonly type: 'worker-barred'; readonly worker: WorkerId; readonly bar?: Bar }
  | ({ readonly type: 'need-adjusted' } & NeedChange)
  /** What it would need is nowhere to be had. */
  | ({ readonly type: 'need-refused' } & NeedChange)
  /** They belong to one more group of their workflow. */
  | { readonly type: 'tasks-grouped'; readonly group: string; readonly tasks: readonly Range[] }
  | { readonly type: 'workflow-concurrency'; readonly workflow: WorkflowId; readonly concurrency: Concurrency }
  /** Of all workflows together. Without a maximum there is no end. */
  | { readonly type: 'limit-set'; readonly name: string; readonly max?: number };

export type ChangeOf<T extends Change['type']> = Extract<Change, { readonly type: T }>;
