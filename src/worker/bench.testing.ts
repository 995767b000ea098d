/** A worker with a hand that plays its controller and its spawner. */
import { presets } from '../model/timeouts.ts';
import type { ToSpawner } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import type { FromWorker, Order } from '../protocol/worker.ts';
import type { Effect, Input } from './messages.ts';
import { Worker, type WorkerStart } from './reactor.ts';

export const spec: WorkflowSpec = {
  cwd: '/work',
  shell: '/bin/sh',
  env: { HOME: '/home', DROVER_INDEX: 'of an outer run' },
  maxAttempts: 1,
  terminationMs: 700,
  failFast: false,
  open: false,
};
export const order = (attempt: number, changed: Partial<Order> = {}): Order => ({
  attempt,
  task: attempt,
  workflow: 1,
  index: attempt,
  number: 1,
  command: `echo ${attempt}`,
  ...changed,
});
export const none = { bytes: 0, tail: '' };
export const files = { stdout: '/d/slot-1.0.out', stderr: '/d/slot-1.0.err' };

export const timeouts = presets.interactive;
const identity = { shard: 's', lock: 'l', instance: 'i', host: 'h', pid: 1 };
type ToThisWorker = Extract<Input, { type: 'message' }>['message'];

export class Bench {
  readonly worker: Worker;
  now = 1_000;
  /** Of the last heartbeat. */
  beat = 0;
  /** How long attempts run. */
  wallMs = 2_000;
  /** What the controller takes beyond the first release. */
  takes: string[] | undefined;
  #lastCheck = 0;

  constructor(slots = 2, isPatient = false, more: Partial<WorkerStart> = {}) {
    const start = { identity, slots, directory: '/d', tag: 't', now: this.now, isPatient, environment: ['LANG=C'] };
    this.worker = new Worker({ ...start, ...more });
  }

  step(...inputs: Input[]): Effect[] {
    const effects = this.worker.step(inputs, this.now);
    for (const message of sent(effects)) if (message.t === 'heartbeat') this.beat = message.beat;
    return effects;
  }

  /** Connected, associated, the spawner ready, a health check passed. */
  ready(scheduler = 'c'): this {
    this.step({ type: 'spawner', message: { t: 'ready', pid: 2, launcher: 'posix_spawn' } }, { type: 'connected' });
    this.reply('new', scheduler);
    this.tell({ t: 'get-running', scheduler });
    this.reply('unhealthy', scheduler);
    this.check({ exit: 0 }, scheduler);
    return this;
  }

  reply(state: 'new' | 'unhealthy' | 'healthy', scheduler = 'c', beat = this.beat): Effect[] {
    const { takes } = this;
    const reply = { scheduler, instance: 'i', beat, worker: 3, state, timeouts, ...(takes && { takes }) };
    return this.tell({ t: 'heartbeat-reply', ...reply });
  }

  /** A whole health check: asked for, run, its result told and acknowledged. */
  check(how: object, scheduler = 'c'): Effect[] {
    const check = ++this.#lastCheck;
    this.tell({ t: 'check', scheduler, instance: 'i', check, command: 'true' });
    const effects = this.ended(-check, how);
    this.tell({ t: 'check-ack', scheduler, instance: 'i', check });
    return effects;
  }

  run(...orders: Order[]): Effect[] {
    return this.tell({ t: 'run', scheduler: 'c', instance: 'i', seq: 0, specs: [{ workflow: 1, spec }], orders });
  }

  reconnect(): void {
    this.step({ type: 'disconnected' }, { type: 'connected' });
  }

  started(key: number): Effect[] {
    return this.step({ type: 'spawner', message: { t: 'started', key, pid: 100 + key, at: this.now, files } });
  }

  ended(key: number, how: object = { exit: 0 }, out = none): Effect[] {
    const usage = { cpuMs: 1.4, wallMs: this.wallMs, at: this.now };
    return this.step({ type: 'spawner', message: { t: 'ended', key, ...usage, out, err: none, ...how } });
  }

  tell(message: ToThisWorker): Effect[] {
    return this.step({ type: 'message', message });
  }
}

export const sent = (effects: Effect[]): FromWorker[] => effects.flatMap((e) => (e.type === 'send' ? [e.message] : []));
export const toSpawner = (effects: Effect[]): ToSpawner[] =>
  effects.flatMap((e) => (e.type === 'spawner' ? [e.message] : []));
export const starts = (effects: Effect[]): number[] =>
  toSpawner(effects).flatMap((m) => (m.t === 'queue' || m.t === 'start' ? [m.key] : []));
export const outcomes = (effects: Effect[]) =>
  sent(effects).flatMap((m) => (m.t === 'update' ? m.ends.map(({ attempt, outcome }) => [attempt, outcome]) : []));
