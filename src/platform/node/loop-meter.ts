/**
 * How late the event loop is, in a process whose users wait for it.
 *
 * Owns: the histogram of the window that is being filled, and what the window before it came to.
 * 1. What it tells covers the last whole window and the one under way, or all since `restart`; of the two the worse.
 *    So a figure never gets better because it was looked at, or because a window has just begun.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { LoopDelay, LoopMeter } from '../env.ts';

/** A wake-up each: a hundred a second cost nothing that can be measured. */
const resolutionMs = 10;
const windowMsDefault = 60_000;

export class NodeLoopMeter implements LoopMeter {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly #timer: NodeJS.Timeout;
  #since = performance.now();
  #before: LoopDelay | undefined;

  constructor(windowMs = windowMsDefault) {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#turn(), windowMs).unref();
  }

  read(): LoopDelay {
    const [now, before] = [this.#current(), this.#before];
    if (before === undefined) return now;
    const worse = (name: 'p50' | 'p99' | 'max'): number => Math.max(now[name], before[name]);
    return { p50: worse('p50'), p99: worse('p99'), max: worse('max'), overMs: now.overMs + before.overMs };
  }

  restart(): void {
    this.#before = undefined;
    this.#begin();
    this.#timer.refresh();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #turn(): void {
    this.#before = this.#current();
    this.#begin();
  }

  #begin(): void {
    this.#histogram.reset();
    this.#since = performance.now();
  }

  #current(): LoopDelay {
    const overMs = Math.round(performance.now() - this.#since);
    // Empty, its greatest value is 0 and its percentiles are too.
    const { max } = this.#histogram;
    const at = (percent: number): number => delayMs(this.#histogram.percentile(percent));
    return { p50: at(50), p99: at(99), max: delayMs(max), overMs };
  }
}

/** It counts the time between two wake-ups, of which the resolution is none of the delay. */
const delayMs = (nanoseconds: number): number => Math.max(0, Math.round(10 * (nanoseconds / 1e6 - resolutionMs)) / 10);
