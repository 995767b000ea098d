import { expect, it } from 'vitest';
import { lookAgainMs } from './look-again.ts';

const limitBytes = 1_000_000_000;
const of = (share: number, growth = 0, ageMs = 60_000): number =>
  lookAgainMs({ limitBytes, usedBytes: share * limitBytes, growth, ageMs });

it('looks the more often the closer a task is to its limit', () => {
  expect([0.1, 0.49, 0.5, 0.79, 0.8, 1].map((share) => of(share))).toEqual([800, 800, 100, 100, 25, 25]);
});

it('looks more often at one that has just begun', () => {
  expect([0, 30, 100, 500, 5_000].map((ageMs) => of(0.1, 0, ageMs))).toEqual([20, 30, 100, 500, 800]);
});

it('looks before a task that grows on like this meets its limit, and not without pause', () => {
  expect(of(0.2, 1_000_000)).toBe(400);
  expect(of(0.4, 10_000_000)).toBe(30);
  expect(of(0.4, 1_000_000_000)).toBe(20);
  expect(of(0.4, -5)).toBe(800);
});
