/**
 * The worker's side of its association with a controller: with whom it is, how healthy that makes it, and what it must
 * not take any more.
 *
 * Owns: the controller's and its own name, the stamps of heartbeats, the facts of health, sequence numbers, the echo.
 * 1. A heartbeat counts from when it was sent, and only when it was answered: its answer may have been long on its way.
 * 2. Another controller begins a new association: health and sequence numbers start over, what runs does not.
 * 3. An order is taken at most once: attempts come with rising ids, and one that is older than a `notify` is refused.
 */
import { type Health, type HealthFacts, healthOf } from '../core/health/health.ts';
import { type WorkerId, workerId } from '../model/ids.ts';
import { ownLoseAfterMs, presets, silenceMsMax, type Timeouts } from '../model/timeouts.ts';
import type { ToWorker, WorkerSet } from '../protocol/worker.ts';

type Of<T extends ToWorker['t']> = Extract<ToWorker, { readonly t: T }>;

/** Heartbeats without an answer that are remembered; more would be answers to nothing. */
const stampsMax = 100;

export interface HeartbeatAnswer {
  /** What the controller has to be told again: its link, or it, is new, or it has just come to know what runs here. */
  readonly isGreeted: boolean;
}

export class Association {
  scheduler: string | undefined;
  worker: WorkerId | undefined;
  timeouts: Timeouts = presets.interactive;
  seq = 0;
  /** The last set of workers that a controller gave which was not in its initial wait. */
  echo: WorkerSet | undefined;
  /** Whether its controller wants to hear what attempts use: an older one would not know what is said. */
  takesUsage = false;
  #lastOrder = 0;
  #lastBeat = 0;
  readonly #stamps = new Map<number, number>();
  #facts: HealthFacts;
  /** Whether this link's controller knows what runs here, and so may be told of ends. */
  #isGreeted = false;

  constructor(now: number) {
    this.#facts = factsAt(now);
  }

  /** In what silence it lives on, by the timeouts it goes by. */
  get silenceMs(): number {
    return silenceMsMax(this.timeouts);
  }

  get isNew(): boolean {
    return this.#facts.isNew;
  }

  /** Whether what ends here may be told. */
  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  onLink(isOpen: boolean): void {
    this.#isGreeted = false;
    // Answers come over the link that the heartbeat went over, or not at all.
    if (isOpen) this.#stamps.clear();
  }

  health(now: number): Health {
    return healthOf(this.#facts, this.timeouts, ownLoseAfterMs(this.timeouts), now);
  }

  /** When everything here has to be dead, if nothing more is heard: no later than the controller expects it. */
  deadline(now: number): number {
    return healthOf(this.#facts, this.timeouts, this.timeouts.loseAfterMs, now).diesAt;
  }

  /** The number of the next heartbeat, sent now. */
  nextBeat(now: number): number {
    const beat = ++this.#lastBeat;
    this.#stamps.set(beat, now);
    this.#stamps.delete(beat - stampsMax);
    return beat;
  }

  onReply({ scheduler, beat, worker, state, timeouts, set, takes = [] }: Of<'heartbeat-reply'>): HeartbeatAnswer {
    const sentAt = this.#stamps.get(beat);
    if (sentAt === undefined) return { isGreeted: false };
    this.#stamps.delete(beat);
    if (scheduler !== this.scheduler) this.#associate(scheduler, sentAt);
    this.worker = workerId(worker);
    this.timeouts = timeouts;
    if (set !== undefined) this.echo = set;
    this.takesUsage = takes.includes('usage');
    const isKnown = state !== 'new';
    this.#facts = {
      ...this.#facts,
      isNew: this.#facts.isNew && !isKnown,
      heartbeatAt: Math.max(this.#facts.heartbeatAt, sentAt),
    };
    const isGreeted = isKnown && !this.#isGreeted;
    this.#isGreeted = isKnown;
    return { isGreeted };
  }

  #associate(scheduler: string, at: number): void {
    this.scheduler = scheduler;
    this.seq = 0;
    this.#lastOrder = 0;
    this.#facts = factsAt(at);
  }

  /** The controller knows of a good check that ended then. */
  onGoodCheck(endedAt: number): void {
    this.#facts = { ...this.#facts, goodCheckAt: endedAt, badCheckAt: undefined };
  }

  /** Whether the controller knows of it or not: it may, and its acknowledgement be lost. */
  onBadCheck(endedAt: number): void {
    this.#facts = { ...this.#facts, badCheckAt: this.#facts.badCheckAt ?? endedAt };
  }

  isWith(scheduler: string): boolean {
    return scheduler === this.scheduler;
  }

  /** Whether a `notify` is the newest of its controller; what was sent before it is refused from now on. */
  takeNotify(seq: number): boolean {
    if (seq <= this.seq) return false;
    this.seq = seq;
    return true;
  }

  /** Whether an order is one that never came before. */
  takeOrder(attempt: number): boolean {
    if (attempt <= this.#lastOrder) return false;
    this.#lastOrder = attempt;
    return true;
  }
}

const factsAt = (now: number): HealthFacts => ({
  associatedAt: now,
  isNew: true,
  heartbeatAt: now,
  goodCheckAt: undefined,
  badCheckAt: undefined,
});
