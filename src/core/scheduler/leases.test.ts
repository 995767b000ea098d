import { expect, it } from 'vitest';
import { Leases } from './leases.ts';

it('gives those that have ended, once, in the order of their ends', () => {
  const leases = new Leases<number>();
  leases.extend(1, 300);
  leases.extend(2, 100);
  leases.extend(3, 200);
  expect(leases.nextLook).toBe(100);
  expect(leases.takeEnded(99)).toEqual([]);
  expect(leases.takeEnded(200)).toEqual([2, 3]);
  expect(leases.takeEnded(200)).toEqual([]);
  expect([leases.endOf(1), leases.endOf(2)]).toEqual([300, undefined]);
});

it('is extended and never shortened', () => {
  const leases = new Leases<number>();
  leases.extend(1, 100);
  leases.extend(1, 500);
  leases.extend(1, 200);
  expect(leases.takeEnded(499)).toEqual([]);
  expect(leases.nextLook).toBe(500);
  expect(leases.takeEnded(500)).toEqual([1]);
  expect(leases.nextLook).toBe(Number.POSITIVE_INFINITY);
});

it('forgets what was dropped', () => {
  const leases = new Leases<number>();
  leases.extend(1, 100);
  leases.drop(1);
  expect(leases.takeEnded(100)).toEqual([]);
});
