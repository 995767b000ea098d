/**
 * What one walk over the attempts of a workflow tells of it. Owns sums, the largest of each kind, and up to a limit the attempts
 * themselves.
 *
 * 1. Memory does not grow with the number of attempts beyond `reportLimits`, but for a few numbers for each worker.
 * 2. Attempts come in the order in which they were decided on: the first one is the earliest.
 * 3. What has not ended counts as running until now.
 */
import { reportLimits } from '../../model/limits.ts';
import { type BarTone, barTones } from '../../protocol/report.ts';
import type { AttemptView } from '../../protocol/views/attempts.ts';
import { endOf } from './ends.ts';
import { type Cut, idleCuts } from './idle.ts';
import type { Span } from './lanes.ts';
import { Leaders } from './leaders.ts';
import { TimeBuckets } from './time-buckets.ts';

/** An attempt that was started. */
export interface Started extends Span {
  readonly attempt: string;
  readonly host: string;
  readonly tone: BarTone;
  readonly end?: string;
  readonly cpuMs?: number;
  readonly peakBytes?: number;
}

export interface WorkerSum {
  readonly id: string;
  readonly host: string;
  attempts: number;
  failed: number;
  busyMs: number;
  cpuMs: number;
  firstMs: number;
  lastMs: number;
}

export interface EndSum {
  readonly end: string;
  readonly tone: BarTone;
  count: number;
}

/** Names of rows of `buckets`. */
export const rows = {
  running: 'running',
  firsts: 'firsts',
  slots: 'slots',
  ended: (tone: BarTone) => `ended ${tone}`,
  busy: (lane: string, tone: BarTone) => `busy ${lane} ${tone}`,
} as const;

/** The lane of workers that have none of their own. */
export const otherLane = 'other';
const otherEnd = 'other';

export class AttemptTally {
  readonly #now: number;
  readonly #cuts: readonly Cut[];
  #buckets: TimeBuckets | undefined;
  #all: Started[] | undefined = [];
  readonly #ends = new Map<string, EndSum>();
  readonly #workers = new Map<string, WorkerSum>();
  readonly #slowest = new Leaders<Started>(reportLimits.slowestMax, ({ startMs, endMs }) => endMs - startMs);
  readonly #retried = new Map<string, number>();
  readonly #unstarted = new Set<string>();
  total = 0;
  /** Tasks that were ever started. */
  startedTasks = 0;
  retries = 0;
  busyMs = 0;
  cpuMs = 0;
  /** How long those ran whose processor time is known: not those that run still, nor those that were lost. */
  cpuKnownMs = 0;
  peakBytes = 0;

  /** What is cut out of the time is known from a walk before. */
  constructor(now: number, cuts: readonly Cut[] = []) {
    this.#now = now;
    this.#cuts = cuts;
  }

