/**
 * How many tasks ended when: rings of seconds, of minutes and of hours, each of a fixed length. What is older than the
 * oldest interval of a ring is not in it.
 */
export const endKinds = ['done', 'failed', 'cancelled'] as const;
export type EndKind = (typeof endKinds)[number];

/** Length of an interval, and how many of them: a minute, an hour, two days. */
export const rings = [
  { name: 'second', intervalMs: 1_000, intervals: 60 },
  { name: 'minute', intervalMs: 60_000, intervals: 60 },
  { name: 'hour', intervalMs: 3_600_000, intervals: 48 },
] as const;
export type RingName = (typeof rings)[number]['name'];

export interface Series {
  readonly intervalMs: number;
  /** When the last interval begins, which is not over yet. */
  readonly lastBegins: number;
  /** The oldest interval first. */
  readonly ends: Readonly<Record<EndKind, number[]>>;
}

class Ring {
  readonly intervalMs: number;
  readonly #intervals: number;
  /** Which interval of all time has the place now. */
  readonly #numbers: Float64Array;
  readonly #counts: Uint32Array;

  constructor(intervalMs: number, intervals: number) {
    this.intervalMs = intervalMs;
    this.#intervals = intervals;
    this.#numbers = new Float64Array(intervals);
    this.#counts = new Uint32Array(intervals * endKinds.length);
  }

  add(at: number, kind: number, count: number): void {
    const number = Math.floor(at / this.intervalMs);
    const place = number % this.#intervals;
    const there = this.#numbers[place] as number;
    if (there > number) return;
    if (there < number) {
      this.#numbers[place] = number;
      this.#counts.fill(0, place * endKinds.length, (place + 1) * endKinds.length);
    }
    const index = place * endKinds.length + kind;
    this.#counts[index] = (this.#counts[index] as number) + count;
  }

  countOf(number: number, kind: number): number {
    const place = number % this.#intervals;
    return this.#numbers[place] === number ? (this.#counts[place * endKinds.length + kind] as number) : 0;
  }

  series(now: number): Series {
    const last = Math.floor(now / this.intervalMs);
    const numbers = Array.from({ length: this.#intervals }, (_, offset) => last - this.#intervals + 1 + offset);
    const of = (kind: number): number[] => numbers.map((number) => this.countOf(number, kind));
    const ends = { done: of(0), failed: of(1), cancelled: of(2) };
    return { intervalMs: this.intervalMs, lastBegins: last * this.intervalMs, ends };
  }

  addAll(other: Ring): void {
    other.#numbers.forEach((number, place) => {
      for (let kind = 0; kind < endKinds.length; kind++) {
        const count = other.#counts[place * endKinds.length + kind] as number;
        if (count > 0) this.add(number * this.intervalMs, kind, count);
      }
    });
  }
}

export class Rates {
  readonly #rings = rings.map(({ intervalMs, intervals }) => new Ring(intervalMs, intervals));

  add(at: number, kind: EndKind, count: number): void {
    const code = endKinds.indexOf(kind);
    for (const ring of this.#rings) ring.add(at, code, count);
  }

  addAll(other: Rates): void {
    this.#rings.forEach((ring, at) => void ring.addAll(other.#rings[at] as Ring));
  }

  series(name: RingName, now: number): Series {
    return (this.#rings[rings.findIndex((ring) => ring.name === name)] as Ring).series(now);
  }

  /**
   * Ends in a second, over the last minute, else the last hour, else the last two days; and since `from`, if that is later.
   * Cancelled ones say nothing of how fast tasks are done. `undefined` where none ended.
   */
  perSecond(now: number, from: number): number | undefined {
    for (const ring of this.#rings) {
      const { lastBegins, intervalMs, ends } = ring.series(now);
      const begin = Math.max(from, lastBegins - (ends.done.length - 1) * intervalMs);
      const sum = [...ends.done, ...ends.failed].reduce((total, count) => total + count, 0);
      if (sum > 0) return (sum * 1_000) / Math.max(1_000, now - begin);
    }
    return undefined;
  }
}
