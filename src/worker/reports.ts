/**
 * Ends that the controller has to know of: told, and told again, until they are acknowledged.
 *
 * Owns: ends without an acknowledgement, those of attempts that were never here included.
 * 1. Nothing is told before the controller knows what runs here; then all of it is told, on each link anew.
 */
import { frameBytesMax, reportWaitMs } from '../model/limits.ts';
import type { AttemptEnd } from '../protocol/worker.ts';
import type { Association } from './association.ts';
import type { Effect } from './messages.ts';

interface Report {
  readonly end: AttemptEnd;
  toldAt: number;
}

/** Many ends make one message; with long tails it stays within a frame, whatever else is in them. */
const tailCharactersMax = frameBytesMax / 2;
const endsPerUpdateMax = 1_000;

export class Reports {
  readonly #association: Association;
  readonly #unacknowledged = new Map<number, Report>();
  /** To be told at the end of this step, or a moment later. */
  #untold: AttemptEnd[] = [];
  #untoldSince = 0;

  constructor(association: Association) {
    this.#association = association;
  }

  add(end: AttemptEnd, now: number): void {
    const report = { end, toldAt: now };
    this.#unacknowledged.set(end.attempt, report);
    this.#tell(report, now);
  }

  /** Once only: a refusal that is lost is asked for. */
  addOnce(end: AttemptEnd, now: number): void {
    if (this.#association.isGreeted) this.#hold(end, now);
  }

  /** Another controller learns what is here by itself; that something is not here was an answer to the one before. */
  keepOnly(held: ReadonlyMap<number, unknown>): void {
    this.#untold = [];
    for (const attempt of this.#unacknowledged.keys()) if (!held.has(attempt)) this.#unacknowledged.delete(attempt);
  }

  onAcknowledged(attempt: number): void {
    this.#unacknowledged.delete(attempt);
  }

  /** Repeats what was told before that time without an answer. */
  repeat(before: number, now: number): void {
    for (const report of this.#unacknowledged.values()) if (report.toldAt <= before) this.#tell(report, now);
  }

  /** When what is untold has waited long enough for more to come. */
  get dueAt(): number {
    return this.#untold.length === 0 ? Number.POSITIVE_INFINITY : this.#untoldSince + reportWaitMs;
  }

  flush(effects: Effect[]): void {
    const { scheduler, isGreeted } = this.#association;
    const untold = this.#untold;
    if (untold.length === 0) return;
    this.#untold = [];
    if (!isGreeted || scheduler === undefined) return;
    for (const ends of cut(untold)) effects.push({ type: 'send', message: { t: 'update', scheduler, ends } });
  }

  #tell(report: Report, now: number): void {
    if (!this.#association.isGreeted) return;
    report.toldAt = now;
    this.#hold(report.end, now);
  }

  #hold(end: AttemptEnd, now: number): void {
    if (this.#untold.length === 0) this.#untoldSince = now;
    this.#untold.push(end);
  }
}

function* cut(ends: readonly AttemptEnd[]): Generator<AttemptEnd[]> {
  let part: AttemptEnd[] = [];
  let characters = 0;
  for (const end of ends) {
    const more = end.stdout.tail.length + end.stderr.tail.length;
    if (part.length > 0 && (characters + more > tailCharactersMax || part.length >= endsPerUpdateMax)) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(end);
    characters += more;
  }
  if (part.length > 0) yield part;
}
