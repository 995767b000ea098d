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

/** What a task finds in its slot. */
export type Furnishing = {
  readonly files: OutputFiles;
  /** Where the task may keep what it needs while it runs. */
  readonly scratch: string;
  readonly variables: readonly string[];
};

export class Slots {
  #directory = '';
  /** The lowest comes last. */
  #free: number[] = [];
  readonly #taken = new Set<number>();
  /** Of these, by tasks that are beside the slots. */
  readonly #beside = new Set<number>();
  #count = 0;
  /** Which of several spawners this is. */
  #of = { index: 0, total: 1 };
  /** Rises when a slot's files are set aside. */
  readonly #numbers = new Map<number, number>();
  readonly #furnishings = new Map<number, Furnishing>();

  /** Those in use beyond the new number are not given out again, unless there are as many once more. */
  resize(count: number, directory: string, of = { index: 0, total: 1 }): void {
    this.#count = count;
    this.#directory = directory;
    this.#of = of;
    this.#furnishings.clear();
    this.#free = Array.from({ length: count }, (_, index) => count - index).filter((slot) => !this.#taken.has(slot));
  }

  get count(): number {
    return this.#count;
  }

  get hasFree(): boolean {
    return this.#taken.size - this.#beside.size < this.#count;
  }

  take(): number {
    const slot = this.#free.pop() ?? this.#lowestBeyond();
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
    let at = this.#free.length;
    while (at > 0 && (this.#free[at - 1] as number) < slot) at--;
    if (at === this.#free.length) this.#free.push(slot);
    else this.#free.splice(at, 0, slot);
  }

  /** Its number among those of all spawners. */
  numberOf(slot: number): number {
    return (slot - 1) * this.#of.total + this.#of.index + 1;
  }

  furnishingOf(slot: number): Furnishing {
    const known = this.#furnishings.get(slot);
    if (known) return known;
    const furnishing = this.#furnish(slot);
    this.#furnishings.set(slot, furnishing);
    return furnishing;
  }

  #furnish(slot: number): Furnishing {
    const number = this.numberOf(slot);
    const base = `${this.#directory}/slot-${number}.${this.#numbers.get(slot) ?? 0}`;
    const scratch = `${this.#directory}/scratch-${number}`;
    return {
      files: { stdout: `${base}.out`, stderr: `${base}.err` },
      scratch,
      variables: [`DROVER_SLOT=${number}`, `DROVER_TASK_DIR=${scratch}`],
    };
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
    this.#furnishings.delete(slot);
  }
}
