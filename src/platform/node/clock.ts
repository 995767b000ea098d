/** The real clock: the wall's time at the start, carried on by a clock that counts suspend and never jumps. */
import { readFileSync } from 'node:fs';
import type { Clock, Timer } from '../env.ts';

/**
 * Timers further away are set again on the way: Node's own stand still while the machine sleeps, and would be late by
 * as much when it wakes; and they overflow at 2^31 ms.
 */
const timerMsMax = 1_000;

/** To read the wall takes less than a microsecond, unless something comes between. */
const wallReadings = 5;

/**
 * Since boot, suspend included, in steps of 10 ms; where there is no such file, by the monotonic clock, which misses suspend.
 * The same for all processes of a machine.
 */
export function uptimeMs(): number {
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 1000;
  } catch {
    return Number(process.hrtime.bigint() / 1_000_000n);
  }
}

/**
 * What the wall says, and when: processes of a machine compare their times, so a reading during which this one was put
 * aside is taken again.
 */
function readWall(): { readonly wall: number; readonly monotonic: number } {
  let best = { wall: 0, monotonic: 0, tookMs: Number.POSITIVE_INFINITY };
  for (let reading = 0; reading < wallReadings; reading++) {
    const monotonic = performance.now();
    const wall = Date.now();
    const tookMs = performance.now() - monotonic;
    if (tookMs < best.tookMs) best = { wall, monotonic, tookMs };
  }
  return best;
}

export function realClock(): Clock {
  const { wall: wallAtStart, monotonic: monotonicAtStart } = readWall();
  const uptimeAtStart = uptimeMs();
  let suspendedMs = 0;
  let checkedAt = monotonicAtStart;

  const now = (): number => {
    const monotonic = performance.now();
    if (monotonic - checkedAt > 1_000) {
      checkedAt = monotonic;
      // Below a second the difference is the coarseness of /proc/uptime, not a suspend.
      const behind = uptimeMs() - uptimeAtStart - (monotonic - monotonicAtStart) - suspendedMs;
      if (behind > 1_000) suspendedMs += behind;
    }
    return Math.floor(wallAtStart + (monotonic - monotonicAtStart) + suspendedMs);
  };

  const at = (time: number, callback: () => void): Timer => {
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const left = time - now();
      handle = setTimeout(() => (left > timerMsMax ? arm() : callback()), Math.max(0, Math.min(left, timerMsMax)));
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  };

  return { now, at };
}
