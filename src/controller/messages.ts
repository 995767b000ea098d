/** What goes into the controller's reactor and what comes out of it. Everything from outside is one of these inputs. */
import type { EndReport } from '../core/task/ending.ts';
import type { StateMask } from '../core/task/state-blocks.ts';
import type { Steering } from '../core/task/steering.ts';
import type { Bar } from '../core/worker.ts';
import type { OutsideEdges } from '../core/workflow/registration.ts';
import type { Capacity } from '../model/capacity.ts';
import type { DroverError } from '../model/errors.ts';
import type { AttemptId, TaskId, WorkerId, WorkflowId } from '../model/ids.ts';
import type { EdgeKind, HaltMode, OutputStream } from '../model/states.ts';
import type { TaskBatch, WorkflowSpec } from '../protocol/spec.ts';
import type { Comparison } from '../protocol/views/submissions.ts';
import type { FromWorker, OrderNeed, ToWorker } from '../protocol/worker.ts';
import type { Batch, TaskDefinition, UsageSample } from '../store/store.ts';
import type { TokenRow } from '../store/token-row.ts';
import type { ConcurrencyPatch } from './limit-requests.ts';
import type { NewNotice, Tried } from './notices.ts';
import type { NewToken } from './tokens.ts';

/** A socket of a worker, as the shell numbers them. */
export type LinkId = number;

/** An attempt as people name it: by its task and its number. */
export interface AttemptName {
  readonly task: TaskId;
  readonly number: number;
}

/** What workers over HTTP ask for, each speaking for itself. */
export type HttpRequest =
  | {
      readonly type: 'join-http';
      readonly name: string;
      readonly host: string;
      readonly slots: number;
      readonly capacity?: Capacity;
      /** The token that it speaks with. */
      readonly owner: string;
    }
  | { readonly type: 'leave-http'; readonly worker: WorkerId }
  | { readonly type: 'claim-task'; readonly worker: WorkerId; readonly task: TaskId }
  | { readonly type: 'claim-next'; readonly worker: WorkerId; readonly most: number }
  /** What it has, as when it claimed it. */
  | { readonly type: 'list-claims'; readonly worker: WorkerId }
  /** Without attempts, of all that it has. */
  | { readonly type: 'renew-leases'; readonly worker: WorkerId; readonly attempts: readonly AttemptName[] | undefined }
  | {
      readonly type: 'append-output';
      readonly worker: WorkerId;
      readonly attempt: AttemptId;
      readonly stream: OutputStream;
      readonly offset: number;
      readonly data: Uint8Array;
    }
  /** Without a number, of the last attempt of the task. */
  | {
      readonly type: 'start-claimed';
      readonly worker: WorkerId;
      readonly task: TaskId;
      readonly number: number | undefined;
      readonly startedAt: number;
    }
  | {
      readonly type: 'end-claimed';
      readonly worker: WorkerId;
      readonly task: TaskId;
      readonly number: number | undefined;
      readonly end: Omit<EndReport, 'attempt' | 'worker'>;
    };

