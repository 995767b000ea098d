import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { reportLimits } from '../../model/limits.ts';
import { thinned } from './thinned.ts';

const startMs = 1_000;
const everyMs = 10;
const series = (values: readonly number[]) =>
  values.map((value, at) => ({ at: new Date(startMs + (at + 1) * everyMs).toISOString(), value }));
const values = fc.array(fc.nat(1e9), { minLength: 1, maxLength: 2_000 });

describe('a series', () => {
  it('is short enough to be drawn, in order, until its end, and has its greatest value still', () => {
    fc.assert(
      fc.property(values, (all) => {
        const kept = thinned(series(all), startMs, 'most');
        expect(kept.length).toBeLessThanOrEqual(reportLimits.samplesMax);
        expect(Math.max(...kept.map(({ value }) => value))).toBe(Math.max(...all));
        expect(kept.every(({ ms }, at) => ms > (kept[at - 1]?.ms ?? 0))).toBe(true);
        expect(kept.at(-1)?.ms).toBe(all.length * everyMs);
      }),
      madeUp(),
    );
  });

  it('of processors has all that was used still', () => {
    fc.assert(
      fc.property(values, (all) => {
        const kept = thinned(series(all), startMs, 'mean');
        const used = kept.reduce((sum, { ms, value }, at) => sum + value * (ms - (kept[at - 1]?.ms ?? 0)), 0);
        const exact = all.reduce((sum, value) => sum + value * everyMs, 0);
        expect(Math.abs(used - exact)).toBeLessThanOrEqual(all.length * everyMs * 0.001);
      }),
      madeUp(),
    );
  });

  it('that came in another order is drawn in that of time', () => {
    expect(thinned(series([1, 2, 3]).reverse(), startMs, 'most')).toEqual([
      { ms: 10, value: 1 },
      { ms: 20, value: 2 },
      { ms: 30, value: 3 },
    ]);
  });

  it('that begins before its attempt does, by another clock, is drawn from its start', () => {
    const kept = thinned(series([1, 2]), startMs + 100, 'mean');
    expect(kept).toEqual([
      { ms: 0, value: 1 },
      { ms: 0, value: 2 },
    ]);
  });
});
