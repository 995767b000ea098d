/**
 * What is known of the attempts of one group that ended: how long they waited and ran, what they used, what they had asked
 * for, and what should be asked for next time. Everything in it can be added up.
 */
import type { Need } from '../../model/need.ts';
import { Recommendation, type Recommended } from '../../model/recommendation.ts';
import { outcomeKinds } from '../../model/states.ts';
import { bucketOf, Histogram } from './histogram.ts';

export type OutcomeKind = (typeof outcomeKinds)[number];

/** One ended attempt. Negative for what is not known: it is filled in for each of them, and nothing is allocated. */
export interface Ended {
  outcome: number;
  /** From when it was queued to its start; from its start to its end; both. */
  waitingMs: number;
  runningMs: number;
  totalMs: number;
  /** As the worker measured them. */
  wallMs: number;
  cpuMs: number;
  peakBytes: number;
  need: Need;
}

export const succeeded = outcomeKinds.indexOf('succeeded');

/** Where its values fall, found once for all cells. */
export interface Buckets {
  waiting: number;
  running: number;
  total: number;
  memory: number;
}

export function findBuckets({ waitingMs, runningMs, totalMs, peakBytes }: Ended, into: Buckets): void {
  into.waiting = bucketOf(waitingMs);
  into.running = bucketOf(runningMs);
  into.total = bucketOf(totalMs);
  into.memory = bucketOf(peakBytes);
}

/** Of attempts of which both are known. */
class Comparison {
  count = 0;
  requested = 0;
  used = 0;

  add(requested: number, used: number): void {
    this.count++;
    this.requested += requested;
    this.used += used;
  }

  addAll(other: Comparison): void {
    this.count += other.count;
    this.requested += other.requested;
    this.used += other.used;
  }
}

export class Cell {
  readonly outcomes = new Uint32Array(outcomeKinds.length);
  readonly waiting = new Histogram();
  readonly running = new Histogram();
  readonly total = new Histogram();
  readonly memory = new Histogram();
  readonly asked = { memory: new Comparison(), runtime: new Comparison(), cpus: new Comparison() };
  /** Of attempts that were measured. */
  wallMs = 0;
  cpuMs = 0;
  /** By those that succeeded. */
  readonly #recommendation = new Recommendation();

  add(end: Ended, buckets: Buckets): void {
    const { outcome, waitingMs, runningMs, totalMs, peakBytes, wallMs } = end;
    this.outcomes[outcome] = (this.outcomes[outcome] as number) + 1;
    if (waitingMs >= 0) this.waiting.add(waitingMs, buckets.waiting);
    if (runningMs >= 0) this.running.add(runningMs, buckets.running);
    if (totalMs >= 0) this.total.add(totalMs, buckets.total);
    if (peakBytes >= 0) this.memory.add(peakBytes, buckets.memory);
    if (wallMs >= 0) this.#measure(end);
  }

  #measure({ outcome, wallMs, cpuMs, peakBytes, need }: Ended): void {
    this.wallMs += wallMs;
    this.cpuMs += cpuMs;
    this.asked.cpus.add(need.cpus * wallMs, cpuMs);
    if (need.runtimeMs !== undefined) this.asked.runtime.add(need.runtimeMs, wallMs);
    if (need.memoryBytes !== undefined && peakBytes >= 0) this.asked.memory.add(need.memoryBytes, peakBytes);
    if (outcome === succeeded) this.#recommendation.add(wallMs, cpuMs, peakBytes < 0 ? undefined : peakBytes, need);
  }

  /** Of one whose end was taken for another: only counts are known of it. */
  retract(outcome: number): void {
    this.outcomes[outcome] = Math.max(0, (this.outcomes[outcome] as number) - 1);
  }

  addAll(other: Cell): void {
    other.outcomes.forEach((count, outcome) => {
      this.outcomes[outcome] = (this.outcomes[outcome] as number) + count;
    });
    for (const name of ['waiting', 'running', 'total', 'memory'] as const) this[name].addAll(other[name]);
    for (const name of ['memory', 'runtime', 'cpus'] as const) this.asked[name].addAll(other.asked[name]);
    this.wallMs += other.wallMs;
    this.cpuMs += other.cpuMs;
    this.#recommendation.addAll(other.#recommendation);
  }

  /** What to ask for, as far as attempts that succeeded tell. */
  recommended(): Recommended {
    return this.#recommendation.result;
  }
}
