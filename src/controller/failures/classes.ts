/**
 * How the last attempt of each task failed, in a column of 16 bits: its cause, its fingerprint and its host, interned. So a
 * million tasks are grouped by a look at memory. Follows what is committed; not durable, read again after a restart.
 *
 * Owns: the column and the classes.
 * 1. A task whose last ended attempt did not fail has no class.
 */
import { Shorts } from '../../core/columns.ts';
import type { FailureCause } from '../../model/failure-cause.ts';
import type { TaskId } from '../../model/ids.ts';
import { failureLimits } from '../../model/limits.ts';

export interface FailureClass {
  readonly cause: FailureCause;
  /** The id of its fingerprint; 0 for none. */
  readonly fingerprint: number;
  /** Absent where there are too many to tell them apart. */
  readonly host: string | undefined;
}

export class FailureClasses {
  readonly #column = new Shorts();
  readonly #classes: FailureClass[] = [];
  readonly #numbers = new Map<string, number>();

  of(task: TaskId): FailureClass | undefined {
    return this.#classes[this.#column.get(task) - 1];
  }

  note(task: TaskId, found: FailureClass): void {
    this.#column.set(task, this.#numberOf(found));
  }

  clear(task: TaskId): void {
    // Where none has failed there is no column to write to.
    if (this.#classes.length > 0 && this.#column.get(task) > 0) this.#column.set(task, 0);
  }

  #numberOf({ cause, fingerprint, host }: FailureClass): number {
    const key = `${cause} ${fingerprint} ${host ?? ''}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    // Beyond the limits hosts are left out, then fingerprints; for causes alone, of which there are few, is always room.
    const { length } = this.#classes;
    if (length >= failureLimits.classesMax && host !== undefined) {
      return this.#numberOf({ cause, fingerprint, host: undefined });
    }
    if (length >= failureLimits.hostlessClassesMax && fingerprint > 0) {
      return this.#numberOf({ cause, fingerprint: 0, host: undefined });
    }
    this.#classes.push({ cause, fingerprint, host });
    this.#numbers.set(key, this.#classes.length);
    return this.#classes.length;
  }
}
