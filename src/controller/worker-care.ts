/**
 * The health of workers, on the controller's side: computes it, has it checked, asks after what is unsure, and says who
 * must die and who is dead.
 *
 * Owns: when each worker is to be looked at next, and the numbers of health checks.
 * 1. A worker that must die never gets another state; it is given up a margin later, when it is dead by its own clock.
 * 2. As long as an attempt is unsure and there is a link, a question about it is under way.
 */
import { Heap } from '../core/columns.ts';
import { healthOf } from '../core/health/health.ts';
import type { Turn } from '../core/turn.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { printWorker, type WorkerId, workerId } from '../model/ids.ts';
import { silenceMsMax, type Timeouts } from '../model/timeouts.ts';
import type { FromWorker, ToWorker } from '../protocol/worker.ts';
import type { Effect } from './messages.ts';
import type { WorkerSession } from './worker-session.ts';

type Of<T extends FromWorker['t']> = Extract<FromWorker, { readonly t: T }>;

/** How often a question is repeated that nobody answers: doubling up to the limit. */
const notifyAgainMs = { first: 1_000, max: 60_000 } as const;

/** A health check that is not answered for so many check intervals is asked for again. */
const unansweredIntervals = 5;

/** That any command can be run at all. */
export const defaultHealthCheck = 'true';

export interface CareOptions {
  readonly scheduler: string;
  readonly timeouts: Timeouts;
  /** The command of a health check. */
  readonly healthCheck: string;
}

export class WorkerCare {
  readonly #options: CareOptions;
  #lastCheck = 0;
  /** When to look at whom: for each session that has to be looked at there is the entry of its `lookAt`, and maybe later ones. */
  readonly #looks = new Heap();

  constructor(options: CareOptions) {
    this.#options = options;
  }

  /** No later than this something is to be done for one of them. */
  get nextLook(): number {
    return this.#looks.peekKey() ?? Number.POSITIVE_INFINITY;
  }

  /** It is looked at in the next turn: one that the store knows, and that never comes back, has to be given up, too. */
  begin(session: WorkerSession): void {
    this.#lookBy(session, 0);
  }

