import { describe, expect, it } from 'vitest';
import { plotUnits } from './browser/axis.ts';
import { stackedBars } from './plots.ts';

/** Of ends in three buckets of 100 ms each. */
const drawn = (spanMs: number): number[][] =>
  stackedBars([['succeeded', [1, 0, 1]]], { bucketMs: 100, spanMs, height: 50, most: 1 }).map(({ text }) =>
    [...text.matchAll(/(?:x|width)="(\d+)"/g)].map(([, units]) => (Number(units) * spanMs) / plotUnits),
  );

describe('bars of what ended', () => {
  it('are as wide as their time', () => {
    expect(drawn(300)).toEqual([
      [0, expect.closeTo(100, 0)],
      [expect.closeTo(200, 0), expect.closeTo(100, 0)],
    ]);
  });

  it('are wide enough to be seen when the last of them is cut off by the end of all time', () => {
    expect(drawn(201)).toEqual([
      [0, expect.closeTo(100, 0)],
      [expect.closeTo(201 - 33.3, 0), expect.closeTo(33.3, 0)],
    ]);
  });
});
