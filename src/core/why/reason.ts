/**
 * Why a task is not done, as data: what holds at the moment, with what it takes to say it. The first reason of a list is the one
 * that has to go first. Nothing here changes anything.
 */
import type { AttemptId, TaskId, WorkerId, WorkflowId } from '../../model/ids.ts';
import type { Need } from '../../model/need.ts';
import type { Obstacle, ReasonKind } from '../../model/reasons.ts';
import type { CancelReason, EdgeKind, FailReason, HaltMode, TaskState, WorkflowState } from '../../model/states.ts';
import type { Lack } from '../resources/queues.ts';
import type { Shortage } from '../resources/room.ts';
import type { WorkerRecord } from '../worker.ts';
import type { Stop } from '../workflow/table.ts';

/** The first few, and how many there are in all; at least so many where there was more than may be looked at. */
export interface Some<T> {
  readonly first: readonly T[];
  readonly count: number;
  readonly isCut: boolean;
}

export interface Dependency {
  readonly task: TaskId;
  readonly state: TaskState;
  readonly after: EdgeKind;
}

export interface Unavailable {
  readonly worker: WorkerId;
  readonly obstacle: Obstacle;
  /** What is known beyond that. */
  readonly why: string | undefined;
}

/** What is with a worker. */
interface Held {
  readonly attempt: AttemptId;
  /** Of the attempt. */
  readonly number: number;
  readonly worker: WorkerId;
  /** Since when it runs; before that, since when it is there. */
  readonly since: number;
}

/** What the controller is about to do by itself, in this turn or the next ones. */
export type Settling = 'release' | 'cancel' | 'triage' | 'adjust' | 'complete';

interface Facts {
  readonly registering: {
    readonly workflow: WorkflowId;
    /** When its definer is given up, if nothing is heard of it. */
    readonly until: number;
  };
  readonly 'workflow-starting': { readonly workflow: WorkflowId; readonly state: WorkflowState };
  readonly 'workflow-halted': {
    readonly workflow: WorkflowId;
    readonly state: 'halting' | 'halted';
    readonly mode: HaltMode | undefined;
    readonly live: number;
  };
  readonly 'workflow-stopping': { readonly workflow: WorkflowId; readonly stop: Stop };
  readonly dependencies: { readonly on: Some<Dependency> };
  readonly held: {
    /** It is held because its worker was lost, and its owner wanted to decide. */
    readonly isAfterLoss: boolean;
  };
  readonly 'back-off': { readonly until: number; readonly attempt: AttemptId | undefined; readonly number: number };
  /** Its worker is suspected of having made it fail: it depends on how another task does elsewhere. */
  readonly suspended: { readonly worker: WorkerId; readonly trial: TaskId; readonly until: number };
  readonly settling: { readonly what: Settling };
  readonly 'latest-start': { readonly until: number };
  readonly 'initial-wait': {
    /** Undefined: until what runs, and is not known here, has ended. */
    readonly until: number | undefined;
    /** That run what the store does not know. */
    readonly workers: Some<WorkerId>;
  };
  readonly limit: {
    readonly name: string;
    readonly max: number;
    readonly used: number;
    readonly asked: number;
    readonly holders: Some<TaskId>;
  };
  readonly 'workflow-limit': { readonly workflow: WorkflowId; readonly max: number; readonly used: number };
  readonly 'group-limit': {
    readonly workflow: WorkflowId;
    readonly group: string;
    readonly max: number;
    readonly used: number;
  };
  readonly 'no-worker': { readonly leaving: number; readonly need: Need };
  readonly 'no-queue': { readonly queue: string; readonly others: Some<string> };
  readonly 'too-large': {
    readonly need: Need;
    /** The one that lacks least. */
    readonly nearest: WorkerId;
    readonly lacks: readonly Lack[];
    readonly workers: number;
    readonly isCut: boolean;
  };
  readonly 'workers-unavailable': { readonly workers: Some<Unavailable> };
  /** Only workers over HTTP could run it, which take what they want. */
  readonly unclaimed: { readonly workers: Some<WorkerId> };
  readonly 'slots-busy': {
    readonly workers: number;
    /** Of all of them. */
    readonly slots: number;
    readonly isCut: boolean;
    readonly nearest: WorkerId;
    readonly asked: number;
    /** On the nearest. */
    readonly free: number;
  };
  readonly 'no-room': {
    readonly nearest: WorkerId;
    readonly short: readonly Shortage[];
    readonly runs: Some<TaskId>;
    readonly workers: number;
    readonly isCut: boolean;
  };
  /** Workers have room, which is kept for others. */
  readonly reserved: { readonly workers: Some<WorkerId>; readonly need: Need };
  readonly 'reserved-for-it': { readonly worker: WorkerId };
  readonly avoided: {
    readonly worker: WorkerId;
    /** When the suspicion against it is dropped. */
    readonly until: number | undefined;
  };
  readonly 'higher-priority': {
    readonly tasks: number;
    readonly isCut: boolean;
    readonly priority: number;
    /** That one of them has. */
    readonly highest: number;
  };
  readonly behind: { readonly tasks: number; readonly isCut: boolean };
  readonly next: { readonly workers: number };
  readonly sent: Held & { readonly isOnItsWay: boolean };
  readonly unsure: Held;
  readonly 'queued-at-worker': Held & { readonly before: number };
  readonly running: Held;
  readonly cancelling: Held & { readonly reason: CancelReason };
  readonly 'worker-silent': {
    readonly worker: WorkerId;
    readonly obstacle: Obstacle;
    readonly why: string | undefined;
    /** When what it runs is given up, if nothing is heard of it. */
    readonly until: number | undefined;
  };
  readonly done: { readonly attempts: number };
  readonly failed: { readonly reason: FailReason; readonly attempt: AttemptId | undefined; readonly attempts: number };
  readonly cancelled: {
    readonly reason: CancelReason;
    /** Whose end it was cancelled for. */
    readonly by: Some<Dependency>;
  };
  readonly aborted: { readonly workflow: WorkflowId };
  /** All tasks have ended, and more may come. */
  readonly open: { readonly workflow: WorkflowId };
  readonly ended: { readonly workflow: WorkflowId; readonly state: WorkflowState };
}

export type Reason = { readonly [K in ReasonKind]: { readonly kind: K } & Facts[K] }[ReasonKind];
export type ReasonOf<K extends ReasonKind> = Extract<Reason, { readonly kind: K }>;

/** What the controller knows beyond the cluster. */
export interface Outlook {
  readonly now: number;
  /** Nothing is launched: until then, or until those workers have ended what nobody knows of. */
  readonly initialWait: { readonly until: number | undefined; readonly workers: readonly WorkerId[] } | undefined;
  /** A worker of which nothing is heard for so long is late. */
  readonly lateMs: number;
  /** When an attempt is given up for lost, if nothing is heard of its worker. */
  givenUpAt(worker: WorkerRecord, attempt: AttemptId): number | undefined;
}

/** Where a chain of dependencies ends, and why that one waits. */
export interface RootCause {
  readonly task: TaskId;
  readonly state: TaskState;
  /** Edges between the two. */
  readonly steps: number;
  /** There were more dependencies than may be looked at: it may go on behind it. */
  readonly isCut: boolean;
  readonly reasons: readonly Reason[];
}

export interface TaskWhy {
  readonly task: TaskId;
  readonly state: TaskState;
  readonly reasons: readonly Reason[];
  readonly root: RootCause | undefined;
}
