/** What goes into the worker's reactor and what comes out of it. */

import type { GpuReading } from '../platform/env.ts';
import type { FromSpawner, ToSpawner } from '../protocol/spawner.ts';
import type { FromWorker, ToWorker } from '../protocol/worker.ts';

export type Input =
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  | { readonly type: 'message'; readonly message: ToWorker }
  | { readonly type: 'spawner'; readonly message: FromSpawner }
  /** The spawner is dead, and so is everything that it had started. */
  | { readonly type: 'spawner-gone' }
  /** How busy the GPUs of the machine are, while somebody wants to know. */
  | { readonly type: 'gpus'; readonly readings: readonly GpuReading[] }
  | { readonly type: 'stop' }
  | { readonly type: 'tick' };

export type Effect =
  | { readonly type: 'send'; readonly message: FromWorker }
  | { readonly type: 'spawner'; readonly message: ToSpawner }
  /** Where plain files of output are wanted. That it can't be made shows when a task starts. */
  | { readonly type: 'make-directory'; readonly path: string }
  /** The controller has all that was in them. */
  | { readonly type: 'remove-files'; readonly paths: readonly string[] }
  | {
      readonly type: 'fetch';
      readonly request: number;
      readonly place: OutputPlace | undefined;
      readonly offset: number;
      readonly limit: number;
    }
  /** Attempts that have GPUs run, or no longer. */
  | { readonly type: 'watch-gpus'; readonly isOn: boolean }
  /** It is stuck: it and all it ran has to go. */
  | { readonly type: 'kill-spawner' }
  /** `graceMs`: between TERM and KILL of what runs. */
  | { readonly type: 'exit'; readonly end: WorkerEnd; readonly why: string; readonly graceMs: number };

/**
 * How an instance of a worker ends: told to by whoever started it, or by its controller; without an answer for too long;
 * refused, as one that was given up is; or refused for good, since the two sides can't talk.
 */
export type WorkerEnd = 'stopped' | 'dismissed' | 'cut-off' | 'refused' | 'incompatible';

/** Where the output of an attempt is; `bytes` is absent while it can grow. */
export interface OutputPlace {
  readonly path: string;
  readonly bytes?: number;
}
