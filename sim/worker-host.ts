/**
 * A machine with one worker, as src/main/worker-process.ts runs it: the real shell over virtual links, files and
 * spawner, one instance after the other.
 *
 * Owns: the machine's wall clock, its host lock, the processes of worker and spawner.
 * 1. The lock is held while the worker's process or its spawner lives; an instance begins only under the lock.
 * 2. A worker that crashes leaves its spawner, which kills everything and ends when it sees that.
 */
import type { Log } from '../src/platform/env.ts';
import type { WorkerEnd } from '../src/worker/messages.ts';
import { WorkerShell, type WorkerWorld } from '../src/worker/shell.ts';
import { MemoryOutputFiles } from '../test/controller/memory-files.ts';
import { virtualClock } from './clock.ts';
import type { Kernel } from './kernel.ts';
import type { VirtualNet } from './net.ts';
import type { WorkerPlan } from './plan.ts';
import { Process } from './process.ts';
import type { Random } from './random.ts';
import { VirtualSpawner } from './spawner.ts';
import type { Truth } from './truth.ts';

const endMarginMs = 1_500;
const goodbyeMs = 20;
const comeBackMs = 1_000;
const lockPollMs = 100;
/** Until whoever runs the worker starts it again. */
const startAgainMs = 1_500;

type Exit = Parameters<WorkerWorld['exit']>[0];

export const controllerMachine = 'c';

export interface HostContext {
  readonly kernel: Kernel;
  readonly net: VirtualNet;
  readonly truth: Truth;
  readonly random: Random;
}

export class WorkerHost {
  readonly plan: WorkerPlan;
  readonly machine: string;
  readonly #context: HostContext;
  readonly #random: Random;
  process: Process;
  spawner: VirtualSpawner | undefined;
  shell: WorkerShell | undefined;
  instance = '';
  /** Instances whose spawner, or all of it, had no CPU: what they run may outlive their deadline. */
  readonly excused = new Set<string>();
  wallOffsetMs = 0;
  /** As its spawner was told. */
  #slots = 0;
  /** Whether commands of health checks fail, and whether tasks do. */
  isSick = false;
  isBad = false;
  #clock: WorkerWorld['clock'] | undefined;
  #generation = 0;
  #instances = 0;
  #isLeaving = false;

  constructor(plan: WorkerPlan, context: HostContext) {
    this.plan = plan;
    this.machine = plan.machine;
    this.#context = context;
    this.#random = context.random.fork(plan.machine);
    this.wallOffsetMs = plan.wallOffsetMs;
    this.process = this.#newProcess();
    context.kernel.post(this.process, plan.startsAtMs, 'boot', () => this.#begin());
  }

  /** Whether it has a live instance that is not on its way out. */
  get isServing(): boolean {
    return this.process.isAlive && this.shell !== undefined && !this.#isLeaving;
  }

  /** How many tasks may run that start now. */
  get slotsMax(): number {
    return this.#slots;
  }

  /** As its worker's process reads its clock. */
  get now(): number {
    return this.#clock?.now() ?? this.#context.kernel.now;
  }

  /** `isSilent`: the whole machine loses power. */
  crash(restartMs: number, isSilent: boolean): void {
    const { kernel, net } = this.#context;
    const { process, spawner } = this;
    if (!process.isAlive) return;
    kernel.note(process.name, isSilent ? 'the machine loses power' : 'the worker crashes');
    process.isAlive = false;
    this.shell = undefined;
    this.#excuseIfStuck();
    net.onDied(process, isSilent);
    if (isSilent) spawner?.die('power');
    else if (spawner !== undefined) {
      kernel.post(spawner.process, this.#random.between(0.1, 20), 'stdin ends', () => spawner.die('its worker died'));
    }
    kernel.post(undefined, restartMs, 'restart', () => this.#boot());
  }

  suspend(isMachine: boolean): void {
    const { kernel, net } = this.#context;
    if (!this.process.isAlive || this.process.isSuspended) return;
    kernel.note(this.process.name, isMachine ? 'the machine is suspended' : 'the worker is stopped');
    this.process.isSuspended = true;
    net.onSuspended(this.process);
    if (isMachine && this.spawner?.process.isAlive) this.spawner.process.isSuspended = true;
    this.#excuseIfStuck();
  }

  /** The spawner gets no CPU; its worker, if it does, has to notice. */
  suspendSpawner(): void {
    const { spawner } = this;
    if (spawner === undefined || !spawner.process.isAlive || spawner.process.isSuspended) return;
    this.#context.kernel.note(spawner.process.name, 'the spawner is stopped');
    spawner.process.isSuspended = true;
    this.#excuseIfStuck();
  }

  /** With neither of them on the CPU nobody keeps the deadline. */
  #excuseIfStuck(): void {
    const isWorkerStuck = this.process.isSuspended || !this.process.isAlive;
    if (isWorkerStuck && this.spawner?.process.isSuspended) this.excused.add(this.instance);
  }

  resume(): void {
    const { kernel } = this.#context;
    for (const process of [this.process, this.spawner?.process]) {
      if (process?.isSuspended) kernel.note(process.name, 'resumes');
      if (process?.isSuspended) kernel.resume(process);
    }
  }

  #newProcess(): Process {
    return new Process(`${this.machine}.${++this.#generation}`, this.machine);
  }

  /** Waits for the lock, then is a process anew. */
  #boot(): void {
    const { kernel } = this.#context;
    if (this.process.isAlive) return;
    if (this.spawner?.process.isAlive) {
      kernel.post(undefined, lockPollMs, 'the lock is held', () => this.#boot());
      return;
    }
    this.process = this.#newProcess();
    kernel.post(this.process, 1, 'boot', () => this.#begin());
  }

  #begin(): void {
    const { kernel } = this.#context;
    const { shard, slots, capacity, isStanding, driftPpm } = this.plan;
    const clock = virtualClock(kernel, this.process, { offsetMs: this.wallOffsetMs, driftPpm });
    this.#clock = clock;
    this.#slots = slots;
    const now = clock.now();
    this.instance = `${Math.round(kernel.now)}-${this.machine}.${++this.#instances}`;
    this.#isLeaving = false;
    this.#onSpawnerDead = undefined;
    const identity = { shard, lock: this.machine, instance: this.instance, host: this.machine, pid: 1 };
    const directory = `/${this.machine}`;
    this.shell = new WorkerShell(this.#world(clock), {
      ...{ identity, slots, directory, tag: directory, now, isPatient: isStanding, environment: [] },
      ...(capacity === undefined ? {} : { capacity }),
    });
  }

