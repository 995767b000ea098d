import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { bucketOf, Histogram, relativeError } from './histogram.ts';

const histogramOf = (values: readonly number[]): Histogram => {
  const histogram = new Histogram();
  for (const value of values) histogram.add(value, bucketOf(value));
  return histogram;
};

const values = fc.array(fc.oneof(fc.nat(10), fc.nat(100_000), fc.nat(1_000_000_000_000)), {
  minLength: 1,
  maxLength: 300,
});

describe('a histogram', () => {
  it('has every quantile within its relative error', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0.01, max: 1, noNaN: true }), (all, part) => {
        const sorted = all.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(part * all.length)) - 1] as number;
        const found = histogramOf(all).quantile(part);
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(relativeError * exact * 1.0001);
      }),
      madeUp(),
    );
  });

  it('knows count, sum, least and greatest exactly', () => {
    const { count, sum, min, max } = histogramOf([5, 1_000_000, 0, 7]);
    expect({ count, sum, min, max }).toEqual({ count: 4, sum: 1_000_012, min: 0, max: 1_000_000 });
  });

  it('added to another is what one of all values is', () => {
    fc.assert(
      fc.property(values, values, (some, others) => {
        const sum = histogramOf(some);
        sum.addAll(histogramOf(others));
        const whole = histogramOf([...some, ...others]);
        expect(sum.count).toBe(whole.count);
        for (const part of [0.01, 0.5, 0.9, 1]) expect(sum.quantile(part)).toBe(whole.quantile(part));
        expect(sum.bars(7)).toEqual(whole.bars(7));
      }),
      madeUp(),
    );
  });

  it('has bars that hold all values, as many as were asked for at most', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 30 }), (all, most) => {
        const bars = histogramOf(all).bars(most);
        expect(bars.length).toBeLessThanOrEqual(most);
        expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(all.length);
        expect(bars.at(-1)?.upTo).toBe(Math.max(...all));
        expect(bars.at(-1)?.count).toBeGreaterThan(0);
      }),
      madeUp(),
    );
  });

  it('takes little memory for values that lie close together, and a bounded amount for any', () => {
    expect(bucketOf(Number.MAX_VALUE)).toBeLessThanOrEqual(2_048);
    expect(histogramOf([]).bars(10)).toEqual([]);
  });
});
