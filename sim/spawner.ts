/**
 * A spawner without processes of the real machine: it speaks src/protocol/spawner.ts, and what it runs is in the truth.
 *
 * Owns: the tasks that run below it. Those that wait for a slot are in the real queue.
 * 1. Each start is answered by `failed`, or by `started` and later exactly one `ended`.
 * 2. However it ends, everything below it is dead first; its worker hears of it after its last words.
 */

import type { FromSpawner, KillTask, StartTask, TaskEnded, ToSpawner } from '../src/protocol/spawner.ts';
import { SlotQueue } from '../src/spawner/slot-queue.ts';
import type { SpawnerHandle, SpawnerListener } from '../src/worker/shell.ts';
import type { MemoryOutputFiles } from '../test/controller/memory-files.ts';
import { type Fate, fateOf, natureOf, outputOf, type TaskNature } from './fate.ts';
import type { Kernel } from './kernel.ts';
import type { Process } from './process.ts';
import type { Random } from './random.ts';
import type { RealProcess, Truth } from './truth.ts';

const pipeMs = 0.1;
const sigterm = 15;
const sigkill = 9;

interface Task {
  readonly start: StartTask;
  readonly nature: TaskNature;
  readonly real: RealProcess;
  readonly startedAt: number;
  signalled: TaskEnded['signalled'];
}

/** The age at which a task is looked at: what ends sooner tells nothing of what it used. */
const sampleMs = 700;

export interface SpawnerPlace {
  readonly kernel: Kernel;
  readonly truth: Truth;
  readonly random: Random;
  readonly files: MemoryOutputFiles;
  /** Its own, and that of its worker. */
  readonly process: Process;
  readonly worker: Process;
  readonly instance: string;
  /** Whether health checks, or all tasks, fail there now. */
  readonly machine: { readonly isSick: boolean; readonly isBad: boolean };
  now(): number;
  /** It and all below it are dead. */
  onDead(): void;
  /** So many slots there are from now on. */
  onSlots(count: number): void;
}

export class VirtualSpawner implements SpawnerHandle {
  readonly #place: SpawnerPlace;
  readonly #listener: SpawnerListener;
  readonly #tasks = new Map<number, Task>();
  readonly #queue: SlotQueue;
  #outbox: FromSpawner[] = [];
  #isWriting = false;
  #isStopping = false;
  #renewals = 0;

