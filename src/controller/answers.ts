/**
 * What requests with an idempotency key were answered, so that one which is repeated is answered the same and does
 * nothing: whoever lost an answer asks again.
 *
 * Owns: their rows. They are committed with what the request did, in the same turn: neither is there without the other.
 * 1. They are forgotten in the order of their asking: after `answersMs`, or when there are more than `answersMax`.
 * 2. What was refused is not kept: it did nothing, and may be asked again.
 */
import { DroverError } from '../model/errors.ts';
import { answersMax, answersMs } from '../model/limits.ts';
import type { AnswerRow } from '../store/answer-row.ts';
import type { Reply, RequestKey } from './messages.ts';

/** What a turn did to them, for its commit. */
export interface AnswerChanges {
  readonly written: readonly AnswerRow[];
  /** All up to this one are forgotten. */
  readonly forgottenTo: number;
}

export class Answers {
  /** In the order of their ids. */
  readonly #byKey = new Map<string, AnswerRow>();
  #last = 0;
  #written: AnswerRow[] = [];
  #forgottenTo = 0;

  constructor(rows: readonly AnswerRow[]) {
    for (const row of rows) this.#put(row);
  }

  /** Throws when something else was asked under that key. */
  find({ key, digest }: RequestKey, now: number): Reply | undefined {
    const row = this.#byKey.get(key);
    if (row === undefined || row.at + answersMs <= now) return undefined;
    if (row.digest === digest) return JSON.parse(row.reply) as Reply;
    throw new DroverError('idempotency-key-reused', 'another request was made with this idempotency key');
  }

  keep({ key, digest }: RequestKey, reply: Reply, now: number): void {
    const row = { id: this.#last + 1, key, digest, at: now, reply: JSON.stringify(reply) };
    this.#put(row);
    this.#written.push(row);
    for (const old of this.#byKey.values()) {
      if (old.at + answersMs > now && this.#byKey.size <= answersMax) break;
      this.#byKey.delete(old.key);
      this.#forgottenTo = old.id;
    }
  }

  /** What changed since it was last asked; undefined when nothing has. */
  takeChanges(): AnswerChanges | undefined {
    if (this.#written.length === 0) return undefined;
    const changes = { written: this.#written, forgottenTo: this.#forgottenTo };
    this.#written = [];
    return changes;
  }

  #put(row: AnswerRow): void {
    // Where there was one that is too old, this one is the newest now.
    this.#byKey.delete(row.key);
    this.#byKey.set(row.key, row);
    this.#last = row.id;
  }
}
