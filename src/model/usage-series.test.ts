import { describe, expect, it } from 'vitest';
import { usageLimits } from './limits.ts';
import type { UsageMetric } from './states.ts';
import { spacingMsAt, UsageSeries } from './usage-series.ts';

type Sample = readonly [atMs: number, value: number];
const megabyte = 1024 * 1024;

/** Looks once a second at what has these values, one after the other. */
function seriesOf(metric: UsageMetric, values: readonly number[], tasks = 1): Sample[] {
  const samples: Sample[] = [];
  const take = (atMs: number, value: number): void => void samples.push([atMs, value]);
  const series = new UsageSeries(metric, 0);
  for (const [index, value] of values.entries()) {
    const atMs = (index + 1) * 1_000;
    series.look(atMs, value, spacingMsAt(atMs, tasks), take);
  }
  series.end(values.length * 1_000, values.at(-1) ?? 0, take);
  return samples;
}

/** Samples times their intervals. */
const areaOf = (samples: readonly Sample[]): number =>
  samples.reduce((sum, [atMs, value], index) => sum + value * (atMs - (samples[index - 1]?.[0] ?? 0)), 0) / 1_000;

const times = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);
/** Up and down all the time. */
const restless = (count: number): number[] => Array.from({ length: count }, (_, index) => 1 + ((index * 7) % 5));

describe('the series of an attempt', () => {
  it('repeats what does not change every thirty seconds only', () => {
    const samples = seriesOf('cpu', times(300, 1));
    expect(samples[0]).toEqual([1_000, 1]);
    const gaps = samples.slice(1).map(([atMs], index) => atMs - (samples[index]?.[0] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(usageLimits.silenceMs);
    expect(samples.length).toBeLessThanOrEqual(13);
  });

  it('has a sample before and one after a sudden change', () => {
    const samples = seriesOf('cpu', [...times(20, 1), ...times(20, 0)]);
    expect(samples.slice(0, 3)).toEqual([
      [1_000, 1],
      [20_000, 1],
      [21_000, 0],
    ]);
  });

  it('has all processor time that was used, however few samples there are', () => {
    for (const tasks of [1, 700]) {
      const values = restless(3_000);
      const used = values.reduce((sum, value) => sum + value, 0);
      const samples = seriesOf('cpu', values, tasks);
      expect(areaOf(samples)).toBeCloseTo(used, 3);
      expect(samples.length).toBeLessThan(600);
    }
  });

  it('misses no peak of memory', () => {
    const values = times(2_000, 50 * megabyte);
    values[1_500] = 900 * megabyte;
    expect(Math.max(...seriesOf('memory', values, 2_000).map(([, value]) => value))).toBe(900 * megabyte);
  });

  it('ignores what nobody would notice', () => {
    const values = Array.from({ length: 25 }, (_, index) => (100 + (index % 3)) * megabyte);
    expect(seriesOf('memory', values)).toHaveLength(2);
  });

  it('of a restless attempt gets sparser as it gets older', () => {
    const hours = (count: number): number =>
      seriesOf(
        'memory',
        restless(count * 3_600).map((n) => n * 1e8),
      ).length;
    expect(hours(1)).toBeLessThan(450);
    expect(hours(24)).toBeLessThan(hours(1) + 24 * 140);
  });
});