export type Request =
  | HttpRequest
  | {
      readonly type: 'add-continuations';
      readonly task: TaskId;
      readonly continuations: readonly TaskId[];
      readonly after: EdgeKind;
    }
  | { readonly type: 'remove-continuations'; readonly task: TaskId; readonly continuations: readonly TaskId[] }
  /** Of any attempt, be it live or not. */
  | { readonly type: 'report-usage'; readonly samples: readonly UsageSample[] }
  /** One that has a graph, and whose name and arguments are known, is that one again, unless it `replaces` it. */
  | { readonly type: 'register'; readonly spec: WorkflowSpec; readonly replaces?: boolean }
  /** Registers, extends and closes in one turn: all of it is durable at once. */
  | {
      readonly type: 'submit';
      readonly spec: WorkflowSpec;
      readonly batch: TaskBatch;
      readonly replaces?: boolean;
      /** What the batch names of other workflows, found. */
      readonly outside?: readonly OutsideEdges[];
      readonly comparison?: Comparison;
    }
  | {
      readonly type: 'extend';
      readonly workflow: WorkflowId;
      readonly batch: TaskBatch;
      readonly outside?: readonly OutsideEdges[];
      readonly comparison?: Comparison;
    }
  | { readonly type: 'close' | 'abort' | 'cancel'; readonly workflow: WorkflowId }
  | { readonly type: 'halt'; readonly workflow: WorkflowId; readonly mode: HaltMode }
  | { readonly type: 'resume'; readonly workflow: WorkflowId; readonly how: 'hot' | 'cold' }
  | { readonly type: 'cancel-task' | 'retry-task' | 'hold-task' | 'release-task'; readonly task: TaskId }
  /** Releases it, if that is all that keeps it from running. */
  | { readonly type: 'make-available'; readonly task: TaskId }
  | { readonly type: 'set-priority'; readonly task: TaskId; readonly priority: number }
  /** The same for many tasks, as many as one turn takes, and only those that are in one of these states. */
  | {
      readonly type: 'steer-tasks';
      readonly tasks: readonly TaskId[];
      readonly steering: Steering;
      readonly mask: StateMask;
    }
  /** Of what all workflows share. Without a maximum it is lifted. */
  | { readonly type: 'set-limit'; readonly name: string; readonly max: number | undefined }
  | { readonly type: 'set-concurrency'; readonly workflow: WorkflowId; readonly patch: ConcurrencyPatch }
  /** They have that tag (`name=value`), which got a limit after they were added. */
  | { readonly type: 'group-tasks'; readonly tag: string; readonly tasks: readonly TaskId[] }
  /** Tries failed tasks beyond an index again, as many as one turn takes. */
  | { readonly type: 'retry-failed'; readonly workflow: WorkflowId; readonly after: number }
  /** Lets tasks beyond an index begin anew, as many as one turn takes. */
  | { readonly type: 'reset'; readonly workflow: WorkflowId; readonly all: boolean; readonly after: number }
  /** A host that takes over from one that died halts what was going on, so that nothing starts unasked. */
  | { readonly type: 'halt-interrupted' }
  | {
      readonly type: 'read-output';
      readonly attempt: AttemptId;
      readonly stream: OutputStream;
      readonly offset: number;
      readonly limit: number;
    }
  | { readonly type: 'drain-worker' | 'release-worker'; readonly worker: WorkerId }
  /** For good: when it has ended what it runs, or at once. */
  | { readonly type: 'stop-worker'; readonly worker: WorkerId; readonly isNow: boolean }
  | { readonly type: 'resize-worker'; readonly worker: WorkerId; readonly slots: number }
  /** Ends every connected worker, and with it all that it runs. */
  | { readonly type: 'dismiss-workers' }
  | { readonly type: 'add-token'; readonly token: NewToken }
  | { readonly type: 'revoke-token'; readonly token: number }
  /** All changes up to `cursor` were looked through for what is to be told. */
  | { readonly type: 'note'; readonly notices: readonly NewNotice[]; readonly cursor: number }
  | { readonly type: 'notice-tried'; readonly tried: Tried };

/** By which a request that is repeated is known. */
export interface RequestKey {
  readonly key: string;
  /** Of all that is asked. */
  readonly digest: string;
}

