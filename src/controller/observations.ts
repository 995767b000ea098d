/**
 * What is known beside the state, for whoever looks: statistics, and how tasks failed. It follows what is committed, and
 * decides nothing. Of what ended before this controller began it knows when it has read that: in the background, some rows at a
 * time and most of the time doing nothing, or as fast as others let it while somebody waits for it.
 *
 * Owns: the statistics, the classes of failures, and how far the reading is.
 * 1. The store is read between two turns only, so that what it says and what was seen of commits is the same.
 */
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Cluster } from '../core/cluster.ts';
import { causeOf } from '../model/failure-cause.ts';
import { type AttemptId, attemptId, type TaskId, taskId } from '../model/ids.ts';
import { statisticsLimits } from '../model/limits.ts';
import type { Clock } from '../platform/env.ts';
import type { Batch, Store } from '../store/store.ts';
import { FailureClasses } from './failures/classes.ts';
import type { StepResult } from './messages.ts';
import { Statistics } from './statistics/statistics.ts';

/** What it needs of the controller around it. */
export interface ObservedController {
  readonly cluster: Cluster;
  readonly store: Store;
  readonly clock: Clock;
  /** Looks when no turn is under way. */
  read<T>(look: () => T): Promise<T>;
  /** Resolves in the next turn of the event loop. */
  breathe(): Promise<void>;
  isClosed(): boolean;
}

export class Observations {
  readonly statistics: Statistics;
  readonly failures = new FailureClasses();
  readonly #controller: ObservedController;
  readonly #tasksAtStart: number;
  readonly #attemptsAtStart: number;
  #isRead: boolean;
  #areFailuresRead: boolean;
  /** The reading of what was there at the start, once it has begun. */
  #failuresReading: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  /** So many wait for it. */
  #waiting = 0;

  constructor(controller: ObservedController) {
    const { cluster, clock } = controller;
    this.#controller = controller;
    this.statistics = new Statistics(cluster, clock.now());
    this.#tasksAtStart = cluster.tasks.size;
    this.#attemptsAtStart = cluster.lastAttempt;
    this.#isRead = cluster.tasks.size === 0;
    this.#areFailuresRead = cluster.lastAttempt === 0;
  }

  /** Whether it knows all that ended, and not only what it has read or seen so far. */
  get isWhole(): boolean {
    return this.#isRead;
  }

  onCommitted(batch: StepResult): void {
    this.statistics.follow(batch);
    const fingerprintOf = fingerprintsOf(batch);
    for (const row of batch.rows.attempts) {
      if (row.outcome === undefined) continue;
      this.statistics.onEnded(row);
      if (row.outcome.kind === 'succeeded') this.failures.clear(row.task);
      else this.#noteEnd(row, fingerprintOf(row.id));
    }
  }

  /** Begins to read what was there at the start, or goes on with it. */
  begin(): void {
    void this.#readAll().catch(() => undefined);
  }

  /** Resolves when all is known, or at that time. */
  async whole(until: number): Promise<void> {
    if (!this.#isRead) await this.#waitFor(() => this.#readAll(), until);
  }

  /** Resolves when it is known how tasks failed, whenever that was. */
  async failuresKnown(): Promise<void> {
    if (!this.#areFailuresRead) await this.#waitFor(() => this.#readFailures(), Number.POSITIVE_INFINITY);
  }

  async #waitFor(read: () => Promise<void>, until: number): Promise<void> {
    this.#waiting++;
    try {
      const inTime = Promise.withResolvers<void>();
      const timer = Number.isFinite(until) ? this.#controller.clock.at(until, () => inTime.resolve()) : undefined;
      await Promise.race([read(), inTime.promise]);
      timer?.cancel();
    } finally {
      this.#waiting--;
    }
  }

  #noteEnd({ task, worker, outcome }: AttemptRow, fingerprint: number): void {
    const cause = outcome === undefined || outcome.kind === 'succeeded' ? undefined : causeOf(outcome);
    if (cause === undefined) return this.failures.clear(task);
    this.failures.note(task, { cause, fingerprint, host: this.#controller.cluster.workers.get(worker)?.host });
  }

  #readFailures(): Promise<void> {
    this.#failuresReading ??= this.#isRead ? Promise.resolve() : this.#readFailedAttempts();
    return this.#failuresReading;
  }

  #readAll(): Promise<void> {
    this.#reading ??= this.#isRead ? Promise.resolve() : this.#readAttempts();
    return this.#reading;
  }

