/**
 * The slots of a worker and the files that their tasks write to.
 *
 * A slot's file serves one task after another: what a short output left is in memory when the task has ended, so the
 * file is emptied for the next one; a file that still holds more is set aside until the controller has taken it.
 * 1. Slots in use plus free slots make all of them, and while there are fewer than before, some more that are in use;
 *    the lowest free one is taken first.
 * 2. A task begins with an empty file of its own, so that all in it is its own, even if it truncates it.
 */
import type { Places } from './entry.ts';

interface SlotFile {
  /** Rises when a file is set aside. */
  number: number;
  isUsed: boolean;
}

export class Slots {
  readonly #directory: string;
  #free: number[] = [];
  readonly #taken = new Set<number>();
  #count = 0;
  readonly #files = new Map<number, SlotFile>();

  constructor(count: number, directory: string) {
    this.#directory = directory;
    this.resize(count);
  }

  /** Those in use beyond the new number are not given out again, unless there are as many once more. */
  resize(count: number): void {
    this.#count = count;
    this.#free = Array.from({ length: count }, (_, index) => index + 1).filter((slot) => !this.#taken.has(slot));
  }

  get hasFree(): boolean {
    return this.#free.length > 0 && this.#taken.size < this.#count;
  }

  take(): number {
    const slot = this.#free.shift() as number;
    this.#taken.add(slot);
    return slot;
  }

  give(slot: number): void {
    this.#taken.delete(slot);
    if (slot > this.#count) return;
    const at = this.#free.findIndex((free) => free > slot);
    this.#free.splice(at === -1 ? this.#free.length : at, 0, slot);
  }

  /** For the next task of the slot; `isUsed`: they have to be emptied first. */
  filesFor(slot: number): { places: Places; isUsed: boolean } {
    const file = this.#files.get(slot) ?? { number: 0, isUsed: false };
    this.#files.set(slot, { number: file.number, isUsed: true });
    const base = `${this.#directory}/slot-${slot}.${file.number}`;
    const places = { stdout: { path: `${base}.out`, from: 0 }, stderr: { path: `${base}.err`, from: 0 } };
    return { places, isUsed: file.isUsed };
  }

  /** The slot's files keep what they hold; the next task gets others. */
  setAside(slot: number): void {
    const file = this.#files.get(slot);
    if (file !== undefined) this.#files.set(slot, { number: file.number + 1, isUsed: false });
  }
}
