import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { idleCuts, withoutCuts } from './idle.ts';
import { TimeBuckets } from './time-buckets.ts';

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const spans = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 50_000 }), fc.integer({ min: 1, max: 5 })),
  { minLength: 1, maxLength: 40 },
);

describe('buckets of time', () => {
  it('keep the sum of what is added, however often they are widened (2)', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 50 }), (rows, most) => {
        const buckets = new TimeBuckets(1_000, most);
        for (const [from, ms, weight] of rows) {
          buckets.addSpan('a', 1_000 + from, 1_000 + from + ms, weight);
          buckets.addPoint('b', 1_000 + from);
        }
        expect(total(buckets.sums('a'))).toBeCloseTo(total(rows.map(([, ms, weight]) => ms * weight)), 4);
        expect(total(buckets.sums('b'))).toBe(rows.length);
        expect(buckets.count).toBeLessThanOrEqual(most);
        expect(buckets.spanMs).toBe(Math.max(...rows.map(([from, ms]) => from + ms)));
        expect(buckets.count * buckets.widthMs).toBeGreaterThanOrEqual(buckets.spanMs);
      }),
      madeUp(),
    );
  });

  it('have in each what belongs to it', () => {
    fc.assert(
      fc.property(spans, (rows) => {
        const buckets = new TimeBuckets(0, 16);
        for (const [from, ms] of rows) buckets.addSpan('a', from, from + ms);
        const { widthMs } = buckets;
        buckets.sums('a').forEach((sum, at) => {
          const within = rows.map(([from, ms]) =>
            Math.max(0, Math.min(from + ms, (at + 1) * widthMs) - Math.max(from, at * widthMs)),
          );
          expect(sum).toBeCloseTo(total(within), 4);
        });
      }),
      madeUp(),
    );
  });

  it('tell how many there were on average, also in the last one, which may be short', () => {
    const buckets = new TimeBuckets(0, 4);
    buckets.addSpan('a', 0, 10);
    expect([buckets.widthMs, buckets.means('a')]).toEqual([4, [1, 1, 1]]);
  });

  it('take what is before the origin as at the origin (3), and what is at the end as in the last', () => {
    const buckets = new TimeBuckets(100, 8);
    buckets.addSpan('a', 50, 104);
    buckets.addPoint('b', 104);
    expect(buckets.sums('a')).toEqual([1, 1, 1, 1]);
    expect(buckets.sums('b')).toEqual([0, 0, 0, 1]);
  });

  it('leave out what is cut (4)', () => {
    const buckets = new TimeBuckets(0, 8, [{ fromMs: 10, toMs: 1_000 }]);
    buckets.addSpan('a', 0, 10);
    buckets.addSpan('a', 1_000, 1_006);
    buckets.addSpan('slots', 0, 1_006);
    expect([buckets.spanMs, buckets.lastMs]).toEqual([16, 1_006]);
    expect(buckets.means('a')).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(buckets.means('slots')).toEqual(buckets.means('a'));
  });
});

describe('idle times', () => {
  it('are cut out where they are most of it, each as far as nothing ran', () => {
    const busy = [1, 1, ...Array(30).fill(0), 1, 0, 1, ...Array(20).fill(0), 2];
    const cuts = idleCuts(busy, 1_000, 10);
    expect(cuts).toEqual([
      { fromMs: 1_020, toMs: 1_320 },
      { fromMs: 1_350, toMs: 1_550 },
    ]);
    expect([1_000, 1_020, 1_200, 1_320, 1_349, 1_560].map((ms) => withoutCuts(ms, cuts))).toEqual([
      1_000, 1_020, 1_020, 1_020, 1_049, 1_060,
    ]);
  });

  it('are left in where they make little difference', () => {
    expect(idleCuts([1, 1, 1, 0, 0, 1, 1, 1], 0, 1)).toEqual([]);
    expect(idleCuts([], 0, 1)).toEqual([]);
  });
});
