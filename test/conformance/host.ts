/**
 * A worker process of the bench: the real reactor, with a spawner whose tasks start when they are told to and end when
 * the test says so. Like a real one it outlives its links, dies slowly, and its spawner keeps the deadline it was given.
 */
import type { FromSpawner, KillTask, ToSpawner } from '../../src/protocol/spawner.ts';
import type { FromWorker, ToWorker, WorkerIdentity } from '../../src/protocol/worker.ts';
import type { Effect, Input, WorkerEnd } from '../../src/worker/messages.ts';
import { Worker } from '../../src/worker/reactor.ts';

const none = { bytes: 0, tail: '' };
const files = { stdout: '/o', stderr: '/e' };

/** A link, as two queues: what a test does not deliver is still on its way. */
export interface Wire {
  readonly id: number;
  toController: FromWorker[];
  toWorker: ToWorker[];
}

/** Whoever wants to know of every process that comes or goes. */
export interface Witness {
  onStart(host: Host, attempt: number): void;
  onEnd(host: Host, attempt: number): void;
}

export interface HostOptions {
  readonly identity: WorkerIdentity;
  readonly slots: number;
  /** What its clock shows beyond the controller's. */
  readonly skewMs: number;
}

export class Host {
  readonly worker: Worker;
  readonly instance: string;
  readonly options: HostOptions;
  readonly #witness: Witness;
  wire: Wire | undefined;
  /** Attempts that have a process now. */
  readonly alive = new Set<number>();
  /** How its health checks end; one that hangs does not. */
  check: 'good' | 'bad' | 'hangs' = 'good';
  end: WorkerEnd | undefined;
  /** When its slowest task is dead, after it was told to die. */
  deadAt = Number.POSITIVE_INFINITY;
  isDead = false;
  /** The spawner kills everything then. */
  renewedUntil = Number.POSITIVE_INFINITY;
  /** What the spawner was told to kill. */
  readonly kills: KillTask[] = [];
  #now: number;

  constructor(options: HostOptions, now: number, witness: Witness) {
    this.options = options;
    this.instance = options.identity.instance;
    this.#witness = witness;
    this.#now = now + options.skewMs;
    const start = { ...options, directory: '/d', tag: 't', now: this.#now, isPatient: true, environment: [] };
    this.worker = new Worker(start);
    this.feed({ type: 'spawner', message: { t: 'ready', pid: 2, launcher: 'posix_spawn' } }, now);
  }

  feed(input: Input, now: number): void {
    if (this.isDead) return;
    this.#now = now + this.options.skewMs;
    this.#perform(this.worker.step([input], this.#now));
  }

  nextDeadline(now: number): number {
    if (this.isDead) return Number.POSITIVE_INFINITY;
    const own = this.worker.nextDeadline(now + this.options.skewMs) - this.options.skewMs;
    return Math.min(own, this.deadAt, this.renewedUntil);
  }

  tick(now: number): void {
    if (now >= Math.min(this.deadAt, this.renewedUntil)) return this.finish();
    this.feed({ type: 'tick' }, now);
  }

  /** A task ends by itself. */
  endTask(attempt: number, exit: number, now: number): void {
    this.#leave(attempt);
    this.feed({ type: 'spawner', message: { ...ended(attempt), exit } }, now);
  }

  /** The end of the process, and of all that it ran: it says so if it still can. */
  finish(): void {
    for (const attempt of [...this.alive]) this.#leave(attempt);
    if (!this.isDead) this.wire?.toController.push({ t: 'goodbye', instance: this.instance });
    this.isDead = true;
  }

  #leave(attempt: number): void {
    if (this.alive.delete(attempt)) this.#witness.onEnd(this, attempt);
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === 'send') this.wire?.toController.push(structuredClone(effect.message));
      if (effect.type === 'spawner') this.#onSpawner(effect.message);
      if (effect.type === 'exit') {
        this.end = effect.end;
        this.deadAt = this.#now - this.options.skewMs + effect.graceMs;
      }
    }
  }

  #onSpawner(message: ToSpawner): void {
    if (message.t === 'renew') this.renewedUntil = this.#now - this.options.skewMs + message.ms;
    if (message.t === 'ping') this.#answer({ t: 'pong' });
    if (message.t === 'queue') {
      this.alive.add(message.key);
      this.#witness.onStart(this, message.key);
      this.#answer({ t: 'started', key: message.key, pid: 9, at: this.#now, files });
    }
    if (message.t === 'start' && this.check !== 'hangs') {
      this.#finishTask(message.key, { exit: this.check === 'good' ? 0 : 1 });
    }
    if (message.t === 'kill') this.kills.push(message);
    if (message.t === 'kill' && this.alive.has(message.key)) {
      this.#leave(message.key);
      this.#finishTask(message.key, { signal: 15, signalled: { why: message.why, killed: false } });
    }
  }

  #answer(message: FromSpawner): void {
    this.#perform(this.worker.step([{ type: 'spawner', message }], this.#now));
  }

  #finishTask(key: number, how: object): void {
    this.#answer({ ...ended(key), ...how });
  }
}

const ended = (key: number) => ({ t: 'ended' as const, key, cpuMs: 1, wallMs: 1, at: 1, out: none, err: none });
