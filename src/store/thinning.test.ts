import { describe, expect, it } from 'vitest';
import { usageSamplesMax } from '../model/limits.ts';
import { strideAt, superfluousAt } from './thinning.ts';

/** The numbers that are there after so many samples. */
function keptAfter(count: number): number[] {
  let kept: number[] = [];
  for (let number = 1; number <= count; number++) {
    const what = superfluousAt(number);
    if (what === 'the last') kept.pop();
    if (what === 'off stride') kept = kept.filter((one) => one % strideAt(number) === 0);
    kept.push(number);
  }
  return kept;
}

describe('usage samples', () => {
  it('are all kept up to the limit', () => {
    expect(keptAfter(usageSamplesMax)).toHaveLength(usageSamplesMax);
  });

  it('are thinned past it, and spread evenly; the last one is always there', () => {
    for (const count of [usageSamplesMax + 1, 3 * usageSamplesMax, 10_007]) {
      const kept = keptAfter(count);
      expect(kept.length).toBeLessThanOrEqual(usageSamplesMax + 1);
      expect(kept.length).toBeGreaterThanOrEqual(usageSamplesMax / 2);
      expect(kept.at(-1)).toBe(count);
      const gaps = kept.slice(1, -1).map((number, at) => number - (kept[at] as number));
      expect(new Set(gaps).size).toBe(1);
    }
  });
});
