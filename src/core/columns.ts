/** Growable typed columns and a heap of integers: the hot state of a million tasks in a few dense arrays. */
import { assert } from '../model/errors.ts';

type Dense = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

export class Column<A extends Dense> {
  #values: A;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A, initial = 16) {
    this.#make = make;
    this.#values = make(initial);
  }

  get(index: number): number {
    return this.#values[index] as number;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(index + 1);
    this.#values[index] = value;
  }

  add(index: number, amount: number): void {
    this.#values[index] = (this.#values[index] as number) + amount;
  }

  reserve(length: number): void {
    if (length <= this.#values.length) return;
    const grown = this.#make(Math.max(length, this.#values.length * 2));
    grown.set(this.#values as never);
    this.#values = grown;
  }
}

export const bytes = (): Column<Uint8Array> => new Column((length) => new Uint8Array(length));
export const shorts = (): Column<Uint16Array> => new Column((length) => new Uint16Array(length));
export const integers = (): Column<Uint32Array> => new Column((length) => new Uint32Array(length));
export const links = (): Column<Int32Array> => new Column((length) => new Int32Array(length));
export const times = (): Column<Float64Array> => new Column((length) => new Float64Array(length));

/**
 * A binary heap of (key, value) pairs of numbers, smallest key first, equal keys by value. Entries are not removed from
 * the middle: whoever pops an entry checks that it still holds.
 */
export class Heap {
  readonly #keys = times();
  readonly #values = times();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(key: number, value: number): void {
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(key, value, parent)) break;
      this.#copy(parent, at);
      at = parent;
    }
    this.#keys.set(at, key);
    this.#values.set(at, value);
  }

  peekKey(): number | undefined {
    return this.#size === 0 ? undefined : this.#keys.get(0);
  }

  pop(): number {
    assert(this.#size > 0, 'pop of an empty heap');
    const top = this.#values.get(0);
    const last = --this.#size;
    const key = this.#keys.get(last);
    const value = this.#values.get(last);
    let at = 0;
    for (;;) {
      const child = this.#smallerChild(at);
      if (child === undefined || this.#before(key, value, child)) break;
      this.#copy(child, at);
      at = child;
    }
    this.#keys.set(at, key);
    this.#values.set(at, value);
    return top;
  }

  #smallerChild(at: number): number | undefined {
    const left = 2 * at + 1;
    if (left >= this.#size) return undefined;
    const right = left + 1;
    if (right >= this.#size) return left;
    return this.#before(this.#keys.get(right), this.#values.get(right), left) ? right : left;
  }

  #before(key: number, value: number, at: number): boolean {
    const other = this.#keys.get(at);
    return key < other || (key === other && value < this.#values.get(at));
  }

  #copy(from: number, to: number): void {
    this.#keys.set(to, this.#keys.get(from));
    this.#values.set(to, this.#values.get(from));
  }
}
