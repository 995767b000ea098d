/**
 * How long something is held without a word from its holder.
 * Owns: when each lease ends. Not durable: whoever starts over gives full leases anew, and so is never too early.
 * 1. A lease is extended, never shortened: its holder may not have heard of a shorter one.
 * 2. There is one look for each lease, no later than its end: a renewal costs nothing but a number.
 */
import { Heap } from '../columns.ts';

export class Leases<Key extends number> {
  readonly #ends = new Map<Key, number>();
  readonly #looks = new Heap();

  /** When to look for one that is over, if nothing is extended until then. */
  get nextLook(): number {
    return this.#looks.peekKey() ?? Number.POSITIVE_INFINITY;
  }

  endOf(key: Key): number | undefined {
    return this.#ends.get(key);
  }

  extend(key: Key, until: number): void {
    const known = this.#ends.get(key);
    if (known === undefined) this.#looks.push(until, key);
    if (known === undefined || until > known) this.#ends.set(key, until);
  }

  drop(key: Key): void {
    this.#ends.delete(key);
  }

  /** Those that had ended by then; they are no more. */
  takeEnded(by: number): Key[] {
    const ended: Key[] = [];
    while (this.nextLook <= by) {
      const key = this.#looks.pop() as Key;
      const end = this.#ends.get(key);
      if (end === undefined) continue;
      if (end > by) this.#looks.push(end, key);
      else {
        this.#ends.delete(key);
        ended.push(key);
      }
    }
    return ended;
  }
}