  #lookBy(session: WorkerSession, time: number): void {
    if (time >= session.lookAt) return;
    session.lookAt = time;
    this.#looks.push(time, session.worker.id);
  }

  onHeard({ worker }: WorkerSession, now: number): void {
    if (worker.facts.heartbeatAt !== now) worker.facts = { ...worker.facts, heartbeatAt: now };
  }

  /** A heartbeat of a worker that is still new: its own count may begin with any of them, as answers can be lost. */
  onAssociated({ worker }: WorkerSession, now: number): void {
    worker.facts = { ...worker.facts, associatedAt: now, heartbeatAt: now };
  }

  /** What it runs is known from now on. */
  onKnown(session: WorkerSession, now: number): void {
    session.worker.facts = { ...session.worker.facts, isNew: false, associatedAt: now };
    session.checkDueAt = now;
  }

  /** Returns whether it is a good sign. */
  onChecked(
    session: WorkerSession,
    { check, isGood, message }: Of<'checked'>,
    now: number,
    effects: Effect[],
  ): boolean {
    const { worker, link } = session;
    const { scheduler } = this.#options;
    const { instance } = worker;
    if (link !== undefined) {
      effects.push({ type: 'send', link, message: { t: 'check-ack', scheduler, instance, check } });
    }
    if (check <= session.lastChecked) return false;
    session.lastChecked = check;
    const { healthCheckMs, checkIntervalMs } = this.#options.timeouts;
    session.complaint = isGood ? undefined : message;
    session.checkDueAt = now + (isGood ? healthCheckMs : checkIntervalMs);
    const { badCheckAt } = worker.facts;
    worker.facts = isGood
      ? { ...worker.facts, goodCheckAt: now, badCheckAt: undefined }
      : { ...worker.facts, badCheckAt: badCheckAt ?? now };
    if (!isGood) effects.push(line('warn', 'a health check failed', worker, { message }));
    return isGood;
  }

  /** Whatever was asked over a link that is gone is asked again over the next. */
  onLinkLost(session: WorkerSession, turn: Turn): void {
    if (session.lastCheck > session.lastChecked) session.checkDueAt = turn.now;
    session.notify = undefined;
    for (const attempt of session.worker.attempts) {
      if (turn.cluster.attempts.get(attempt)?.state === 'sent') turn.attempt(attempt, { type: 'doubt' }, 'controller');
    }
  }

  /** The worker said that it has those that it did not report. */
  onNotified(session: WorkerSession, { seq }: Of<'notified'>, turn: Turn): void {
    if (session.notify?.seq !== seq) return;
    for (const attempt of session.notify.attempts) {
      if (turn.cluster.attempts.get(attempt)?.state === 'unsure') turn.attempt(attempt, { type: 'accept' }, 'operator');
    }
    session.notify = undefined;
    session.unanswered = 0;
  }

  /** Does what is due for one worker. Returns whether it is dead by now. */
  look(session: WorkerSession, turn: Turn, effects: Effect[]): boolean {
    const due = this.#lookAt(session, turn, effects);
    if (due <= turn.now) return true;
    this.#lookBy(session, due);
    return false;
  }

  /** Does what is due by the clock; returns those that are dead by now. Signs of life put a look off when it comes. */
  lookAtDue(sessions: ReadonlyMap<WorkerId, WorkerSession>, turn: Turn, effects: Effect[]): WorkerSession[] {
    const dead: WorkerSession[] = [];
    for (let time = this.nextLook; time <= turn.now; time = this.nextLook) {
      const session = sessions.get(workerId(this.#looks.pop()));
      if (session?.lookAt !== time) continue;
      session.lookAt = Number.POSITIVE_INFINITY;
      if (this.look(session, turn, effects)) dead.push(session);
    }
    return dead;
  }

  /** When to look again; at once for one that is dead. */
  #lookAt(session: WorkerSession, turn: Turn, effects: Effect[]): number {
    const { worker } = session;
    if (worker.state === 'gone') return Number.POSITIVE_INFINITY;
    if (worker.state === 'must-die') return session.deadAt;
    const { timeouts } = this.#options;
    const { state, why, changesAt } = healthOf(worker.facts, timeouts, this.#loseAfterMs(worker), turn.now);
    this.#onHealth(worker, state, session.complaint ?? why, effects);
    if (state === 'healthy') turn.cluster.candidates.noteRoom(worker);
    if (state === 'must-die') {
      this.condemn(
        session,
        `it was not healthy for ${timeouts.loseAfterMs / 1000} s: ${worker.ailment}`,
        turn,
        effects,
      );
      return session.deadAt;
    }
    if (session.link === undefined || worker.facts.isNew) return changesAt;
    return Math.min(changesAt, this.#check(session, turn.now, effects), this.#ask(session, turn, effects));
  }

  /**
   * One that is new here may still count from the last answer of the controller before this one; and one that was told
   * longer timeouts lives by them until it says otherwise.
   */
  #loseAfterMs({ facts, silenceMs }: WorkerRecord): number {
    const { timeouts } = this.#options;
    const own = silenceMsMax(timeouts);
    return (facts.isNew ? own : timeouts.loseAfterMs) + Math.max(0, silenceMs - own);
  }

  #onHealth(worker: WorkerRecord, state: WorkerRecord['state'], why: string | undefined, effects: Effect[]): void {
    const before = worker.state;
    worker.state = state;
    worker.ailment = why;
    if (before === state || state === 'must-die' || state === 'new') return;
    if (state === 'healthy') effects.push(line('info', 'a worker is healthy', worker, {}));
    else if (before === 'healthy') effects.push(line('warn', 'a worker is unhealthy', worker, { why }));
  }

  /** It is told to end, and counts as dead when it must be: one that was well until now lives on if it is not told. */
  condemn(session: WorkerSession, why: string, turn: Turn, effects: Effect[]): void {
    const { worker, link } = session;
    const { timeouts } = this.#options;
    const { diesAt } = healthOf(worker.facts, timeouts, this.#loseAfterMs(worker), turn.now);
    worker.state = 'must-die';
    worker.ailment = why;
    session.deadAt = Math.max(turn.now, diesAt) + timeouts.marginMs;
    const facts = { why, attempts: worker.attempts.size, deadInMs: session.deadAt - turn.now };
    effects.push(line('warn', 'a worker must die', worker, facts));
    if (link !== undefined) effects.push({ type: 'send', link, message: dieMessage(worker, why) });
    this.#lookBy(session, session.deadAt);
  }

  /** When all that it runs must be dead, if nothing is heard of it. */
  givenUpAt({ worker, deadAt }: WorkerSession, now: number): number {
    if (worker.state === 'must-die') return deadAt;
    const { timeouts } = this.#options;
    return healthOf(worker.facts, timeouts, this.#loseAfterMs(worker), now).diesAt + timeouts.marginMs;
  }

  /** Returns when the next check is due. */
  #check(session: WorkerSession, now: number, effects: Effect[]): number {
    const { link, worker } = session;
    if (link === undefined || session.checkDueAt > now) return session.checkDueAt;
    const { scheduler, healthCheck: command, timeouts } = this.#options;
    const check = ++this.#lastCheck;
    session.lastCheck = check;
    session.checkDueAt = now + unansweredIntervals * timeouts.checkIntervalMs;
    const { instance } = worker;
    effects.push({ type: 'send', link, message: { t: 'check', scheduler, instance, check, command } });
    return session.checkDueAt;
  }

  /** Asks after attempts whose orders may not have arrived; returns when to ask again. */
  #ask(session: WorkerSession, turn: Turn, effects: Effect[]): number {
    const { link, worker, notify } = session;
    if (notify !== undefined && this.#askAgainAt(session) > turn.now) return this.#askAgainAt(session);
    const attempts = [...worker.unsure];
    session.notify = undefined;
    if (attempts.length === 0 || link === undefined) return Number.POSITIVE_INFINITY;
    // Fixed first, then numbered: the number is higher than that of any order asked about.
    const seq = ++session.seq;
    session.notify = { seq, attempts, sentAt: turn.now };
    session.unanswered++;
    const { scheduler } = this.#options;
    const { instance } = worker;
    effects.push({ type: 'send', link, message: { t: 'notify', scheduler, instance, seq, attempts } });
    return this.#askAgainAt(session);
  }

  #askAgainAt({ notify, unanswered }: WorkerSession): number {
    const pauseMs = Math.min(notifyAgainMs.max, notifyAgainMs.first * 2 ** Math.min(unanswered, 20));
    return (notify?.sentAt ?? 0) + pauseMs;
  }
}

const dieMessage = ({ instance }: WorkerRecord, why: string): ToWorker => ({
  ...{ t: 'die', instance, why, isForGood: false },
});

const line = (level: 'info' | 'warn', message: string, { id }: WorkerRecord, facts: object): Effect => ({
  ...{ type: 'log', level, message, facts: { worker: printWorker(id), ...facts } },
});
