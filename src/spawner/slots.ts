/**
 * The slots in which tasks run, and the files that they write to.
 *
 * A slot's files serve one task after another: what a short output left is in memory when the task has ended, so the
 * file is emptied for the next one; a file that still holds more is set aside until the controller has taken it.
 * 1. Slots in use plus free slots make all of them, and while there are fewer than before, some more that are in use;
 *    the lowest free one is taken first.
 * 2. A task that is not to wait for a slot is beside them: it has the lowest free number, and leaves as many to the others.
 */
import type { OutputFiles } from '../protocol/spawner.ts';

export class Slots {
  #directory = '';
  #free: number[] = [];
  readonly #taken = new Set<number>();
  /** Of these, by tasks that are beside the slots. */
  readonly #beside = new Set<number>();
  #count = 0;
  /** Which of several spawners this is. */
  #of = { index: 0, total: 1 };
  /** Rises when a slot's files are set aside. */
  readonly #numbers = new Map<number, number>();

  /** Those in use beyond the new number are not given out again, unless there are as many once more. */
  resize(count: number, directory: string, of = { index: 0, total: 1 }): void {
    this.#count = count;
    this.#directory = directory;
    this.#of = of;
    this.#free = Array.from({ length: count }, (_, index) => index + 1).filter((slot) => !this.#taken.has(slot));
  }

  get count(): number {
    return this.#count;
  }

  get hasFree(): boolean {
    return this.#taken.size - this.#beside.size < this.#count;
  }

  take(): number {
    const slot = this.#free.shift() ?? this.#lowestBeyond();
    this.#taken.add(slot);
    return slot;
  }

  takeBeside(): number {
    const slot = this.take();
    this.#beside.add(slot);
    return slot;
  }

  give(slot: number): void {
    this.#taken.delete(slot);
    this.#beside.delete(slot);
    if (slot > this.#count) return;
    const at = this.#free.findIndex((free) => free > slot);
    this.#free.splice(at === -1 ? this.#free.length : at, 0, slot);
  }

  /** Its number among those of all spawners. */
  numberOf(slot: number): number {
    return (slot - 1) * this.#of.total + this.#of.index + 1;
  }

  filesOf(slot: number): OutputFiles {
    const base = `${this.#directory}/slot-${this.numberOf(slot)}.${this.#numbers.get(slot) ?? 0}`;
    return { stdout: `${base}.out`, stderr: `${base}.err` };
  }

  /** Where the tasks of a slot may keep what they need while they run. */
  scratchOf(slot: number): string {
    return `${this.#directory}/scratch-${this.numberOf(slot)}`;
  }

  /** While some are beside the slots. */
  #lowestBeyond(): number {
    let slot = this.#count + 1;
    while (this.#taken.has(slot)) slot++;
    return slot;
  }

  /** The slot's files keep what they hold; the next task gets others. */
  setAside(slot: number): void {
    this.#numbers.set(slot, (this.#numbers.get(slot) ?? 0) + 1);
  }
}
