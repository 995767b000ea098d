/**
 * The worker: accepts attempts, has the spawner run them, reports their ends until they are acknowledged.
 * Synchronous, without I/O: the shell pumps inputs in and effects out.
 *
 * Owns: heartbeats, the life of the spawner, its own end. Its attempts, reports, health checks and association have their
 * own files.
 * 1. Attempts are accepted only from the controller that it is associated with, and only while it is healthy.
 * 2. When it must die it ends all that it runs, and itself. One that no controller has answered yet has nothing to
 *    end, and may wait if it is told to.
 * 3. After it said that it does not have an attempt it never starts it.
 */
import { spawnerPingMs, spawnerPingsMax, terminationMsDefault } from '../model/limits.ts';
import type { FromSpawner } from '../protocol/spawner.ts';
import { reapVariable } from '../protocol/task-environment.ts';
import {
  type Order,
  type ToWorker,
  type WorkerCapacity,
  type WorkerIdentity,
  workerProtocolVersion,
} from '../protocol/worker.ts';
import { Association } from './association.ts';
import { Attempts, endOf } from './attempts.ts';
import type { Entry } from './entry.ts';
import { HealthChecks } from './health-checks.ts';
import type { Effect, Input, WorkerEnd } from './messages.ts';
import { Reports } from './reports.ts';
import { Usage } from './usage.ts';

type Of<T extends ToWorker['t']> = Extract<ToWorker, { readonly t: T }>;
type FromSpawnerOf<T extends FromSpawner['t']> = Extract<FromSpawner, { readonly t: T }>;

/** Between TERM and KILL when whoever started the worker ends it. */
const stopGraceMs = 500;

export interface WorkerStart {
  readonly identity: WorkerIdentity;
  readonly slots: number;
  readonly capacity?: WorkerCapacity;
  /** As programs know its GPUs; by their numbers when absent. */
  readonly gpuNames?: readonly string[];
  /** Where segments and scratch directories go. */
  readonly directory: string;
  readonly tag: string;
  readonly now: number;
  /** Whether it waits for its first controller as long as it takes. */
  readonly isPatient: boolean;
  /** Of health checks: `NAME=value`. */
  readonly environment: readonly string[];
}

export class Worker {
  readonly #start: WorkerStart;
  readonly #association: Association;
  readonly #reports: Reports;
  readonly #attempts: Attempts;
  readonly #checks: HealthChecks;
  readonly #usage: Usage;
  #isWatchingGpus = false;
  #slotCount: number;
  #isConnected = false;
  #isSpawnerReady = false;
  #isDying = false;
  #nextHeartbeat = 0;
  #nextPing = Number.POSITIVE_INFINITY;
  /** Pings since the last answer. */
  #unanswered = 0;

  constructor(start: WorkerStart) {
    this.#start = start;
    this.#slotCount = start.slots;
    this.#association = new Association(start.now);
    this.#reports = new Reports(this.#association);
    this.#usage = new Usage(this.#association, start.identity.instance);
    this.#attempts = new Attempts(start, this.#association, this.#reports);
    this.#checks = new HealthChecks(start.directory, [...start.environment, `${reapVariable}=${start.tag}`]);
  }

