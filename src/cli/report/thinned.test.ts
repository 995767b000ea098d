import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reportLimits } from '../../model/limits.ts';
import { thinned } from './thinned.ts';

it('a series is short enough to be drawn, in order, and has its greatest value still', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1e9), { minLength: 1, maxLength: 2_000 }), (values) => {
      const kept = thinned(
        values.map((value, at) => ({ at: new Date(1_000 + at * 10).toISOString(), value })),
        1_000,
      );
      expect(kept.length).toBeLessThanOrEqual(reportLimits.samplesMax);
      expect(Math.max(...kept.map(({ value }) => value))).toBe(Math.max(...values));
      expect(kept.every(({ ms }, at) => at === 0 || ms > (kept[at - 1]?.ms ?? 0))).toBe(true);
    }),
  );
});