  constructor(place: SpawnerPlace, listener: SpawnerListener) {
    this.#place = place;
    this.#listener = listener;
    this.#queue = new SlotQueue({
      pass: (message) => this.#handle(message),
      forgetFile: () => {},
      send: (message) => this.#say(message),
      wake: () => this.#write(),
      now: () => Number.POSITIVE_INFINITY,
    });
    place.kernel.post(place.process, place.random.between(1, 60), 'begin', () =>
      this.#say({ t: 'ready', pid: 1, launcher: 'node' }),
    );
  }

  get process(): Process {
    return this.#place.process;
  }

  send(messages: readonly ToSpawner[]): void {
    const { kernel, process, worker } = this.#place;
    if (!worker.isAlive) return;
    const what = `from worker: ${JSON.stringify(messages.map(brief))}`;
    kernel.post(process, pipeMs, what, () => {
      for (const message of messages) {
        if (message.t === 'slots') this.#place.onSlots(message.count);
        this.#queue.handle(message);
      }
    });
  }

  /** At once and silently; the worker, if it lives, is told once all below it is dead. */
  die(why: string): void {
    const { kernel, process, worker, truth, random, onDead } = this.#place;
    if (!process.isAlive) return;
    process.isAlive = false;
    kernel.note(process.name, `dies: ${why}`);
    for (const { real } of this.#tasks.values()) truth.end(real);
    this.#tasks.clear();
    onDead();
    kernel.post(worker, pipeMs * 2 + random.between(0, 20), 'the spawner is gone', () => this.#listener.onGone());
  }

  #handle(message: ToSpawner): void {
    switch (message.t) {
      case 'start':
        return this.#start(message);
      case 'kill':
        return this.#kill(message);
      case 'stop':
        return this.#stop(message.graceMs);
      case 'ping':
        return this.#say({ t: 'pong' });
      case 'renew':
        return this.#renew(message.ms);
      default:
        return;
    }
  }

  kill(): void {
    this.die('KILL by its worker');
  }

  /** By its own clock; while it has no CPU it can do nothing. */
  #renew(ms: number): void {
    const renewal = ++this.#renewals;
    const { kernel, process } = this.#place;
    kernel.post(process, ms, 'the deadline', () => renewal === this.#renewals && this.die('its deadline'));
  }

  /** A health check is no task: nothing is known of it but whether it can be run. */
  #check({ key }: StartTask): void {
    const { kernel, process, random, machine } = this.#place;
    const at = this.#place.now();
    const none = { bytes: 0, tail: '' };
    kernel.post(process, random.between(1, 30), `check ${-key} ends`, () =>
      this.#say({ t: 'ended', key, exit: machine.isSick ? 1 : 0, cpuMs: 0, wallMs: 1, at, out: none, err: none }),
    );
  }

  #start(start: StartTask): void {
    if (start.key < 0) return this.#check(start);
    const { kernel, truth, random, files, process, instance, machine } = this.#place;
    const { key, command, stdout, stderr } = start;
    const stopping = { code: 'other', message: 'stopping', permanent: false } as const;
    if (this.#isStopping) return this.#queue.onMessage({ t: 'failed', key, ...stopping });
    const nature = natureOf(command);
    const fate = machine.isBad ? badFate : fateOf(nature, key, random, start.memoryBytes);
    if (fate.type === 'unstartable') return this.#queue.onMessage({ t: 'failed', key, ...fate.failure });
    const { task, isLicensed = false } = nature;
    const real = { attempt: key, task, machine: process.machine, instance, startedAt: kernel.now, isLicensed };
    const at = this.#place.now();
    const running: Task = { start, nature, real, startedAt: at, signalled: undefined };
    this.#tasks.set(key, running);
    truth.start(real);
    for (const { path } of [stdout, stderr]) files.empty(path);
    this.#queue.onMessage({ t: 'started', key, pid: 1, at, files: { stdout: stdout.path, stderr: stderr.path } });
    if (nature.bytes > 0) files.append(stdout.path, outputOf(nature, key));
    kernel.post(process, sampleMs, `task ${key} is looked at`, () => this.#sample(running));
    const { exit, signal, isTooLarge } = fate;
    const how = exit === undefined ? { signal: signal ?? sigkill } : { exit };
    kernel.post(process, fate.ms, `task ${key} ends`, () =>
      isTooLarge ? this.#exceed(running) : this.#end(running, how),
    );
  }

  #sample(task: Task): void {
    const { key } = task.start;
    if (this.#tasks.get(key) !== task) return;
    const at = this.#place.now();
    this.#queue.onMessage({
      t: 'usage',
      samples: [
        [key, 'memory', at, 1_000_000],
        [key, 'cpu', at, 1],
      ],
    });
  }

  /** A signal that was sent before is what it ends by. */
  #exceed(task: Task): void {
    const isFirst = task.signalled === undefined;
    task.signalled ??= { why: 'memory', killed: true };
    this.#end(task, { signal: sigkill, ...(isFirst ? { outOfMemory: 'task' } : {}) });
  }

  #kill({ key, how, graceMs, why }: KillTask): void {
    const task = this.#tasks.get(key);
    const patienceMs = { kill: 0, 'term-kill': graceMs, term: Number.POSITIVE_INFINITY }[how];
    if (task !== undefined) this.#press(task, patienceMs, why);
  }

  /** TERM, and KILL after the grace. */
  #press(task: Task, graceMs: number, why: string): void {
    const { kernel, process, random } = this.#place;
    task.signalled ??= { why, killed: false };
    if (!task.nature.isStubborn && graceMs > 0) {
      const ms = random.between(0, Math.min(graceMs, 50));
      kernel.post(process, ms, `task ${task.start.key} ends by TERM`, () => this.#end(task, { signal: sigterm }));
      return;
    }
    if (graceMs === Number.POSITIVE_INFINITY) return;
    kernel.post(process, graceMs, `task ${task.start.key} ends by KILL`, () => {
      task.signalled = { why, killed: true };
      this.#end(task, { signal: sigkill });
    });
  }

  #end(task: Task, how: Pick<TaskEnded, 'exit' | 'signal' | 'outOfMemory'>): void {
    const { start, startedAt, real, signalled } = task;
    const { key, stdout, stderr } = start;
    if (this.#tasks.get(key) !== task) return;
    const { files, truth } = this.#place;
    this.#tasks.delete(key);
    truth.end(real);
    this.#queue.onMessage({
      ...{ t: 'ended', key, ...how, cpuMs: 0, wallMs: Math.max(0, this.#place.now() - startedAt), at: startedAt },
      out: files.endOf(stdout.path),
      err: files.endOf(stderr.path),
      ...(signalled === undefined ? {} : { signalled }),
    });
    this.#exitIfStopped();
  }

  #stop(graceMs: number): void {
    this.#isStopping = true;
    for (const task of this.#tasks.values()) this.#press(task, graceMs, 'stop');
    this.#exitIfStopped();
  }

  #exitIfStopped(): void {
    const { kernel, process } = this.#place;
    if (!this.#isStopping || this.#tasks.size > 0) return;
    kernel.post(process, pipeMs, 'stopped', () => this.die('it was stopped'));
  }

  #say(message: FromSpawner): void {
    this.#outbox.push(message);
    this.#write();
  }

  #write(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { kernel, process, worker } = this.#place;
    kernel.post(process, 0, 'writes', () => {
      this.#isWriting = false;
      const messages = [...this.#outbox, ...this.#queue.takeStarts()];
      this.#outbox = [];
      const what = `from spawner: ${JSON.stringify(messages)}`;
      kernel.post(worker, pipeMs, what, () => this.#listener.onMessages(messages));
    });
  }
}

const badFate: Fate = { type: 'runs', ms: 5, exit: 1 };

/** What a timeline needs of a message. */
function brief(message: ToSpawner): object {
  if (message.t === 'start' || message.t === 'queue') return { t: message.t, key: message.key };
  return message.t === 'env' ? { t: message.t, id: message.id } : message;
}