  #world(clock: WorkerWorld['clock']): WorkerWorld {
    const { net } = this.#context;
    const { process } = this;
    const files = new MemoryOutputFiles();
    return {
      clock,
      net: net.of(process, controllerMachine),
      log: silentLog,
      files,
      random: () => this.#random.next(),
      address: () => ({ url: 'http://controller', token: 'token' }),
      onConnection: () => {},
      startSpawner: (listener) => {
        this.spawner = this.#newSpawner(listener, files);
        return this.spawner;
      },
      exit: (exit, sayGoodbye) => this.#exit(process, exit, sayGoodbye),
    };
  }

  #newSpawner(listener: ConstructorParameters<typeof VirtualSpawner>[1], files: MemoryOutputFiles): VirtualSpawner {
    const { kernel, truth, random } = this.#context;
    const process = new Process(`${this.machine}.s${++this.#generation}`, this.machine);
    const clock = virtualClock(kernel, process, { offsetMs: this.wallOffsetMs, driftPpm: this.plan.driftPpm });
    return new VirtualSpawner(
      {
        ...{ kernel, truth, random: random.fork('fates'), files, process, worker: this.process },
        ...{ instance: this.instance, machine: this, now: () => clock.now(), onDead: () => this.#onSpawnerDead?.() },
        onSlots: (count) => {
          this.#slots = count;
        },
      },
      listener,
    );
  }

  #onSpawnerDead: (() => void) | undefined;

  #exit(process: Process, { end, why, graceMs }: Exit, sayGoodbye: () => void): void {
    const { kernel } = this.#context;
    kernel.note(process.name, `exits (${end}): ${why}`);
    this.#isLeaving = true;
    const { spawner } = this;
    const finish = (): void => {
      this.#onSpawnerDead = undefined;
      kernel.post(process, 1, 'says goodbye', () => {
        sayGoodbye();
        this.shell = undefined;
        kernel.post(process, goodbyeMs, 'exit', () => this.#onExit(process, end));
      });
    };
    if (spawner === undefined || !spawner.process.isAlive) return finish();
    this.#onSpawnerDead = finish;
    spawner.send([{ t: 'stop', graceMs }]);
    kernel.post(process, graceMs + endMarginMs, 'stops waiting', () => spawner.die('KILL'));
  }

  #onExit(process: Process, end: WorkerEnd): void {
    const { kernel, net } = this.#context;
    if (this.plan.isStanding && end !== 'stopped' && end !== 'incompatible') {
      kernel.post(process, end === 'cut-off' ? 0 : comeBackMs, 'comes back', () => this.#begin());
      return;
    }
    process.isAlive = false;
    net.onDied(process, false);
    kernel.post(undefined, startAgainMs, 'restart', () => this.#boot());
  }
}

export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
