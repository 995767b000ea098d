/**
 * Which looks at what an attempt uses become samples of its series. What has not changed noticeably is not worth one, and
 * no look is lost by that: a sample stands for the time since the one before it.
 *
 * Owns what was looked at since the last sample.
 * 1. A sample of memory is the most that was seen since the one before: no peak that was seen is missing.
 * 2. A sample of processors or GPUs is their mean since the one before: the samples times their intervals are all that
 *    was used.
 * 3. Where something changes all of a sudden there is a sample before and one after it.
 */
import { usageLimits } from './limits.ts';
import type { UsageMetric } from './states.ts';

export type TakeSample = (atMs: number, value: number) => void;

/** What is noticed: more than this, and more than this share of what was told last. */
const noticed: Readonly<Record<UsageMetric, { readonly least: number; readonly share: number }>> = {
  memory: { least: 1024 * 1024, share: 0.05 },
  cpu: { least: 0.05, share: 0.1 },
  gpu: { least: 0.05, share: 0.1 },
};
/** Looks are at regular times, more or less. */
const tolerance = 0.9;
/** The next look may come this much later. */
const lookMs = 1_000;

export class UsageSeries {
  readonly #metric: UsageMetric;
  /** The last sample; before the first, the start. */
  #toldMs: number;
  #told: number | undefined;
  /** The last look, and what was since the last sample until then. */
  #lookedMs: number;
  #most = 0;
  #area = 0;

  constructor(metric: UsageMetric, startedMs: number) {
    this.#metric = metric;
    this.#toldMs = startedMs;
    this.#lookedMs = startedMs;
  }

  /** `value`: of memory, now; of others, the mean since the last look. */
  look(atMs: number, value: number, spacingMs: number, take: TakeSample): void {
    const isSudden = this.#isNoticeable(value);
    if (isSudden && this.#lookedMs - this.#toldMs >= spacingMs * tolerance) this.#tell(take);
    this.#add(atMs, value);
    const sinceMs = atMs - this.#toldMs;
    if (sinceMs >= (isSudden ? spacingMs * tolerance : usageLimits.silenceMs - lookMs)) this.#tell(take);
  }

  /** The last sample: nothing follows. */
  end(atMs: number, value: number, take: TakeSample): void {
    this.#add(atMs, value);
    if (this.#lookedMs > this.#toldMs) this.#tell(take);
  }

  #isNoticeable(value: number): boolean {
    if (this.#told === undefined) return true;
    const { least, share } = noticed[this.#metric];
    return Math.abs(value - this.#told) > Math.max(least, share * this.#told);
  }

  #add(atMs: number, value: number): void {
    this.#most = Math.max(this.#most, value);
    this.#area += value * Math.max(0, atMs - this.#lookedMs);
    this.#lookedMs = Math.max(this.#lookedMs, atMs);
  }

  #tell(take: TakeSample): void {
    const passedMs = this.#lookedMs - this.#toldMs;
    const value = this.#metric === 'memory' ? this.#most : this.#area / Math.max(1, passedMs);
    this.#toldMs = this.#lookedMs;
    this.#told = value;
    this.#most = 0;
    this.#area = 0;
    take(this.#lookedMs, value);
  }
}

/** How far samples of an attempt of that age are apart, at least. */
export const spacingMsAt = (ageMs: number, tasks: number): number =>
  Math.min(
    usageLimits.silenceMs,
    Math.max(lookMs, ageMs * usageLimits.spacingShare, (tasks / usageLimits.tasksPerSecond) * 1_000),
  );
