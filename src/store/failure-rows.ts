/** What is kept of attempts that failed, beside their rows: which of them wrote the same. Derived, and so in no history. */
import type { AttemptRow } from '../core/attempt/record.ts';
import type { AttemptId } from '../model/ids.ts';

/** The last lines that failed attempts wrote, with all that differs from one to the next folded away. */
export interface FingerprintRow {
  readonly id: number;
  /** A few hexadecimal digits; of no two rows the same. */
  readonly name: string;
  readonly lines: string;
}

export interface FailureRow {
  readonly attempt: AttemptId;
  /** The id of its fingerprint; 0 for none. */
  readonly fingerprint: number;
}

export interface FailedAttempt {
  readonly row: AttemptRow;
  readonly fingerprint: number;
}

/** Tags of a task that has some. */
export interface TaggedTask {
  readonly task: number;
  readonly tags: Readonly<Record<string, string>>;
}