  add(view: AttemptView): void {
    const { id, number, recordedAt, startedAt, worker, host, cpuMs, peakBytes } = view;
    const { tone, end } = endOf(view);
    this.total += 1;
    if (number > 1) this.#addRetry(id, number);
    if (end !== undefined) this.#addEnd(end, tone);
    if (startedAt === undefined) return this.#addUnstarted(id, number);
    const originMs = Math.min(Date.parse(recordedAt), Date.parse(startedAt));
    this.#buckets ??= new TimeBuckets(originMs, reportLimits.bucketsMax, this.#cuts);
    const startMs = Math.max(this.#buckets.originMs, Date.parse(startedAt));
    const endMs = Math.max(startMs, this.#endOf(view, startMs));
    const started: Started = {
      ...{ attempt: id, worker, host, startMs, endMs, tone },
      ...(end === undefined ? {} : { end }),
      ...(cpuMs === undefined ? {} : { cpuMs }),
      ...(peakBytes === undefined ? {} : { peakBytes }),
    };
    this.#addStarted(started, this.#buckets, number === 1 || this.#unstarted.delete(taskOf(id)));
  }

  /** It was taken back before its start, or cancelled, or could not be started; or it is on its way. */
  #addUnstarted(id: string, number: number): void {
    if (number === 1 && this.#unstarted.size < reportLimits.unstartedMax) this.#unstarted.add(taskOf(id));
  }

  /** What was measured, where it was: that an attempt has ended is known a moment later. */
  #endOf({ endedAt, wallMs }: AttemptView, startMs: number): number {
    if (endedAt === undefined) return this.#now;
    return wallMs === undefined ? Date.parse(endedAt) : Math.min(Date.parse(endedAt), startMs + wallMs);
  }

  #addStarted(started: Started, buckets: TimeBuckets, isFirst: boolean): void {
    const { worker, startMs, endMs, tone, cpuMs, peakBytes = 0 } = started;
    this.busyMs += endMs - startMs;
    if (cpuMs !== undefined) {
      this.cpuMs += cpuMs;
      this.cpuKnownMs += endMs - startMs;
    }
    this.peakBytes = Math.max(this.peakBytes, peakBytes);
    this.#slowest.add(started);
    this.#all?.push(started);
    if (this.#all !== undefined && this.#all.length > reportLimits.barsMax) this.#all = undefined;
    this.#addWorker(started);
    buckets.addSpan(rows.running, startMs, endMs);
    buckets.addSpan(rows.busy(this.#laneOf(worker), tone), startMs, endMs);
    if (isFirst) {
      this.startedTasks += 1;
      buckets.addPoint(rows.firsts, startMs);
    }
    if (tone !== 'running') buckets.addPoint(rows.ended(tone), endMs);
  }

  #addRetry(id: string, number: number): void {
    this.retries += 1;
    this.#retried.set(taskOf(id), number);
    // Those with the most attempts are kept; the others are dropped when there are too many of them.
    if (this.#retried.size < 100 * reportLimits.retriedMax) return;
    const kept = this.#mostRetried();
    this.#retried.clear();
    for (const [task, attempts] of kept) this.#retried.set(task, attempts);
  }

  #mostRetried(): (readonly [string, number])[] {
    return [...this.#retried].sort(([, a], [, b]) => b - a).slice(0, reportLimits.retriedMax);
  }

  #addEnd(end: string, tone: BarTone): void {
    const isKnown = this.#ends.has(end) || this.#ends.size < reportLimits.endsMax - 1;
    const name = isKnown ? end : otherEnd;
    const sum = this.#ends.get(name) ?? { end: name, tone, count: 0 };
    this.#ends.set(name, sum);
    sum.count += 1;
  }

  #addWorker({ worker, host, startMs, endMs, tone, cpuMs = 0 }: Started): void {
    const known = this.#workers.get(worker);
    const none = { id: worker, host, attempts: 0, failed: 0, busyMs: 0, cpuMs: 0, firstMs: startMs, lastMs: endMs };
    const sum: WorkerSum = known ?? none;
    if (known === undefined) this.#workers.set(worker, sum);
    sum.attempts += 1;
    if (tone === 'failed' || tone === 'lost') sum.failed += 1;
    sum.busyMs += endMs - startMs;
    sum.cpuMs += cpuMs;
    sum.firstMs = Math.min(sum.firstMs, startMs);
    sum.lastMs = Math.max(sum.lastMs, endMs);
  }

  /** The first ones have lanes of their own. */
  #laneOf(worker: string): string {
    return this.laneWorkers.has(worker) || this.#claimLane(worker) ? worker : otherLane;
  }

  readonly laneWorkers = new Set<string>();

  #claimLane(worker: string): boolean {
    if (this.laneWorkers.size >= reportLimits.lanesMax - 1) return false;
    this.laneWorkers.add(worker);
    return true;
  }

  /** Absent where nothing was started. */
  get buckets(): TimeBuckets | undefined {
    return this.#buckets;
  }

  /** What could be left out of the timeline. */
  get idle(): readonly Cut[] {
    const buckets = this.#buckets;
    if (buckets === undefined) return [];
    // What took no time that can be measured was there all the same.
    const all = [rows.running, ...barTones.map(rows.ended)].map((row) => buckets.sums(row));
    const busy = Array.from({ length: buckets.count }, (_, at) => all.reduce((sum, row) => sum + (row[at] ?? 0), 0));
    return idleCuts(busy, buckets.originMs, buckets.widthMs);
  }

  /** All that were started; undefined if there are more than are drawn. */
  get all(): readonly Started[] | undefined {
    return this.#all;
  }

  /** Tasks that have had an attempt, none of which was started. */
  get unstarted(): ReadonlySet<string> {
    return this.#unstarted;
  }

  get slowest(): readonly Started[] {
    return this.#slowest.rows;
  }

  get retried(): readonly (readonly [task: string, attempts: number])[] {
    return this.#mostRetried();
  }

  /** The most frequent first. */
  get ends(): readonly EndSum[] {
    return [...this.#ends.values()].sort((a, b) => b.count - a.count);
  }

  /** By their ids. */
  get workers(): ReadonlyMap<string, WorkerSum> {
    return this.#workers;
  }
}

export const taskOf = (attempt: string): string => attempt.replace(/#.*/, '');
