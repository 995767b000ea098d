/** Growable typed columns, a heap and a queue of integers: the hot state of a million tasks in a few dense arrays. */
import { assert } from '../model/errors.ts';

// The four columns differ in nothing but their array, and share no code: an access that meets several kinds of arrays in
// one place has to look up each time which it is, and takes ten times as long.

export class Bytes {
  #values = new Uint8Array(16);

  get(index: number): number {
    return this.#values[index] as number;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(index + 1);
    this.#values[index] = value;
  }

  reserve(length: number): void {
    if (length <= this.#values.length) return;
    const grown = new Uint8Array(Math.max(length, 2 * this.#values.length));
    grown.set(this.#values);
    this.#values = grown;
  }
}

export class Shorts {
  #values = new Uint16Array(16);

  get(index: number): number {
    return this.#values[index] as number;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(index + 1);
    this.#values[index] = value;
  }

  reserve(length: number): void {
    if (length <= this.#values.length) return;
    const grown = new Uint16Array(Math.max(length, 2 * this.#values.length));
    grown.set(this.#values);
    this.#values = grown;
  }
}

export class Integers {
  #values = new Uint32Array(16);

  get(index: number): number {
    return this.#values[index] as number;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(index + 1);
    this.#values[index] = value;
  }

  reserve(length: number): void {
    if (length <= this.#values.length) return;
    const grown = new Uint32Array(Math.max(length, 2 * this.#values.length));
    grown.set(this.#values);
    this.#values = grown;
  }
}

export class Times {
  #values = new Float64Array(16);

  get(index: number): number {
    return this.#values[index] as number;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(index + 1);
    this.#values[index] = value;
  }

  reserve(length: number): void {
    if (length <= this.#values.length) return;
    const grown = new Float64Array(Math.max(length, 2 * this.#values.length));
    grown.set(this.#values);
    this.#values = grown;
  }
}

/**
 * A binary heap of (key, value) pairs of numbers, smallest key first, equal keys by value. Entries are not removed from
 * the middle: whoever pops an entry checks that it still holds.
 */
export class Heap {
  readonly #keys = new Times();
  readonly #values = new Times();
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

  /** In no particular order. */
  *values(): Generator<number> {
    for (let at = 0; at < this.#size; at++) yield this.#values.get(at);
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

/**
 * Integers, smallest first. Those that come in ascending order, as the ids of tasks mostly do, are put behind each other
 * and cost no sorting, however many there are; only the others go through a heap. Entries are not removed from the
 * middle: whoever pops an entry checks that it still holds.
 */
export class AscendingQueue {
  #ascending = new Uint32Array(16);
  #from = 0;
  #to = 0;
  readonly #others = new Heap();

  get size(): number {
    return this.#to - this.#from + this.#others.size;
  }

  push(value: number): void {
    const isAscending = this.#from === this.#to || value >= (this.#ascending[this.#to - 1] as number);
    if (!isAscending) return this.#others.push(value, value);
    if (this.#to === this.#ascending.length) this.#makeRoom();
    this.#ascending[this.#to++] = value;
  }

  /** The next to be popped. */
  peek(): number | undefined {
    const other = this.#others.peekKey();
    if (this.#from === this.#to) return other;
    const first = this.#ascending[this.#from] as number;
    return other !== undefined && other < first ? other : first;
  }

  /** How many are smaller; of those that did not come in order, only so many are looked at. */
  countBelow(value: number, looksMax: number): number {
    let [from, to] = [this.#from, this.#to];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#ascending[middle] as number) < value) from = middle + 1;
      else to = middle;
    }
    let count = from - this.#from;
    let looks = 0;
    for (const other of this.#others.values()) {
      if (++looks > looksMax) break;
      if (other < value) count++;
    }
    return count;
  }

  /** All of it, those that came in order first; not to be changed meanwhile. */
  *values(): Generator<number> {
    for (let at = this.#from; at < this.#to; at++) yield this.#ascending[at] as number;
    yield* this.#others.values();
  }

  pop(): number {
    const other = this.#others.peekKey();
    if (this.#from === this.#to) return this.#others.pop();
    const first = this.#ascending[this.#from] as number;
    if (other !== undefined && other < first) return this.#others.pop();
    this.#from++;
    if (this.#from === this.#to) this.#from = this.#to = 0;
    return first;
  }

  /** Where half of it has been taken, what is left moves to the front. */
  #makeRoom(): void {
    const left = this.#ascending.subarray(this.#from, this.#to);
    const target = 2 * left.length <= this.#to ? this.#ascending : new Uint32Array(2 * this.#to);
    target.set(left);
    this.#ascending = target;
    this.#from = 0;
    this.#to = left.length;
  }
}
