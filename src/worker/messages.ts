/** What goes into the worker's reactor and what comes out of it. */

import type { FromSpawner, ToSpawner } from '../protocol/spawner.ts';
import type { FromWorker, StreamEnd, ToWorker } from '../protocol/worker.ts';

type TaskEnded = Extract<FromSpawner, { readonly t: 'ended' }>;

export type Input =
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  | { readonly type: 'message'; readonly message: ToWorker }
  | { readonly type: 'spawner'; readonly message: Exclude<FromSpawner, TaskEnded> }
  /** An end, with the last bytes of its output, which the shell has read. */
  | { readonly type: 'ended'; readonly message: TaskEnded; readonly stdout: StreamEnd; readonly stderr: StreamEnd }
  /** The spawner is dead, and so is everything that it had started. */
  | { readonly type: 'spawner-gone' }
  | { readonly type: 'stop' }
  | { readonly type: 'tick' };

export type Effect =
  | { readonly type: 'send'; readonly message: FromWorker }
  | { readonly type: 'spawner'; readonly message: ToSpawner }
  /** Where plain files of output are wanted. That it can't be made shows when a task starts. */
  | { readonly type: 'make-directory'; readonly path: string }
  /** A slot's files are used again. */
  | { readonly type: 'empty-files'; readonly paths: readonly string[] }
  /** The controller has all that was in them. */
  | { readonly type: 'remove-files'; readonly paths: readonly string[] }
  | {
      readonly type: 'fetch';
      readonly request: number;
      readonly place: OutputPlace | undefined;
      readonly offset: number;
      readonly limit: number;
    }
  /** It is stuck: it and all it ran has to go. */
  | { readonly type: 'kill-spawner' }
  /** `graceMs`: between TERM and KILL of what runs. */
  | { readonly type: 'exit'; readonly end: WorkerEnd; readonly why: string; readonly graceMs: number };

/**
 * How an instance of a worker ends: told to by whoever started it, or by its controller; without an answer for too long;
 * refused, as one that was given up is; or refused for good, since the two sides can't talk.
 */
export type WorkerEnd = 'stopped' | 'dismissed' | 'cut-off' | 'refused' | 'incompatible';

/** Where the output of an attempt is: a stretch of a file. `to` is absent while it can grow. */
export interface OutputPlace {
  readonly path: string;
  readonly from: number;
  readonly to?: number;
}
