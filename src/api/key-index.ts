/**
 * Numbers by keys of 16 bytes, several of a key in an order: a hash table in typed arrays, since a million of them in a
 * Map would take 200 MB instead of 44.
 *
 * Owns: slots, each with a key and the first number of it that was not dropped; and for each number the next of its key.
 * 1. A slot that has a key keeps it, also when all of its numbers were dropped: what lies behind it must be found.
 */
import { assert } from '../model/errors.ts';

const wordsPerKey = 4;
const digitsPerWord = 8;
/** For `firsts` and `nexts`. */
const free = 0;
const none = -1;

export class KeyIndex {
  readonly #mask: number;
  readonly #keys: Uint32Array;
  readonly #firsts: Int32Array;
  readonly #nexts: Int32Array;

  /** For the numbers from 1 to `count`. */
  constructor(count: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * count + 2));
    this.#mask = slots - 1;
    this.#keys = new Uint32Array(slots * wordsPerKey);
    this.#firsts = new Int32Array(slots);
    this.#nexts = new Int32Array(count + 1);
  }

  /** It comes before those of its key that are there: the last of them is added first. `key`: 32 digits of hex. */
  addBefore(key: string, number: number): void {
    const slot = this.#slotOf(key);
    const first = this.#firsts[slot] as number;
    if (first === free) this.#keys.set(wordsOf(key), slot * wordsPerKey);
    this.#nexts[number] = first === free ? none : first;
    this.#firsts[slot] = number;
  }

  /** The n-th of a key, counted from 0. */
  at(key: string, nth: number): number | undefined {
    let number = this.#firsts[this.#slotOf(key)] as number;
    for (let left = nth; left > 0 && number > 0; left--) number = this.#nexts[number] as number;
    return number > 0 ? number : undefined;
  }

  /** The second of a key is the first from now on. */
  dropFirst(key: string): void {
    const slot = this.#slotOf(key);
    const first = this.#firsts[slot] as number;
    if (first > 0) this.#firsts[slot] = this.#nexts[first] as number;
  }

  /** Where the key is, or belongs. There are twice as many slots as numbers, so that one is free. */
  #slotOf(key: string): number {
    const words = wordsOf(key);
    for (let slot = (words[0] as number) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      if (this.#firsts[slot] === free) return slot;
      const from = slot * wordsPerKey;
      if (words.every((word, at) => this.#keys[from + at] === word)) return slot;
    }
  }
}

function wordsOf(key: string): number[] {
  assert(key.length === wordsPerKey * digitsPerWord, 'a key has 16 bytes');
  const words: number[] = [];
  for (let from = 0; from < key.length; from += digitsPerWord) {
    words.push(Number.parseInt(key.slice(from, from + digitsPerWord), 16));
  }
  return words;
}
