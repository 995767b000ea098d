import { describe, expect, it } from 'vitest';
import { Buckets } from './buckets.ts';

describe('a bucket', () => {
  const rate = { perSecond: 10, burst: 3 };

  it('gives its burst at once, then as many as come in, and says how long the next one takes', () => {
    const buckets = new Buckets(rate, 10);
    expect([1, 2, 3, 4].map(() => buckets.take('a', 1_000))).toEqual([0, 0, 0, 100]);
    expect(buckets.take('a', 1_050)).toBe(50);
    expect(buckets.take('a', 1_100)).toBe(0);
    expect(buckets.take('a', 1_100)).toBe(100);
    expect([1, 2, 3, 4].map(() => buckets.take('a', 99_000))).toEqual([0, 0, 0, 100]);
  });

  it('is nobody else’s', () => {
    const buckets = new Buckets(rate, 10);
    for (let n = 0; n < 5; n++) buckets.take('a', 1_000);
    expect(buckets.take('b', 1_000)).toBe(0);
  });

  it('bears a clock that goes back', () => {
    const buckets = new Buckets(rate, 10);
    for (let n = 0; n < 3; n++) buckets.take('a', 5_000);
    expect(buckets.take('a', 1_000)).toBe(100);
    expect(buckets.take('a', 1_100)).toBe(0);
  });

  it('1: is forgotten when there are too many, the one that was used longest ago first', () => {
    const buckets = new Buckets({ perSecond: 1, burst: 1 }, 2);
    for (const key of ['a', 'b', 'a', 'c']) buckets.take(key, 1_000);
    expect(buckets.take('a', 1_000)).toBeGreaterThan(0);
    expect(buckets.take('b', 1_000)).toBe(0);
  });
});
