import { expect, it } from 'vitest';
import { Rates } from './rates.ts';

const hour = 3_600_000;
const now = 500_000 * hour;

it('counts ends by interval, the oldest first', () => {
  const rates = new Rates();
  rates.add(now - 1_000, 'done', 3);
  rates.add(now, 'done', 2);
  rates.add(now + 10, 'failed', 1);
  const { ends, intervalMs, lastBegins } = rates.series('second', now + 500);
  expect([intervalMs, lastBegins, ends.done.length]).toEqual([1_000, now, 60]);
  expect(ends.done.slice(-3)).toEqual([0, 3, 2]);
  expect(ends.failed.slice(-2)).toEqual([0, 1]);
});

it('forgets what is older than its oldest interval, be it told late or passed by', () => {
  const rates = new Rates();
  rates.add(now, 'done', 1);
  rates.add(now - 60_000, 'done', 5);
  expect(rates.series('second', now).ends.done.reduce((a, b) => a + b)).toBe(1);
  expect(rates.series('minute', now).ends.done.slice(-2)).toEqual([5, 1]);
  expect(rates.series('second', now + 60_000).ends.done.reduce((a, b) => a + b)).toBe(0);
});

it('of several workflows add up', () => {
  const [one, other] = [new Rates(), new Rates()];
  one.add(now, 'done', 1);
  other.add(now, 'done', 2);
  other.add(now - hour, 'cancelled', 4);
  one.addAll(other);
  expect(one.series('hour', now).ends.done.at(-1)).toBe(3);
  expect(one.series('hour', now).ends.cancelled.at(-2)).toBe(4);
});

it('are as fast as it went lately, else as it went before, and unknown where nothing ended', () => {
  const rates = new Rates();
  expect(rates.perSecond(now, 0)).toBeUndefined();
  rates.add(now, 'done', 100);
  expect(rates.perSecond(now + 10_000, now)).toBe(10);
  expect(rates.perSecond(now + 200_000, now)).toBe(0.5);
});
