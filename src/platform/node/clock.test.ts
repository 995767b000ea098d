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

  it('agrees with other clocks of the machine, although it was put aside while it read the wall', () => {
    const wall = Date.now.bind(Date);
    const putAside = (): number => {
      const read = wall();
      const until = performance.now() + 20;
      while (performance.now() < until);
      return read;
    };
    vi.spyOn(Date, 'now').mockImplementationOnce(putAside);
    const late = realClock();
    const other = realClock();
    const before = other.now();
    const said = late.now();
    // Each wall is read in whole milliseconds, and each time is told in such.
    expect(said).toBeGreaterThanOrEqual(before - 2);
    expect(said).toBeLessThanOrEqual(other.now() + 2);
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
