/**
 * Health checks on the worker: tiny commands, run through the spawner like any task, beside the slots.
 *
 * Owns: the checks under way, and the last result until the controller has acknowledged it.
 * 1. A good result counts here only when the controller has it, and from when the check ended; a bad one counts at
 *    once. So a worker never takes itself for healthier than its controller does.
 * 2. A check is run once; one that ends after a newer one has no result.
 */
import type { FromSpawner } from '../protocol/spawner.ts';
import type { FromWorker, ToWorker } from '../protocol/worker.ts';
import type { Effect } from './messages.ts';

type Of<T extends ToWorker['t']> = Extract<ToWorker, { readonly t: T }>;
type Checked = Extract<FromWorker, { readonly t: 'checked' }>;
type TaskEnded = Extract<FromSpawner, { readonly t: 'ended' }>;

/** Keys of checks are below zero, those of attempts above; environments of workflows are above zero. */
const environmentId = 0;
const messageCharactersMax = 500;

interface Result {
  readonly checked: Checked;
  readonly endedAt: number;
}

export class HealthChecks {
  readonly #directory: string;
  readonly #environment: readonly string[];
  readonly #running = new Map<number, { readonly scheduler: string; readonly instance: string }>();
  #lastStarted = 0;
  #lastEnded = 0;
  #unacknowledged: Result | undefined;

  constructor(directory: string, environment: readonly string[]) {
    this.#directory = directory;
    this.#environment = environment;
  }

  start({ scheduler, instance, check, command }: Of<'check'>, effects: Effect[]): void {
    if (check <= this.#lastStarted) return;
    this.#lastStarted = check;
    const key = -check;
    this.#running.set(key, { scheduler, instance });
    effects.push({ type: 'spawner', message: { t: 'env', id: environmentId, env: this.#environment } });
    effects.push({
      type: 'spawner',
      message: {
        ...{ t: 'start', key, env: environmentId, vars: [], command, shell: '/bin/sh', cwd: '/' },
        stdout: { path: `${this.#directory}/check.out`, mode: 'truncate' },
        stderr: { path: `${this.#directory}/check.err`, mode: 'truncate' },
      },
    });
  }

  onEnded({ key, exit, signal, out, err }: TaskEnded, now: number): Checked | undefined {
    const isGood = exit === 0;
    const [printed = ''] = [err, out].map(({ tail }) => Buffer.from(tail, 'base64').toString().trim()).filter(Boolean);
    const how = exit === undefined ? `ended by signal ${signal}` : `exited with ${exit}`;
    return this.#result(key, isGood, isGood ? undefined : `it ${how}${printed === '' ? '' : `: ${printed}`}`, now);
  }

  onFailed(key: number, message: string, now: number): Checked | undefined {
    return this.#result(key, false, `it could not be started: ${message}`, now);
  }

  /** What the controller may not have got: it is told again on each link. */
  get untold(): Checked | undefined {
    return this.#unacknowledged?.checked;
  }

  /** Returns when the check ended, if it was good, and is the last one. */
  onAcknowledged(check: number): number | undefined {
    if (this.#unacknowledged?.checked.check !== check) return undefined;
    const { checked, endedAt } = this.#unacknowledged;
    this.#unacknowledged = undefined;
    return checked.isGood ? endedAt : undefined;
  }

  /** What ran is gone with it; the controller asks again. */
  onSpawnerGone(): void {
    this.#running.clear();
  }

  /** Another controller numbers its checks anew, and does not wait for these. */
  forget(): void {
    this.#running.clear();
    this.#unacknowledged = undefined;
    this.#lastStarted = 0;
    this.#lastEnded = 0;
  }

  #result(key: number, isGood: boolean, message: string | undefined, now: number): Checked | undefined {
    const asked = this.#running.get(key);
    const check = -key;
    this.#running.delete(key);
    if (asked === undefined || check < this.#lastEnded) return undefined;
    this.#lastEnded = check;
    const text = message === undefined ? {} : { message: message.slice(0, messageCharactersMax) };
    const checked: Checked = { t: 'checked', ...asked, check, isGood, ...text };
    this.#unacknowledged = { checked, endedAt: now };
    return checked;
  }
}
