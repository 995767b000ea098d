/** What the task's table decides on: a tagged union, so that an illegal combination can't be written. */
import type { AttemptId, TaskId, WorkflowId } from '../../model/ids.ts';
import type { Exhaustible } from '../../model/need.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { CancelReason, Cause, FailReason, LossPolicy } from '../../model/states.ts';

/** `command` runs a process; a `join` only joins edges; a `check` is a join that fails if one of its parents failed. */
export const taskKinds = ['command', 'join', 'check'] as const;
export type TaskKind = (typeof taskKinds)[number];

export type Used = Readonly<Record<Cause, number>>;

interface TaskFacts {
  readonly id: TaskId;
  readonly workflow: WorkflowId;
  readonly index: number;
  readonly kind: TaskKind;
  readonly held: boolean;
  /** The higher, the sooner; 0 where nobody said. */
  readonly priority: number;
  /** Edges that are not met yet; counted while registering or waiting. */
  readonly pending: number;
  readonly used: Used;
  readonly maxAttempts: number;
  /** How often a resource that it ran out of may be raised. */
  readonly maxResourceRetries: number;
  /** Resources that it asked for a certain amount of: running out of one raises it. */
  readonly adjusts: readonly Exhaustible[];
  readonly onLost: LossPolicy;
  /** The latest start, in ms since the epoch; Infinity for none. */
  readonly until: number;
  /** The number of the last attempt, 0 before the first. */
  readonly attemptNumber: number;
  readonly lastAttempt: AttemptId | undefined;
}

export type TaskView =
  | (TaskFacts & { readonly state: 'registering' })
  | (TaskFacts & { readonly state: 'waiting' })
  | (TaskFacts & { readonly state: 'queued'; readonly notBefore: number })
  | (TaskFacts & { readonly state: 'launched' })
  | (TaskFacts & { readonly state: 'running' })
  | (TaskFacts & {
      readonly state: 'triaging';
      readonly cause: Cause;
      /** Which one it ran out of, where that is the cause. */
      readonly resource?: Exhaustible;
    })
  | (TaskFacts & { readonly state: 'adjusting'; readonly resource: Exhaustible })
  | (TaskFacts & { readonly state: 'cancelling'; readonly reason: CancelReason })
  | (TaskFacts & { readonly state: 'done' })
  | (TaskFacts & { readonly state: 'failed'; readonly reason: FailReason })
  | (TaskFacts & { readonly state: 'cancelled'; readonly reason: CancelReason })
  | (TaskFacts & { readonly state: 'aborted' });

export type TaskCommand =
  /** The definer is ready with it. */
  | { readonly type: 'activate' }
  | { readonly type: 'abort' }
  /** It gets one more dependency. */
  | { readonly type: 'acquire' }
  /** Its last dependency was met. */
  | { readonly type: 'satisfy' }
  | { readonly type: 'hold' }
  | { readonly type: 'release' }
  | { readonly type: 'prioritise'; readonly priority: number }
  | { readonly type: 'launch'; readonly attempt: AttemptId; readonly number: number; readonly now: number }
  /** An HTTP worker takes it and has started it. */
  | { readonly type: 'claim'; readonly attempt: AttemptId; readonly number: number; readonly now: number }
  | { readonly type: 'start'; readonly number: number }
  | { readonly type: 'end'; readonly number: number; readonly outcome: Outcome }
  /** The cause of a bad end is known: decide what follows. `fatal`: trying again can't help. */
  | { readonly type: 'triage'; readonly now: number; readonly fatal: boolean }
  /** The raised resources are written, or there is nothing larger. */
  | { readonly type: 'adjust'; readonly now: number; readonly possible: boolean }
  /** A join whose edges are met. `checkFailed`: a parent of a check has failed. */
  | { readonly type: 'complete'; readonly checkFailed: boolean }
  | { readonly type: 'cancel'; readonly reason: CancelReason }
  /** Its latest start has passed. */
  | { readonly type: 'expire'; readonly now: number }
  /** It failed, but not by its own fault: what that cost is given back. */
  | { readonly type: 'forgive' }
  | { readonly type: 'retry' }
  /** What it was cancelled for is being tried again. */
  | { readonly type: 'reinstate' }
  /** Its workflow begins anew. `all`: with what is done, too. `unmet`: an edge into it is not met, or not any more. */
  | { readonly type: 'reset'; readonly all: boolean; readonly unmet: boolean };

/** The state it goes to, with the data of that state. */
export type TaskMove =
  | { readonly to: 'waiting' }
  | { readonly to: 'queued'; readonly notBefore: number }
  | { readonly to: 'launched' | 'running'; readonly attempt: AttemptId; readonly number: number }
  | { readonly to: 'triaging'; readonly cause: Cause; readonly resource?: Exhaustible }
  | { readonly to: 'adjusting'; readonly resource: Exhaustible }
  | { readonly to: 'cancelling'; readonly reason: CancelReason }
  | { readonly to: 'done' }
  | { readonly to: 'failed'; readonly reason: FailReason }
  | { readonly to: 'cancelled'; readonly reason: CancelReason }
  | { readonly to: 'aborted' };

export type TaskEvent =
  | {
      readonly type: 'moved';
      readonly move: TaskMove;
      /** The budget that this move eats from. */
      readonly charge?: Cause;
      /** All budgets start anew. */
      readonly fresh?: true;
    }
  | { readonly type: 'held'; readonly held: boolean }
  | { readonly type: 'prioritised'; readonly priority: number }
  /** One charge is given back. */
  | { readonly type: 'refunded'; readonly cause: Cause };
