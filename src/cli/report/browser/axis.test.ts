import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../../test/set-up/made-up.ts';
import { realMs, showMs, ticksOf } from './axis.ts';

describe('ticks', () => {
  it('are in order, within what is shown, and not too many', () => {
    const range = fc.tuple(fc.nat(1e9), fc.integer({ min: 1, max: 1e12 }), fc.integer({ min: 2, max: 30 }));
    fc.assert(
      fc.property(range, ([from, length, most]) => {
        const ticks = ticksOf(from, from + length, most, []);
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        for (const [at, { ms }] of ticks.entries()) {
          expect(ms).toBeGreaterThanOrEqual(from);
          expect(ms).toBeLessThanOrEqual(from + length);
          if (at > 0) expect(ms).toBeGreaterThan(ticks[at - 1]?.ms ?? 0);
        }
      }),
      madeUp(),
    );
  });

  it('are at round times', () => {
    const labels = (to: number): string[] => ticksOf(0, to, 5, []).map(({ label }) => label);
    expect(labels(10)).toEqual(['0', '2 ms', '4 ms', '6 ms', '8 ms', '10 ms']);
    expect(labels(2_300)).toEqual(['0', '500 ms', '1 s', '1.5 s', '2 s']);
    expect(labels(7_200_000)).toEqual(['0', '30m', '1h', '1h 30m', '2h']);
    expect(labels(40 * 86_400_000)).toEqual(['0', '10d', '20d', '30d', '40d']);
  });

  it('tell the real time behind what is cut out', () => {
    const cuts = [[10_000, 3_600_000]] as const;
    expect([9_999, 10_000, 12_000].map((ms) => realMs(ms, cuts))).toEqual([9_999, 3_610_000, 3_612_000]);
    expect(ticksOf(0, 20_000, 4, cuts)).toEqual([
      { ms: 0, label: '0' },
      { ms: 5_000, label: '5 s' },
      { ms: 10_000, label: '10 s' },
      { ms: 15_000, label: '1h 15s' },
      { ms: 20_000, label: '1h 20s' },
    ]);
  });
});

it.each([
  [0, '0 ms'],
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1_234, '1.23 s'],
  [59_999, '60 s'],
  [60_000, '1m'],
  [3_599_600, '1h'],
  [93_784_000, '1d 2h'],
])('%d ms is shown as %s', (ms, text) => {
  expect(showMs(ms)).toBe(text);
});
