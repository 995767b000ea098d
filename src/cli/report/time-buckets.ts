/**
 * Sums over time in memory that does not grow with what is added. Owns rows of buckets that cover the time from an origin on.
 *
 * 1. All rows have the same buckets. What lies beyond the last one makes all of them twice as wide, as often as needed.
 * 2. Nothing is lost by that: the sum of a row is that of what was added to it.
 * 3. What lies before the origin counts as at the origin: clocks of machines differ.
 * 4. Times that are cut out have no buckets.
 */
import { type Cut, withoutCuts } from './idle.ts';

interface Row {
  /** What was added to each bucket: a number of points, or ms of spans. */
  readonly sums: Float64Array;
  /** Spans that cover whole buckets, as differences from one bucket to the next. */
  readonly covers: Float64Array;
}

export class TimeBuckets {
  /** Of each bucket, in ms. */
  #width = 1;
  #endMs = 0;
  readonly #rows = new Map<string, Row>();
  readonly originMs: number;
  readonly #bucketsMax: number;
  readonly cuts: readonly Cut[];
  #lastMs: number;

  constructor(originMs: number, bucketsMax: number, cuts: readonly Cut[] = []) {
    this.originMs = originMs;
    this.#lastMs = originMs;
    this.#bucketsMax = bucketsMax;
    this.cuts = cuts;
  }

  /** When the last of what was added ended. */
  get lastMs(): number {
    return this.#lastMs;
  }

  get widthMs(): number {
    return this.#width;
  }

  /** From the origin to the end of what was added, without what is cut out. */
  get spanMs(): number {
    return this.#endMs;
  }

  /** How many there are up to the end of what was added; at least one. */
  get count(): number {
    return Math.min(this.#bucketsMax, Math.max(1, Math.ceil(this.#endMs / this.#width)));
  }

  addPoint(name: string, atMs: number): void {
    const at = this.#reach(atMs);
    const { sums } = this.#row(name);
    const bucket = this.#bucketOf(at);
    sums[bucket] = (sums[bucket] ?? 0) + 1;
  }

  /** `weight` times its length is added, in ms. */
  addSpan(name: string, fromMs: number, toMs: number, weight = 1): void {
    const to = this.#reach(toMs);
    const from = Math.min(to, this.#offsetOf(fromMs));
    const { sums, covers } = this.#row(name);
    const [first, last] = [this.#bucketOf(from), this.#bucketOf(to)];
    if (first === last) {
      sums[first] = (sums[first] ?? 0) + weight * (to - from);
      return;
    }
    sums[first] = (sums[first] ?? 0) + weight * ((first + 1) * this.#width - from);
    sums[last] = (sums[last] ?? 0) + weight * (to - last * this.#width);
    covers[first + 1] = (covers[first + 1] ?? 0) + weight;
    covers[last] = (covers[last] ?? 0) - weight;
  }

  has(name: string): boolean {
    return this.#rows.has(name);
  }

  /** A value for each bucket. */
  sums(name: string): number[] {
    const row = this.#rows.get(name);
    if (row === undefined) return new Array(this.count).fill(0);
    settle(row, this.#width);
    const sums = [...row.sums.subarray(0, this.count)];
    // What is exactly at the end belongs to the last one.
    const beyond = row.sums[this.count] ?? 0;
    return beyond === 0 ? sums : sums.with(-1, (sums.at(-1) ?? 0) + beyond);
  }

  /** Of spans: how many there were on average. The last bucket ends where all does. */
  means(name: string): number[] {
    return this.sums(name).map((sum, at) => sum / Math.max(1, Math.min(this.#width, this.#endMs - at * this.#width)));
  }

  #row(name: string): Row {
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    // A span that ends with the last bucket has its difference behind it.
    const row = { sums: new Float64Array(this.#bucketsMax + 1), covers: new Float64Array(this.#bucketsMax + 1) };
    this.#rows.set(name, row);
    return row;
  }

  #bucketOf(ms: number): number {
    return Math.min(this.#bucketsMax - 1, Math.floor(ms / this.#width));
  }

  #offsetOf(ms: number): number {
    return Math.max(0, withoutCuts(ms, this.cuts) - this.originMs);
  }

  #reach(atMs: number): number {
    const at = this.#offsetOf(atMs);
    this.#lastMs = Math.max(this.#lastMs, atMs);
    this.#endMs = Math.max(this.#endMs, at);
    while (at > this.#width * this.#bucketsMax) this.#widen();
    return at;
  }

  #widen(): void {
    for (const row of this.#rows.values()) {
      settle(row, this.#width);
      const { sums } = row;
      for (let at = 0; 2 * at < this.#bucketsMax; at++) sums[at] = (sums[2 * at] ?? 0) + (sums[2 * at + 1] ?? 0);
      sums.fill(0, Math.ceil(this.#bucketsMax / 2));
    }
    this.#width *= 2;
  }
}

/** Whole buckets that spans cover become sums. */
function settle({ sums, covers }: Row, width: number): void {
  let covered = 0;
  for (let at = 0; at < sums.length; at++) {
    covered += covers[at] ?? 0;
    sums[at] = (sums[at] ?? 0) + covered * width;
  }
  covers.fill(0);
}