/** What a request gives back once it is durable. */
export type Reply =
  | { readonly type: 'done' }
  | {
      readonly type: 'registered';
      readonly workflow: WorkflowId;
      /** It was there already: nothing was made. */
      readonly isKnown?: true;
      readonly comparison?: Comparison;
      readonly warnings?: readonly string[];
    }
  | {
      readonly type: 'extended';
      readonly firstIndex: number;
      readonly count: number;
      readonly comparison?: Comparison;
      readonly warnings?: readonly string[];
    }
  | { readonly type: 'interrupted'; readonly workflows: readonly WorkflowId[] }
  /** `next`: where to go on; absent when all were looked at. */
  | { readonly type: 'retried' | 'reset'; readonly count: number; readonly next?: number }
  | ({ readonly type: 'tasks-steered' } & TasksSteered)
  | { readonly type: 'tasks-grouped'; readonly count: number }
  | { readonly type: 'token-added'; readonly token: TokenRow }
  | ({ readonly type: 'joined'; readonly worker: WorkerId } & LeaseTerms)
  | ({ readonly type: 'claimed'; readonly claims: readonly Launch[] } & LeaseTerms)
  | ({
      readonly type: 'renewed';
      /** To be ended now: cancelled, halted, or gone for the controller already. */
      readonly cancel: readonly { readonly attempt: string; readonly why: 'cancel' | 'halt' | 'gone' }[];
      /** All that the controller knows it to have. */
      readonly attempts: readonly string[];
      readonly bar?: Bar['kind'];
    } & LeaseTerms)
  | { readonly type: 'appended'; readonly length: number }
  | { readonly type: 'ended'; readonly attempt: AttemptId }
  /** It has ended, or was never that worker's: the store knows. */
  | { readonly type: 'not-live' }
  /** Live output; `undefined` when the store has it, or will have it. */
  | { readonly type: 'output'; readonly live: LiveOutput | undefined };

/** What became of the first `taken` of the tasks. */
export interface TasksSteered {
  readonly taken: number;
  readonly changed: number;
  /** Those that were so already. */
  readonly unchanged: number;
  /** By state. */
  readonly refused: Readonly<Record<string, number>>;
}

/** What a worker over HTTP has to keep to. */
export interface LeaseTerms {
  /** From when it sent the request: a margin before the end of this, what it runs must be dead. */
  readonly leaseMs: number;
  readonly marginMs: number;
  /** How often it should renew. */
  readonly heartbeatMs: number;
}

export interface LiveOutput {
  readonly data: Uint8Array;
  readonly bytes: number;
  readonly isOpen: boolean;
}

export type Input =
  | { readonly type: 'request'; readonly ticket: number; readonly request: Request; readonly key?: RequestKey }
  | { readonly type: 'link-message'; readonly link: LinkId; readonly message: FromWorker }
  | { readonly type: 'link-closed'; readonly link: LinkId }
  | { readonly type: 'tick' };

/** Performed in order, after the turn is durable. */
export type Effect =
  | { readonly type: 'reply'; readonly ticket: number; readonly reply: Reply }
  | { readonly type: 'refuse'; readonly ticket: number; readonly error: DroverError }
  | { readonly type: 'send'; readonly link: LinkId; readonly message: ToWorker }
  /** The shell adds the commands, which only the store has. */
  | {
      readonly type: 'run';
      readonly link: LinkId;
      readonly instance: string;
      readonly seq: number;
      readonly attempts: readonly Launch[];
    }
  | { readonly type: 'close-link'; readonly link: LinkId }
  /** For the operator's log. */
  | { readonly type: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly facts: object };

export interface Launch {
  readonly attempt: AttemptId;
  readonly task: TaskId;
  readonly number: number;
  /** Absent: one slot. */
  readonly need?: OrderNeed;
}

/** Bytes for a packed output file; written and synced before the commit that points at them. */
export interface OutputWrite {
  readonly file: number;
  readonly position: number;
  readonly data: Uint8Array;
}

/** All that one turn did: to be made durable as a whole, then performed. */
export interface StepResult extends Batch {
  readonly writes: readonly OutputWrite[];
  /** Those of the definitions that have tags. */
  readonly tagged: readonly TaskDefinition[];
  readonly effects: readonly Effect[];
  /** There is more to do at once, without a further input. */
  readonly isUnfinished: boolean;
  /** So many attempts may end before one of those who spoke has less to do than it can; as long, what they say may wait. */
  readonly spare: number;
}