  async #readFailedAttempts(): Promise<void> {
    const { cluster, store } = this.#controller;
    for (let after = 0; ; ) {
      const rows = await this.#look(() => store.failedAttempts(after, statisticsLimits.rebuildRows));
      if (rows === undefined) return;
      for (const { row, fingerprint } of rows) {
        // What ended since has noted itself.
        if (cluster.tasks.lastAttempt(row.task) === row.id && this.failures.of(row.task) === undefined) {
          this.#noteEnd(row, fingerprint);
        }
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < statisticsLimits.rebuildRows || last.row.id >= this.#attemptsAtStart)
        break;
      after = last.row.id;
    }
    this.#areFailuresRead = true;
  }

  /** Tags before attempts, which are counted by them; an attempt that ends before it is read is left for the reading. */
  async #readAttempts(): Promise<void> {
    await this.#readFailures();
    if (!(await this.#readTags())) return;
    const { cluster } = this.#controller;
    for (let after = 0; ; ) {
      const piece = await this.#look(() => this.#readPiece(after));
      if (piece === undefined) return;
      const { rows, to, isLast } = piece;
      for (const row of rows) if (row.id <= to && row.outcome !== undefined) this.#count(cluster, row);
      if (isLast) break;
      // Where ids were skipped there is nothing to read.
      after = Math.max(to, (rows[0]?.id ?? cluster.lastAttempt) - 1);
    }
    this.#isRead = true;
  }

  /** Up to the end of what there is by now: what is recorded while it is read, and ends before it was reached, is read, too. */
  async #readPiece(after: number): Promise<Piece> {
    const { store, cluster } = this.#controller;
    const isLast = after >= cluster.lastAttempt;
    const to = Math.min(cluster.lastAttempt, after + statisticsLimits.rebuildRows);
    this.statistics.readTo = isLast ? Number.POSITIVE_INFINITY : to;
    return { rows: isLast ? [] : await store.attemptsFrom(after, to - after, false), to, isLast };
  }

  async #readTags(): Promise<boolean> {
    const { store, cluster } = this.#controller;
    for (let from = 1; from <= this.#tasksAtStart; from += statisticsLimits.rebuildTags) {
      const to = Math.min(this.#tasksAtStart, from + statisticsLimits.rebuildTags - 1);
      const tagged = await this.#look(() => store.tagsBetween(from, to));
      if (tagged === undefined) return false;
      for (const { task, tags } of tagged) {
        const id: TaskId = taskId(task);
        this.statistics.tags.note(cluster.tasks.workflow(id), id, tags);
      }
    }
    return true;
  }

  #count({ tasks }: Cluster, row: AttemptRow): void {
    this.statistics.count(row);
    if (tasks.lastAttempt(row.task) !== attemptId(row.id)) return;
    const state = tasks.state(row.task);
    if (state === 'done' || state === 'failed') {
      this.statistics.countTaskEnd(tasks.workflow(row.task), row.endedAt, state);
    }
  }

  /** Between two turns; then others have theirs, and without anybody who waits nothing is read for a while. */
  async #look<T>(look: () => Promise<T>): Promise<T | undefined> {
    const { clock, read, breathe, isClosed } = this.#controller;
    await breathe();
    if (isClosed()) return undefined;
    const begin = clock.now();
    const found = await read(look);
    const pauseMs = (clock.now() - begin) * (1 / statisticsLimits.rebuildShare - 1);
    if (this.#waiting === 0) await new Promise<void>((resolve) => void clock.at(clock.now() + pauseMs, resolve));
    return isClosed() ? undefined : found;
  }
}

interface Piece {
  readonly rows: readonly AttemptRow[];
  /** The last id that was asked for. */
  readonly to: number;
  readonly isLast: boolean;
}

/** Most batches have no failure. */
function fingerprintsOf({ failures }: Batch): (attempt: AttemptId) => number {
  if (failures === undefined) return () => 0;
  const ids = new Map(failures.attempts.map(({ attempt, fingerprint }) => [attempt, fingerprint]));
  return (attempt) => ids.get(attempt) ?? 0;
}
