import { expect, it } from 'vitest';
import { followersRound } from '../followers/round.ts';

it('a task that prints is followed by many at a time, none of whom misses a byte', async () => {
  const { wrong, wallMs } = await followersRound({ followers: 10, bytes: 3_000_000, ms: 1_500 });
  expect(wrong).toBe(0);
  expect(wallMs).toBeGreaterThan(1_000);
});
