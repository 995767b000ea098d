/**
 * What a turn has to keep of the attempts that failed in it: which fingerprint each of them has.
 * Owns: the fingerprints, what was noted in this turn, and the end of stderr of attempts of workers over HTTP, whose output
 * comes before their end. Where that is lost by a restart, their fingerprint is, too.
 */
import type { Change } from '../../core/change.ts';
import { causeOf } from '../../model/failure-cause.ts';
import type { AttemptId } from '../../model/ids.ts';
import { failureLimits } from '../../model/limits.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { FailureRow, FingerprintRow } from '../../store/failure-rows.ts';
import type { Batch } from '../../store/store.ts';
import { Fingerprints } from './fingerprints.ts';

/** What others ended tells nothing by its last lines: it would have written more. */
const isTelling = ({ kind }: Outcome): boolean => kind === 'exited' || kind === 'signalled';

export class FailureNotes {
  readonly fingerprints: Fingerprints;
  readonly #tails = new Map<AttemptId, Uint8Array>();
  #noted = new Map<AttemptId, number>();

  constructor(fingerprints: readonly FingerprintRow[]) {
    this.fingerprints = new Fingerprints(fingerprints);
  }

  /** `tail`: the last bytes of its stderr, in base64. */
  noteEnd(attempt: AttemptId, outcome: Outcome, tail: string): void {
    if (!isTelling(outcome) || tail === '') return;
    this.#note(attempt, Buffer.from(lastOf(tail), 'base64'));
  }

  /** It ended, and its output came before. */
  noteHttpEnd(attempt: AttemptId, outcome: Outcome): void {
    const tail = this.#tails.get(attempt);
    this.#tails.delete(attempt);
    if (tail !== undefined && isTelling(outcome)) this.#note(attempt, tail);
  }

  /** A piece of stderr, in order. */
  noteOutput(attempt: AttemptId, data: Uint8Array): void {
    const before = this.#tails.get(attempt);
    if (before === undefined && this.#tails.size >= failureLimits.tailsMax) return;
    const whole = before === undefined ? data : Buffer.concat([before, data]);
    this.#tails.set(attempt, Uint8Array.from(whole.subarray(-failureLimits.tailBytesMax)));
  }

  forget(attempt: AttemptId): void {
    if (this.#tails.size > 0) this.#tails.delete(attempt);
  }

  /** Of the turn that made these changes. */
  take(changes: readonly Change[]): Batch['failures'] {
    const attempts: FailureRow[] = [];
    for (const change of changes) {
      if (change.type !== 'attempt-ended' || change.outcome.kind === 'succeeded') continue;
      if (causeOf(change.outcome) === undefined) continue;
      attempts.push({ attempt: change.attempt, fingerprint: this.#fingerprintOf(change.attempt, change.outcome) });
    }
    if (this.#noted.size > 0) this.#noted = new Map();
    return attempts.length === 0 ? undefined : { attempts, fingerprints: this.fingerprints.takeNew() };
  }

  #fingerprintOf(attempt: AttemptId, outcome: Outcome): number {
    if (outcome.kind === 'never-started') return this.fingerprints.of(outcome.message);
    return this.#noted.get(attempt) ?? 0;
  }

  #note(attempt: AttemptId, tail: Uint8Array): void {
    this.#noted.set(attempt, this.fingerprints.of(Buffer.from(tail).toString()));
  }
}

/** Of a text in base64, whole groups of four characters from its end. */
const base64CharactersMax = Math.ceil(failureLimits.tailBytesMax / 3) * 4;
const lastOf = (tail: string): string =>
  tail.length <= base64CharactersMax ? tail : tail.slice(tail.length - (tail.length % 4) - base64CharactersMax);
