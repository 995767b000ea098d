/**
 * Ends that the controller has to know of: told, and told again, until they are acknowledged.
 *
 * Owns: ends without an acknowledgement, those of attempts that were never here included.
 * 1. Nothing is told before the controller knows what runs here; then all of it is told, on each link anew.
 */
import type { AttemptEnd } from '../protocol/worker.ts';
import type { Association } from './association.ts';
import type { Effect } from './messages.ts';

interface Report {
  readonly end: AttemptEnd;
  toldAt: number;
}

export class Reports {
  readonly #association: Association;
  readonly #unacknowledged = new Map<number, Report>();

  constructor(association: Association) {
    this.#association = association;
  }

  add(end: AttemptEnd, now: number, effects: Effect[]): void {
    const report = { end, toldAt: now };
    this.#unacknowledged.set(end.attempt, report);
    this.#tell(report, now, effects);
  }

  /** Once only: a refusal that is lost is asked for. */
  addOnce(end: AttemptEnd, effects: Effect[]): void {
    const { scheduler, isGreeted } = this.#association;
    if (isGreeted && scheduler !== undefined) {
      effects.push({ type: 'send', message: { t: 'update', scheduler, ends: [end] } });
    }
  }

  /** Another controller learns what is here by itself; that something is not here was an answer to the one before. */
  keepOnly(held: ReadonlyMap<number, unknown>): void {
    for (const attempt of this.#unacknowledged.keys()) if (!held.has(attempt)) this.#unacknowledged.delete(attempt);
  }

  onAcknowledged(attempt: number): void {
    this.#unacknowledged.delete(attempt);
  }

  /** Repeats what was told before that time without an answer. */
  repeat(before: number, now: number, effects: Effect[]): void {
    for (const report of this.#unacknowledged.values()) if (report.toldAt <= before) this.#tell(report, now, effects);
  }

  #tell(report: Report, now: number, effects: Effect[]): void {
    const { scheduler, isGreeted } = this.#association;
    if (!isGreeted || scheduler === undefined) return;
    report.toldAt = now;
    effects.push({ type: 'send', message: { t: 'update', scheduler, ends: [report.end] } });
  }
}
