/** The real clock: the wall's time at the start, carried on by a clock that counts suspend and never jumps. */
import { readFileSync } from 'node:fs';
import type { Clock, Timer } from '../env.ts';

/**
 * Timers further away are set again on the way: Node's own stand still while the machine sleeps, and would be late by
 * as much when it wakes; and they overflow at 2^31 ms.
 */
const timerMsMax = 1_000;

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

export function realClock(): Clock {
  const wallAtStart = Date.now();
  const uptimeAtStart = uptimeMs();
  const monotonicAtStart = performance.now();
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
