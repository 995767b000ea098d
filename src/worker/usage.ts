/**
 * What attempts use, on its way from the spawner to the controller: collected for a few seconds, so that one message does for all
 * attempts, and told to a controller that takes it. Of GPUs, which the spawner does not know, the series are made here.
 *
 * Owns: samples that were not told yet, and the series of GPUs.
 * 1. Samples of an attempt are told before its end, or never.
 * 2. Nothing waits for them, nothing is repeated, and no more than a limit is held: without a controller they are lost.
 */
import { usageLimits } from '../model/limits.ts';
import type { UsageMetric } from '../model/states.ts';
import { spacingMsAt, UsageSeries } from '../model/usage-series.ts';
import type { GpuReading } from '../platform/env.ts';
import type { TaskSample } from '../protocol/spawner.ts';
import type { UsageSeriesPart } from '../protocol/worker.ts';
import type { Association } from './association.ts';
import type { Effect } from './messages.ts';

/** An attempt that runs with GPUs of its own. */
export interface GpuHolder {
  readonly attempt: number;
  readonly startedAt: number;
  /** As programs know them. */
  readonly gpus: readonly string[];
}

interface Held {
  readonly attempt: number;
  readonly metric: UsageMetric;
  readonly at: number;
  readonly value: number;
}

export class Usage {
  readonly #association: Association;
  readonly #instance: string;
  #held: Held[] = [];
  readonly #attemptsHeld = new Set<number>();
  #dueAt = Number.POSITIVE_INFINITY;
  readonly #gpuSeries = new Map<number, { readonly series: UsageSeries; use: number }>();

  constructor(association: Association, instance: string) {
    this.#association = association;
    this.#instance = instance;
  }

  /** When what is held has waited for others long enough. */
  get dueAt(): number {
    return this.#dueAt;
  }

  onSamples(samples: readonly TaskSample[], now: number): void {
    // A health check is no attempt.
    for (const [attempt, metric, at, value] of samples)
      if (attempt > 0) this.#hold({ attempt, metric, at, value }, now);
  }

  /** GPUs are with one attempt at a time: what they do is its doing. */
  onGpus(readings: readonly GpuReading[], holders: readonly GpuHolder[], now: number): void {
    const held = new Set(holders.map(({ attempt }) => attempt));
    for (const attempt of this.#gpuSeries.keys()) if (!held.has(attempt)) this.#gpuSeries.delete(attempt);
    for (const { attempt, startedAt, gpus } of holders) {
      const own = readings.filter(({ index, uuid }) => gpus.some((name) => name === index || isShortFor(name, uuid)));
      if (own.length === 0 || now - startedAt < usageLimits.fromMs) continue;
      const known = this.#gpuSeries.get(attempt) ?? { series: new UsageSeries('gpu', startedAt), use: 0 };
      this.#gpuSeries.set(attempt, known);
      known.use = own.reduce((sum, { use }) => sum + use, 0);
      const spacingMs = spacingMsAt(now - startedAt, holders.length);
      known.series.look(now, known.use, spacingMs, (at, value) => this.#holdGpus(attempt, at, value, now));
    }
  }

  /** The samples of an attempt that has ended have to be told at once, if at all. */
  onEnd(attempt: number, now: number): void {
    const gpus = this.#gpuSeries.get(attempt);
    this.#gpuSeries.delete(attempt);
    gpus?.series.end(now, gpus.use, (at, value) => this.#holdGpus(attempt, at, value, now));
    if (this.#attemptsHeld.has(attempt)) this.#dueAt = now;
  }

  flushIfDue(now: number, effects: Effect[]): void {
    if (now < this.#dueAt) return;
    const held = this.#held;
    this.#held = [];
    this.#attemptsHeld.clear();
    this.#dueAt = Number.POSITIVE_INFINITY;
    const { scheduler, isGreeted, takesUsage } = this.#association;
    if (scheduler === undefined || !isGreeted || !takesUsage) return;
    for (let from = 0; from < held.length; from += usageLimits.messageSamplesMax) {
      const series = seriesOf(held.slice(from, from + usageLimits.messageSamplesMax));
      effects.push({ type: 'send', message: { t: 'usage', scheduler, instance: this.#instance, series } });
    }
  }

  #holdGpus(attempt: number, at: number, value: number, now: number): void {
    this.#hold({ attempt, metric: 'gpu', at: Math.round(at), value: Math.round(value * 1_000) / 1_000 }, now);
  }

  #hold(sample: Held, now: number): void {
    if (this.#held.length >= usageLimits.heldMax) return;
    if (this.#held.length === 0) this.#dueAt = now + usageLimits.workerBatchMs;
    this.#held.push(sample);
    this.#attemptsHeld.add(sample.attempt);
  }
}

/** A UUID may be given by its first characters. */
const isShortFor = (name: string, uuid: string): boolean => name.startsWith('GPU-') && uuid.startsWith(name);

function seriesOf(held: readonly Held[]): UsageSeriesPart[] {
  const parts = new Map<string, UsageSeriesPart>();
  for (const { attempt, metric, at, value } of held) {
    const key = `${attempt} ${metric}`;
    const known = parts.get(key);
    if (known === undefined) parts.set(key, { attempt, metric, samples: [{ at, value }] });
    else known.samples.push({ at, value });
  }
  return [...parts.values()];
}
