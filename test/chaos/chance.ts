/** Chance that can be repeated: all that is random in a round comes from its seed. When things happen does not. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  isOneIn(count: number): boolean {
    return this.next() * count < 1;
  }

  /** One of them, the more likely the greater its weight. */
  pick<Item>(items: readonly Item[], weightOf: (item: Item) => number = () => 1): Item {
    let left = this.next() * items.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of items) {
      left -= weightOf(item);
      if (left < 0) return item;
    }
    const last = items.at(-1);
    if (last === undefined) throw new Error('there is nothing to pick from');
    return last;
  }
}
