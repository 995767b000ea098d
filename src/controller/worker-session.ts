/** What is under way with one worker, on the link that speaks for it now. None of it is durable. */
import type { WorkerRecord } from '../core/worker.ts';
import type { AttemptId } from '../model/ids.ts';
import type { LinkId } from './messages.ts';

/** A question about attempts whose orders may not have arrived. */
export interface Notify {
  readonly seq: number;
  readonly attempts: readonly AttemptId[];
  readonly sentAt: number;
}

export class WorkerSession {
  readonly worker: WorkerRecord;
  link: LinkId | undefined;
  /** The number of its last heartbeat: an older one comes late, over a link that is gone for the worker. */
  lastBeat = 0;
  /** Of the last `notify`: orders carry it, so that one which comes after the next `notify` is known to be late. */
  seq = 0;
  notify: Notify | undefined;
  /** Questions in a row without an answer. */
  unanswered = 0;
  /** The numbers of the last health check that was asked for, and of the last that was answered. */
  lastCheck = 0;
  lastChecked = 0;
  checkDueAt = Number.POSITIVE_INFINITY;
  /** What a failed health check said. */
  complaint: string | undefined;
  /** When something may be due for it, if nothing is heard until then. */
  lookAt = Number.POSITIVE_INFINITY;
  /** When all that it ran must be dead. */
  deadAt = Number.POSITIVE_INFINITY;

  constructor(worker: WorkerRecord) {
    this.worker = worker;
  }
}
