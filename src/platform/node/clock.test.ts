import { afterEach, describe, expect, it, vi } from 'vitest';
import { realClock } from './clock.ts';

afterEach(() => vi.restoreAllMocks());

const hourMs = 3_600_000;

describe('the clock', () => {
  it.each([hourMs, -hourMs, 24 * 365 * hourMs])('does not move when the wall clock is set by %i ms', (byMs) => {
    const clock = realClock();
    const before = clock.now();
    const wall = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(wall + byMs);
    const moved = clock.now() - before;
    expect(moved).toBeGreaterThanOrEqual(0);
    expect(moved).toBeLessThan(1_000);
  });

  it('calls back in time although the wall clock is set meanwhile', async () => {
    const clock = realClock();
    const begin = performance.now();
    const called = new Promise<void>((done) => clock.at(clock.now() + 50, done));
    const wall = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(wall - hourMs);
    await called;
    expect(performance.now() - begin).toBeGreaterThanOrEqual(45);
  });
});
