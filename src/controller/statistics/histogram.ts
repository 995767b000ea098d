/**
 * How values are distributed, in buckets that grow by a constant factor: any quantile is right within `relativeError`,
 * whatever the values are. Two of them can be added up, and the sum is what one of all values would be.
 *
 * Owns: counts of consecutive buckets, from the least to the greatest that a value fell into.
 * 1. `count` is the sum of the counts. 2. Least, greatest and sum are exact.
 */

export const relativeError = 0.02;

const growth = (1 + relativeError) / (1 - relativeError);
const perBucket = 1 / Math.log(growth);
/** Far beyond every size and every time. */
const bucketsMax = 2_048;

/** Bucket 0 has what is less than 1; bucket b what is more than growth^(b-2), up to growth^(b-1). */
const findBucket = (value: number): number =>
  value < 1 ? 0 : Math.min(bucketsMax, 1 + Math.ceil(Math.log(value) * perBucket));

/** Most values are ms, and few: to look one up takes a tenth of a logarithm. */
const small = Uint16Array.from({ length: 4_096 }, (_, value) => findBucket(value));

export const bucketOf = (value: number): number =>
  value >= 0 && value < small.length && Number.isInteger(value) ? (small[value] as number) : findBucket(value);

const upperOf = (bucket: number): number => (bucket === 0 ? 1 : growth ** (bucket - 1));
/** The value that is as far, relatively, from both ends of its bucket. */
const middleOf = (bucket: number): number => (bucket === 0 ? 0 : (2 * growth ** (bucket - 1)) / (growth + 1));

export interface Bar {
  /** All values of it are at most this; those of the bar before it are less. */
  readonly upTo: number;
  readonly count: number;
}

const none = new Uint32Array(0);

export class Histogram {
  count = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = 0;
  #first = 0;
  #counts = none;

  /** `bucket` is `bucketOf(value)`: who adds a value to several histograms finds it once. */
  add(value: number, bucket: number): void {
    this.count++;
    this.sum += value;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    const at = bucket - this.#first;
    if (at < 0 || at >= this.#counts.length) this.#reach(bucket);
    (this.#counts[bucket - this.#first] as number)++;
  }

  addAll(other: Histogram): void {
    if (other.count === 0) return;
    this.count += other.count;
    this.sum += other.sum;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    this.#reach(other.#first);
    this.#reach(other.#first + other.#counts.length - 1);
    const shift = other.#first - this.#first;
    for (let at = 0; at < other.#counts.length; at++) {
      this.#counts[shift + at] = (this.#counts[shift + at] as number) + (other.#counts[at] as number);
    }
  }

  /** The value that so large a part of all values does not exceed. There must be one. */
  quantile(part: number): number {
    const rank = Math.max(1, Math.ceil(part * this.count));
    let seen = 0;
    for (let at = 0; at < this.#counts.length; at++) {
      seen += this.#counts[at] as number;
      if (seen >= rank) return Math.min(this.max, Math.max(this.min, middleOf(this.#first + at)));
    }
    return this.max;
  }

  /** At most so many, of equal width on a logarithmic scale; none at the ends is empty. */
  bars(most: number): Bar[] {
    if (this.count === 0) return [];
    const isFilled = (count: number): boolean => count > 0;
    const from = this.#counts.findIndex(isFilled);
    const to = this.#counts.findLastIndex(isFilled);
    const width = Math.ceil((to - from + 1) / most);
    const bars: Bar[] = [];
    for (let start = from; start <= to; start += width) {
      const end = Math.min(to, start + width - 1);
      let count = 0;
      for (let at = start; at <= end; at++) count += this.#counts[at] as number;
      bars.push({ upTo: end === to ? this.max : upperOf(this.#first + end), count });
    }
    return bars;
  }

  /** Makes room for that bucket, and for some beyond it, since others will follow. */
  #reach(bucket: number): void {
    const last = this.#first + this.#counts.length - 1;
    if (this.#counts.length > 0 && bucket >= this.#first && bucket <= last) return;
    const isFirst = this.#counts.length === 0;
    const from = isFirst ? bucket : Math.min(this.#first, bucket);
    const to = isFirst ? bucket : Math.max(last, bucket);
    const spare = 4 + ((to - from) >> 3);
    const first = bucket === from ? Math.max(0, from - spare) : from;
    const end = bucket === to ? to + spare : to;
    const grown = new Uint32Array(end - first + 1);
    if (!isFirst) grown.set(this.#counts, this.#first - first);
    this.#first = first;
    this.#counts = grown;
  }
}