  step(inputs: readonly Input[], now: number): Effect[] {
    const effects: Effect[] = [];
    for (const input of inputs) this.#take(input, now, effects);
    if (!this.#isDying) this.#attend(now, effects);
    // As long as there is plenty to start, the controller need not hear at once: more ends make one message, one commit.
    const mayWait = this.#attempts.isWellFed && !this.#isDying && now < this.#reports.dueAt;
    this.#usage.flushIfDue(now, effects);
    if (!mayWait) this.#reports.flush(effects);
    if (!this.#isDying && this.#isConnected && now >= this.#nextHeartbeat) this.#heartbeat(now, effects);
    return effects;
  }

  /** What is due by the clock, or since something came. */
  #attend(now: number, effects: Effect[]): void {
    const { state, why } = this.#association.health(now);
    if (state === 'must-die' && this.#mayDie) {
      return this.#die('cut-off', `it was not healthy for too long: ${why}`, effects);
    }
    this.#attempts.killOverdue(now, effects);
    if (state === 'healthy' && this.#isSpawnerReady) this.#attempts.startNext(now, effects);
    this.#attempts.noticeStarts(now, effects);
    this.#watchSpawner(now, effects);
    this.#watchGpus(effects);
  }

  nextDeadline(now: number): number {
    if (this.#isDying) return Number.POSITIVE_INFINITY;
    let next = this.#mayDie ? this.#association.health(now).diesAt : Number.POSITIVE_INFINITY;
    if (this.#isConnected) next = Math.min(next, this.#nextHeartbeat, this.#reports.dueAt, this.#usage.dueAt);
    return Math.min(next, this.#nextPing, this.#attempts.nextDeadline());
  }

  /** For whoever looks on: what is here, from its acceptance until its end was acknowledged. */
  get held(): ReadonlyMap<number, Entry> {
    return this.#attempts.entries;
  }

  get health(): Association {
    return this.#association;
  }

  /** A patient one that no controller has answered yet runs nothing. */
  get #mayDie(): boolean {
    return this.#association.worker !== undefined || !this.#start.isPatient;
  }

  #take(input: Input, now: number, effects: Effect[]): void {
    switch (input.type) {
      case 'connected':
        this.#isConnected = true;
        this.#association.onLink(true);
        this.#attempts.dropUnusedSpecs(effects);
        this.#nextHeartbeat = now;
        return;
      case 'disconnected':
        this.#isConnected = false;
        this.#association.onLink(false);
        return;
      case 'message':
        return this.#onMessage(input.message, now, effects);
      case 'spawner':
        return this.#onSpawner(input.message, now, effects);
      case 'spawner-gone':
        return this.#onSpawnerGone(now);
      case 'gpus':
        return this.#usage.onGpus(input.readings, this.#attempts.gpuHolders(), now);
      case 'stop':
        return this.#die('stopped', 'it was told to stop', effects);
      case 'tick':
        return;
    }
  }

  #heartbeat(now: number, effects: Effect[]): void {
    const { identity: worker, capacity } = this.#start;
    const { echo, timeouts, silenceMs } = this.#association;
    const message = {
      ...({ t: 'heartbeat', version: workerProtocolVersion, worker, slots: this.#slotCount } as const),
      ...(capacity === undefined ? {} : { capacity }),
      ...{ beat: this.#association.nextBeat(now), ...(echo === undefined ? {} : { echo, silenceMs }) },
    };
    effects.push({ type: 'send', message });
    this.#nextHeartbeat = now + timeouts.heartbeatMs;
    // What was told before the last heartbeat had its time to be answered.
    this.#reports.repeat(now - 2 * timeouts.heartbeatMs, now);
    this.#reports.flush(effects);
  }

  #onMessage(message: ToWorker, now: number, effects: Effect[]): void {
    if (this.#isDying && message.t !== 'fetch') return;
    if ('instance' in message && message.instance !== this.#start.identity.instance) return;
    switch (message.t) {
      case 'heartbeat-reply':
        return this.#onHeartbeatReply(message, now, effects);
      case 'refused':
        return this.#die(
          message.code === 'protocol-version' ? 'incompatible' : 'refused',
          `the controller refused this worker: ${message.message}`,
          effects,
        );
      case 'get-running':
        return this.#reportRunning(message, now, effects);
      case 'run':
        return this.#onRun(message, now, effects);
      case 'notify':
        return this.#onNotify(message, now, effects);
      case 'check':
        return this.#onCheck(message, effects);
      case 'check-ack':
        return this.#onCheckAck(message, now, effects);
      case 'ack':
        for (const attempt of message.attempts) this.#attempts.forget(attempt);
        return;
      case 'retract':
        for (const attempt of message.attempts) this.#attempts.retract(attempt, now, effects);
        return;
      case 'kill':
        for (const attempt of message.attempts) this.#attempts.kill(attempt, message.why, now, effects);
        return;
      case 'fetch':
        return this.#attempts.fetch(message, effects);
      case 'drop-output':
        for (const attempt of message.attempts) this.#attempts.dropOutput(attempt, effects);
        return;
      case 'slots':
        this.#slotCount = message.slots;
        this.#attempts.resize(message.slots, effects);
        this.#nextHeartbeat = now;
        return;
      case 'die':
        return this.#die(message.isForGood ? 'stopped' : 'dismissed', message.why, effects);
    }
  }

  #onHeartbeatReply(reply: Of<'heartbeat-reply'>, now: number, effects: Effect[]): void {
    const before = this.#association.scheduler;
    const { isGreeted } = this.#association.onReply(reply);
    if (before !== this.#association.scheduler) {
      this.#checks.forget();
      this.#reports.keepOnly(this.#attempts.entries);
    }
    this.#nextHeartbeat = Math.min(this.#nextHeartbeat, now + this.#association.timeouts.heartbeatMs);
    this.#renewSpawner(now, effects);
    if (isGreeted) this.#tellAgain(now, effects);
  }

  /** It kills everything when it hears no more of us, no later than the controller expects it. */
  #renewSpawner(now: number, effects: Effect[]): void {
    if (this.#association.worker === undefined) return;
    const ms = Math.max(0, Math.round(this.#association.deadline(now) - now));
    effects.push({ type: 'spawner', message: { t: 'renew', ms } });
  }

  /** The heartbeat that follows at once is the one whose reply ends the state of being new. */
  #reportRunning({ scheduler }: Of<'get-running'>, now: number, effects: Effect[]): void {
    if (!this.#association.isWith(scheduler)) return;
    const { instance } = this.#start.identity;
    const { seq } = this.#association;
    effects.push({
      type: 'send',
      message: { t: 'running', scheduler, instance, seq, attempts: this.#attempts.running() },
    });
    this.#heartbeat(now, effects);
  }

  /** What the controller may have missed while it, or its link, was away. */
  #tellAgain(now: number, effects: Effect[]): void {
    this.#reports.repeat(now, now);
    const { untold } = this.#checks;
    if (untold !== undefined) effects.push({ type: 'send', message: untold });
    const kept = this.#attempts.kept();
    const { instance } = this.#start.identity;
    if (kept.length > 0) effects.push({ type: 'send', message: { t: 'kept', instance, kept } });
  }

  /** What is not here will not be: an order that is still on its way is older than this question. */
  #onNotify({ scheduler, seq, attempts }: Of<'notify'>, now: number, effects: Effect[]): void {
    if (!this.#association.isWith(scheduler) || !this.#association.takeNotify(seq)) return;
    for (const attempt of attempts) {
      if (this.#attempts.entries.has(attempt)) continue;
      const outcome = { kind: 'never-started', why: 'not-running', message: 'it did not reach its worker' } as const;
      this.#reports.add(endOf(attempt, outcome), now);
    }
    // Before the answer: what is not here must not be taken for accepted.
    this.#reports.flush(effects);
    const { instance } = this.#start.identity;
    effects.push({ type: 'send', message: { t: 'notified', scheduler, instance, seq } });
  }

  #onCheck(message: Of<'check'>, effects: Effect[]): void {
    if (this.#association.isWith(message.scheduler)) this.#checks.start(message, effects);
  }

  #onChecked(checked: ReturnType<HealthChecks['onFailed']>, now: number, effects: Effect[]): void {
    if (checked === undefined) return;
    if (!checked.isGood) {
      this.#association.onBadCheck(now);
      this.#renewSpawner(now, effects);
    }
    effects.push({ type: 'send', message: checked });
  }

  #onCheckAck({ scheduler, check }: Of<'check-ack'>, now: number, effects: Effect[]): void {
    const endedAt = this.#association.isWith(scheduler) ? this.#checks.onAcknowledged(check) : undefined;
    if (endedAt === undefined) return;
    this.#association.onGoodCheck(endedAt);
    this.#renewSpawner(now, effects);
  }

  /** An order of another controller is not refused: the refusal would reach one that may mean another attempt by its id. */
  #onRun({ scheduler, seq, specs, orders }: Of<'run'>, now: number, effects: Effect[]): void {
    if (!this.#association.isWith(scheduler)) return;
    for (const { workflow, spec } of specs) this.#attempts.addSpec(workflow, spec, effects);
    const accepted: number[] = [];
    for (const order of orders) {
      if (this.#attempts.entries.has(order.attempt)) continue;
      const refusal = this.#refusalOf(order, seq, now);
      const spec = this.#attempts.specOf(order.workflow);
      if (refusal === 'repeated') continue;
      if (refusal !== undefined || spec === undefined) {
        this.#refuse(order.attempt, refusal ?? 'its specification did not come along', now);
        continue;
      }
      this.#attempts.accept(order, spec);
      accepted.push(order.attempt);
    }
    if (accepted.length > 0) effects.push({ type: 'send', message: { t: 'accepted', attempts: accepted } });
  }

  #refuse(attempt: number, message: string, now: number): void {
    this.#reports.addOnce(endOf(attempt, { kind: 'never-started', why: 'refused', message }), now);
  }

  #refusalOf({ attempt, task }: Order, seq: number, now: number): string | undefined {
    // First of all: one that was here before may have run, and a refusal would say that it never did.
    if (!this.#association.takeOrder(attempt)) return 'repeated';
    if (seq < this.#association.seq) return 'it comes too late: it was asked about since';
    const { state, why } = this.#association.health(now);
    if (state !== 'healthy') return `the worker is ${state}: ${why}`;
    return this.#attempts.hasTask(task) ? 'an attempt of the same task is here' : undefined;
  }

  #onSpawner(message: FromSpawner, now: number, effects: Effect[]): void {
    switch (message.t) {
      case 'ready':
        return this.#onSpawnerReady(now, effects);
      case 'pong':
        this.#unanswered = 0;
        return;
      case 'started':
        return this.#attempts.onStarted(message, now);
      case 'ended':
        if (message.key < 0) return this.#onChecked(this.#checks.onEnded(message, now), now, effects);
        this.#usage.onEnd(message.key, now);
        return this.#attempts.onEnded(message, now);
      case 'usage':
        return this.#usage.onSamples(message.samples, now);
      case 'failed':
        return this.#onFailed(message, now, effects);
      case 'dropped':
        return this.#attempts.onDropped(message, now);
    }
  }

  #onFailed(message: FromSpawnerOf<'failed'>, now: number, effects: Effect[]): void {
    if (message.key < 0) this.#onChecked(this.#checks.onFailed(message.key, message.message, now), now, effects);
    this.#attempts.onFailed(message, now);
  }

  /** Everything that the spawner ran is dead with it; a new one takes over what was only accepted. */
  #onSpawnerGone(now: number): void {
    this.#isSpawnerReady = false;
    this.#nextPing = Number.POSITIVE_INFINITY;
    this.#checks.onSpawnerGone();
    this.#attempts.onSpawnerGone(now);
  }

  #onSpawnerReady(now: number, effects: Effect[]): void {
    this.#isSpawnerReady = true;
    this.#unanswered = 0;
    this.#nextPing = now;
    this.#attempts.equipSpawner(effects);
    this.#renewSpawner(now, effects);
  }

  /**
   * One that does not answer any more is killed, and all it ran with it: the next one starts what is left. It is judged by how often
   * it was asked, not by the time: a worker that was stopped, or whose machine slept, has not asked meanwhile.
   */
  #watchSpawner(now: number, effects: Effect[]): void {
    if (now < this.#nextPing) return;
    if (this.#unanswered >= spawnerPingsMax) {
      this.#nextPing = Number.POSITIVE_INFINITY;
      effects.push({ type: 'kill-spawner' });
      return;
    }
    this.#nextPing = now + spawnerPingMs;
    this.#unanswered++;
    effects.push({ type: 'spawner', message: { t: 'ping' } });
  }

  #watchGpus(effects: Effect[]): void {
    const isOn = this.#attempts.hasGpusTaken;
    if (isOn === this.#isWatchingGpus) return;
    this.#isWatchingGpus = isOn;
    effects.push({ type: 'watch-gpus', isOn });
  }

  #die(end: WorkerEnd, why: string, effects: Effect[]): void {
    if (this.#isDying) return;
    this.#isDying = true;
    const graceMs =
      end === 'stopped' ? stopGraceMs : Math.min(terminationMsDefault, this.#association.timeouts.killGraceMs);
    effects.push({ type: 'exit', end, why, graceMs });
  }
}
