/** The clock that a process sees: it never jumps and counts suspend (src/platform/env.ts), but may be wrong, fast or slow. */
import type { Clock, Timer } from '../src/platform/env.ts';
import type { Kernel } from './kernel.ts';
import type { Process } from './process.ts';

export interface ClockFault {
  /** By how much the wall was off when the process read it. */
  readonly offsetMs: number;
  /** Parts per million by which it runs fast. */
  readonly driftPpm: number;
}

/** Late by this much, so that what rounds down is not early. */
const lateMs = 0.001;

export function virtualClock(kernel: Kernel, process: Process, { offsetMs, driftPpm }: ClockFault): Clock {
  const startedAt = kernel.now;
  const rate = 1 + driftPpm / 1e6;
  return {
    now: () => Math.floor(startedAt + offsetMs + (kernel.now - startedAt) * rate),
    at: (time, callback): Timer => {
      const due = startedAt + (time - startedAt - offsetMs) / rate + lateMs;
      const event = kernel.post(process, due - kernel.now, 'timer', callback);
      return {
        cancel: () => {
          event.isCancelled = true;
        },
      };
    },
  };
}
