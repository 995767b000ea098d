import { describe, expect, it } from 'vitest';
import { reportLimits } from '../../model/limits.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import { criticalPath } from './critical-path.ts';
import type { Started } from './tally.ts';

const ran = (index: number, startMs: number, endMs: number, number = 1): Started => ({
  ...{ attempt: `w1.${index}#${number}`, worker: 'k1', host: 'h', startMs, endMs, tone: 'succeeded' },
});
const edge = (parents: [number, number], children: [number, number]): EdgeSpec => ({
  ...{ parents, children, after: 'success' },
});

describe('the critical path', () => {
  it('leads through a barrier, from the last that it waited for', () => {
    const attempts = [ran(1, 0, 10), ran(2, 0, 30), ran(4, 35, 40)];
    expect(criticalPath(attempts, [edge([1, 2], [3, 3]), edge([3, 3], [4, 4])], -3)).toEqual({
      steps: [
        { attempt: 'w1.2#1', waitedMs: 3, ms: 30 },
        { attempt: 'w1.4#1', waitedMs: 5, ms: 5 },
      ],
      waitedMs: 8,
      ms: 35,
    });
  });

  it('has the last attempt of what was tried several times', () => {
    const attempts = [ran(1, 0, 10), ran(1, 20, 50, 2), ran(2, 50, 51), ran(3, 0, 45)];
    const path = criticalPath(attempts, [edge([1, 1], [2, 2]), edge([3, 3], [2, 2])], 0);
    expect(path?.steps.map(({ attempt }) => attempt)).toEqual(['w1.1#2', 'w1.2#1']);
  });

  it('is none where nothing waits, or nothing ran', () => {
    expect(criticalPath([ran(1, 0, 1)], [], 0)).toBeUndefined();
    expect(criticalPath([], [edge([1, 1], [2, 2])], 0)).toBeUndefined();
    expect(criticalPath([ran(1, 0, 1)], [edge([1, 1], [2, 2])], 0)).toBeUndefined();
  });

  it('of a long chain tells the last steps, and how many are before them', () => {
    const length = 3_000;
    const attempts = Array.from({ length }, (_, at) => ran(at + 1, at * 10, at * 10 + 10));
    const edges = attempts.slice(1).map((_, at) => edge([at + 1, at + 1], [at + 2, at + 2]));
    const path = criticalPath(attempts, edges, 0);
    expect(path?.steps).toHaveLength(reportLimits.pathMax);
    expect(path?.left).toBe(length - reportLimits.pathMax);
    expect(path?.ms).toBe(10 * length);
    expect(path?.steps.at(-1)?.attempt).toBe(`w1.${length}#1`);
  });
});
