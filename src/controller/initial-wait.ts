/**
 * The wait of a controller whose store is older than what a worker remembers: somewhere there may be workers with tasks
 * that it does not know, so nothing is launched until they must be dead, or until all of them have come.
 *
 * Owns: how long it lasts, and the first echo of each instance that has connected since.
 * 1. A worker's echo counts once, by instance: what it echoes later is this controller's own. It is compared with what
 *    the store knew when this controller began: what has joined since makes a store that was restored no newer.
 * 2. It ends early only when every echo is the same, and is exactly the set of workers that echoed and are connected.
 */
import { isNewer, type Lineage, type SetMark, WorkerSetHash } from '../core/worker-set.ts';
import type { Timeouts } from '../model/timeouts.ts';

export class InitialWait {
  readonly #timeouts: Timeouts;
  readonly #own: Lineage;
  readonly #echoes = new Map<string, SetMark>();
  readonly #seen = new Set<string>();
  #until = 0;
  /** No sooner do they count as agreed: one that joined last may be known to itself alone, and be on its way. */
  #agreesAt = 0;

  constructor(timeouts: Timeouts, own: Lineage) {
    this.#timeouts = timeouts;
    this.#own = own;
  }

  /** Returns whether this echo began the wait. */
  onHeartbeat(instance: string, echo: SetMark | undefined, now: number): boolean {
    if (this.#seen.has(instance)) return false;
    this.#seen.add(instance);
    if (echo === undefined) return false;
    this.#echoes.set(instance, echo);
    if (!isNewer(echo, this.#own) || this.isOn(now)) return false;
    const { heartbeatMs, heartbeatGraceMs, loseAfterMs, marginMs } = this.#timeouts;
    this.#agreesAt = now + heartbeatMs + heartbeatGraceMs;
    this.#until = this.#agreesAt + loseAfterMs + marginMs;
    return true;
  }

  /** Given by the controller that found the store to be a restored one, and named it anew, before it did so. */
  #isPremature({ scheduler, generation }: SetMark): boolean {
    return scheduler === this.#own.generation && generation !== scheduler;
  }

  get endsAt(): number {
    return this.#until;
  }

  isOn(now: number): boolean {
    return now < this.#until;
  }

  /** Ends it when those who echoed agree, and have all come and said what they run. Returns whether it did. */
  endIfAgreed(known: Iterable<string>, now: number): boolean {
    if (!this.isOn(now) || now < this.#agreesAt) return false;
    const present = new WorkerSetHash();
    for (const instance of known) if (this.#echoes.has(instance)) present.add(instance);
    if (present.count === 0) return false;
    for (const echo of this.#echoes.values()) if (!present.isThatOf(echo) || this.#isPremature(echo)) return false;
    this.#until = 0;
    return true;
  }
}
