/**
 * What attempts use, as workers of either kind report it. It decides nothing, and is in no history.
 *
 * Owns the samples that came in this turn. Past a limit those of our own workers are dropped: they were not promised
 * anything, and the next ones follow.
 */
import type { WorkerRecord } from '../core/worker.ts';
import { attemptId } from '../model/ids.ts';
import { usageLimits } from '../model/limits.ts';
import type { UsageSeriesPart } from '../protocol/worker.ts';
import type { UsageSample } from '../store/store.ts';

export class UsageSamples {
  #samples: UsageSample[] = [];

  add(samples: readonly UsageSample[]): void {
    this.#samples.push(...samples);
  }

  /** Of attempts that run there, as far as it is known; what comes after their end is too late. */
  addOf(worker: WorkerRecord, series: readonly UsageSeriesPart[]): void {
    for (const { attempt: number, metric, samples } of series) {
      const attempt = attemptId(number);
      if (!worker.attempts.has(attempt) || this.#samples.length >= usageLimits.turnSamplesMax) continue;
      this.add(samples.map(({ at, value }) => ({ attempt, metric, at: Math.round(at), value })));
    }
  }

  take(): readonly UsageSample[] {
    const samples = this.#samples;
    this.#samples = [];
    return samples;
  }
}
