/**
 * The life of tasks from start to end. Owns the tasks that run or have something left, and the signals under way.
 * Does not own processes' kinship (kin.ts) nor how they are started (starter.ts, launcher.ts). Invariants:
 *  1. each start is answered by `failed`, or by `started` and later exactly one `ended`, in this order;
 *  2. a task ends when its main process has been reaped and nothing of its tree is left; exit and signal are those of
 *     the main process;
 *  3. whatever is left of a task whose main process has ended has a timer on it, or is being killed;
 *  4. SIGKILL, once sent to a task, is repeated until the task has ended.
 */

import { constants } from 'node:os';
import type { ProcessEnd } from '../platform/node/libc.ts';
import type { TaskCgroup, TaskCgroups } from '../platform/node/task-cgroup.ts';
import type { FromSpawner, KillTask, OutputEnd, StartTask, TaskEnded, ToSpawner } from '../protocol/spawner.ts';
import { LEFTOVER_GRACE_MS, LEFTOVER_TERM_MS } from '../protocol/spawner.ts';
import type { BaseEnvironment } from './environment.ts';
import { StartError, stoppingFailure } from './failure.ts';
import { type OpenFile, TaskFiles } from './files.ts';
import type { Kin } from './kin.ts';
import type { Launcher } from './launcher.ts';
import type { MemoryUse } from './memory-guard.ts';
import { OomWatch } from './oom-watch.ts';
import { ScratchDirectories } from './scratch.ts';
import type { StartedProcess } from './starter.ts';
import { Starter } from './starter.ts';
import type { TaskUse } from './task-use.ts';
import { TaskWatch, type WatchedTask } from './task-watch.ts';

export type SpawnerClock = {
  /** ms since the epoch. */
  epochMs(): number;
  monotonicMs(): number;
};

export type SpawnerOptions = {
  readonly launcher: Launcher;
  readonly kin: Kin;
  /** Absent where the kernel can't be asked to limit the memory of tasks. */
  readonly cgroups?: TaskCgroups | undefined;
  readonly clock: SpawnerClock;
  /** Slots whose files must find descriptors. */
  readonly slotCount?: () => number;
  /** false: tasks without a limit of memory are not looked at. */
  readonly isSampling?: boolean;
  readonly send: (message: FromSpawner) => void;
  /** After `stop`: all has ended and is cleaned up. */
  readonly onStopped: () => void;
  /** The worker answers for its tasks for so long from when it said so, or from now. */
  readonly onRenew: (ms: number, sentAt: number | undefined) => void;
};

const SIGKILL = constants.signals.SIGKILL;
const KILL_AGAIN_MS = 500;
/** A stop that has not ended this long after its last SIGKILL is ended by force. */
const STOP_MARGIN_MS = 2_000;
/** The kernel counts resident memory in batches per thread. */
const RSS_ERROR_BYTES = 8 * 1024 * 1024;

type Phase =
  | { readonly state: 'running' }
  | { readonly state: 'leaving'; readonly end: ProcessEnd; readonly atMs: number }
  | { readonly state: 'ended' };

/** Signals sent to a task, and the timer that leads to the next one. */
type Pressure =
  | { readonly state: 'none' }
  | { readonly state: 'grace'; readonly timer: NodeJS.Timeout }
  | { readonly state: 'terminated' }
  | { readonly state: 'terminating'; readonly timer: NodeJS.Timeout; readonly killAtMs: number }
  | { readonly state: 'killed'; readonly timer: NodeJS.Timeout };

type Mutable<Message> = { -readonly [Name in keyof Message]: Message[Name] };

class Task implements WatchedTask {
  readonly key: number;
  readonly pid: number;
  readonly out: OpenFile;
  readonly err: OpenFile;
  readonly scratch: string | undefined;
  readonly startedMs: number;
  /** ms since the epoch. */
  readonly at: number;
  phase: Phase = { state: 'running' };
  pressure: Pressure = { state: 'none' };
  signalled: TaskEnded['signalled'];
  use: TaskUse | undefined;
  orphansCpuMs = 0;
  leftovers = 0;

  constructor(start: StartTask, started: StartedProcess, startedMs: number, at: number) {
    this.key = start.key;
    this.scratch = start.scratch;
    this.pid = started.pid;
    this.out = started.out;
    this.err = started.err;
    this.startedMs = startedMs;
    this.at = at;
  }

  get mainEnded(): boolean {
    return this.phase.state !== 'running';
  }

  get ended(): boolean {
    return this.phase.state === 'ended';
  }
}

export class Spawner {
  private readonly options: SpawnerOptions;
  private readonly kin: Kin;
  private readonly files: TaskFiles;
  private readonly scratch: ScratchDirectories;
  private readonly starter: Starter;
  private readonly watch: TaskWatch<Task>;
  private readonly ooms = new OomWatch();
  private readonly environments = new Map<number, BaseEnvironment>();
  private readonly tasks = new Map<number, Task>();
  private readonly runningByPid = new Map<number, Task>();
  private readonly leaving = new Set<Task>();
  private poll: NodeJS.Timeout | undefined;
  private stopping = false;
  private ownPeakBytes = 0;

  constructor(options: SpawnerOptions) {
    this.options = options;
    this.kin = options.kin;
    this.files = new TaskFiles(options.launcher.libc);
    this.scratch = new ScratchDirectories(options.launcher.libc);
    this.starter = new Starter(options.launcher, this.files, this.scratch);
    this.watch = new TaskWatch({
      launcher: options.launcher,
      kin: options.kin,
      cgroups: options.cgroups,
      nowMs: options.clock.monotonicMs,
      send: options.send,
      beforeLooks: () => this.settle(),
      onExceeded: (task) => this.onExceeded(task),
      count: () => this.tasks.size,
      slotCount: options.slotCount ?? (() => 0),
      isSampling: options.isSampling ?? true,
    });
    options.launcher.watch((ends) => this.onEnds(ends));
    const { name, note } = options.launcher;
    options.send({ t: 'ready', pid: process.pid, launcher: name, ...(note === undefined ? {} : { note }) });
  }

  handle(message: ToSpawner): void {
    switch (message.t) {
      case 'env':
        this.environments.set(message.id, this.options.launcher.makeEnvironment(message.env));
        return;
      case 'dropEnv':
        this.environments.delete(message.id);
        return;
      case 'start':
        this.start(message);
        return;
      case 'kill':
        this.onKill(message);
        return;
      case 'renew':
        this.options.onRenew(message.ms, message.sentAt);
        return;
      case 'ping':
        this.ooms.look(this.options.clock.monotonicMs());
        this.options.send({ t: 'pong' });
        return;
      case 'stop':
        this.stop(message.graceMs);
        return;
    }
  }

  /** The next task with this path gets another file. */
  forgetFile(path: string): void {
    this.files.forget(path);
  }

  /** Leaves nothing alive below this process; for when there is no time, or nobody left to report to. */
  killEverything(): void {
    this.kin.killAll();
    this.options.launcher.discardEnds();
    this.watch.close();
  }

  private start(start: StartTask): void {
    const environment = this.environments.get(start.env);
    if (!environment) throw new Error(`start ${start.key} names the unknown environment ${start.env}`);
    if (this.tasks.has(start.key)) throw new Error(`start ${start.key} repeats the key of an unfinished task`);
    try {
      if (this.stopping) throw stoppingFailure();
      const { clock } = this.options;
      const startedMs = clock.monotonicMs();
      const at = clock.epochMs();
      const { memoryBytes } = start;
      const cgroup = memoryBytes === undefined ? undefined : this.watch.makeCgroup(start.key);
      const started = cgroup ? this.startIn(cgroup, start, environment) : this.starter.start(start, environment);
      const task = new Task(start, started, startedMs, at);
      this.tasks.set(task.key, task);
      this.runningByPid.set(task.pid, task);
      this.kin.enrol(task);
      this.watch.begin(task, memoryBytes, cgroup);
      const files = { stdout: start.stdout.path, stderr: start.stderr.path };
      this.options.send({ t: 'started', key: task.key, pid: task.pid, at, files });
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.options.send({ t: 'failed', key: start.key, ...error.failure });
    }
  }

  private startIn(cgroup: TaskCgroup, start: StartTask, environment: BaseEnvironment): StartedProcess {
    try {
      return cgroup.around(() => this.starter.start(start, environment));
    } catch (error) {
      this.watch.discard(cgroup);
      throw error;
    }
  }

  private onEnds(ends: readonly ProcessEnd[]): void {
    const atMs = this.options.clock.monotonicMs();
    for (const end of ends) {
      const task = this.runningByPid.get(end.pid);
      if (!task) {
        this.onOrphanReaped(end);
        continue;
      }
      this.runningByPid.delete(end.pid);
      this.watch.onReaped(task, end.pid, end.cpuMs);
      task.phase = { state: 'leaving', end, atMs };
      this.leaving.add(task);
      this.kin.onMainEnded(task);
    }
    this.settle();
  }

  private onOrphanReaped({ pid, cpuMs }: ProcessEnd): void {
    const owner = this.kin.onReaped(pid);
    const task = owner && this.tasks.get(owner.key);
    if (task) this.watch.onReaped(task, pid, cpuMs);
  }

  /** Ends the tasks of which nothing is left, and sees to what is left of the others. */
  private settle(): void {
    for (const member of this.kin.refresh()) {
      const pressure = this.tasks.get(member.key)?.pressure.state;
      if (pressure === 'killed') this.kin.kill(member);
      // What turns up after the TERM has not heard it.
      else if (pressure === 'terminating') this.kin.terminate(member);
    }
    for (const task of this.leaving) {
      if (!this.kin.hasLeftovers(task)) this.finish(task);
      else if (task.pressure.state === 'none' || task.pressure.state === 'terminated') this.beginGrace(task);
    }
    const { pollMs } = this.kin;
    if (pollMs === undefined || this.leaving.size === 0) return;
    this.poll ??= setTimeout(() => {
      this.poll = undefined;
      this.settle();
    }, pollMs);
  }

  private beginGrace(task: Task): void {
    const timer = setTimeout(() => {
      task.leftovers = this.kin.processes(task).length;
      task.pressure = { state: 'none' };
      this.terminate(task, LEFTOVER_TERM_MS);
    }, LEFTOVER_GRACE_MS);
    task.pressure = { state: 'grace', timer };
  }

  /** Memory can't wait for a grace. */
  private onExceeded(task: Task): void {
    if (!task.mainEnded) task.signalled ??= { why: 'memory', killed: false };
    this.kill(task);
  }

  private onKill(message: KillTask): void {
    const task = this.tasks.get(message.key);
    if (!task) return;
    if (!task.mainEnded) task.signalled ??= { why: message.why, killed: false };
    if (message.how === 'kill') this.kill(task);
    else this.terminate(task, message.how === 'term-kill' ? message.graceMs : undefined);
  }

  /** SIGTERM now; with a grace, SIGKILL after it. A later call may bring the SIGKILL forward, never put it off. */
  private terminate(task: Task, graceMs: number | undefined): void {
    if (task.pressure.state === 'killed') return;
    // Daemons whose parent has gone are not below the task any more: they have to be found first.
    this.kin.refresh();
    this.kin.terminate(task);
    const now = this.options.clock.monotonicMs();
    const plannedMs = task.pressure.state === 'terminating' ? task.pressure.killAtMs : Number.POSITIVE_INFINITY;
    const killAtMs = Math.min(plannedMs, graceMs === undefined ? Number.POSITIVE_INFINITY : now + graceMs);
    clearPressure(task);
    if (killAtMs === Number.POSITIVE_INFINITY) task.pressure = { state: 'terminated' };
    else {
      const timer = setTimeout(() => this.kill(task), killAtMs - now);
      task.pressure = { state: 'terminating', timer, killAtMs };
    }
  }

  private kill(task: Task): void {
    clearPressure(task);
    if (!task.mainEnded && task.signalled) task.signalled = { ...task.signalled, killed: true };
    this.kin.kill(task);
    task.pressure = { state: 'killed', timer: setTimeout(() => this.kill(task), KILL_AGAIN_MS) };
  }

  private finish(task: Task): void {
    if (task.phase.state !== 'leaving') throw new Error(`task ${task.key} ended while ${task.phase.state}`);
    const { end, atMs } = task.phase;
    clearPressure(task);
    task.phase = { state: 'ended' };
    this.leaving.delete(task);
    this.tasks.delete(task.key);
    this.kin.release(task);
    if (task.scratch !== undefined) this.scratch.release(task.scratch);
    const use = this.watch.end(task);
    const peakBytes = Math.max(use.peakBytes, this.credibleRss(end));
    const outOfMemory = this.outOfMemory(task, end, use.limit);
    // Each property by itself, since to put optional ones in by `...` takes several times as long.
    const ended: Mutable<TaskEnded> = {
      t: 'ended',
      key: task.key,
      cpuMs: end.cpuMs + task.orphansCpuMs,
      wallMs: atMs - task.startedMs,
      at: task.at,
      out: this.closeOutput(task.out),
      err: this.closeOutput(task.err),
    };
    if (end.signal === undefined) ended.exit = end.exit ?? 0;
    else ended.signal = end.signal;
    if (peakBytes > 0) ended.peakBytes = peakBytes;
    if (task.signalled) ended.signalled = task.signalled;
    if (outOfMemory !== undefined) ended.outOfMemory = outOfMemory;
    if (task.leftovers > 0) ended.leftovers = task.leftovers;
    this.options.send(ended);
    if (this.stopping && this.tasks.size === 0) this.finishStop();
  }

  /** A signal that was sent for another reason explains the end better. */
  private outOfMemory(task: Task, { signal }: ProcessEnd, use: MemoryUse | undefined): TaskEnded['outOfMemory'] {
    if (use !== undefined) this.ooms.disown(use.kernelKills);
    if (task.signalled !== undefined && task.signalled.why !== 'memory') return undefined;
    if (use?.isKnown || use?.outOfMemory !== undefined) return use.outOfMemory;
    if (signal !== SIGKILL || task.signalled !== undefined) return undefined;
    return this.ooms.hasKilled(this.options.clock.monotonicMs()) ? 'machine' : undefined;
  }

  private closeOutput(file: OpenFile): OutputEnd {
    const end = this.files.endOf(file);
    this.files.release(file);
    return end;
  }

  /** What wait4 reports starts at this process's own peak; beyond that it is the task's. */
  private credibleRss(end: ProcessEnd): number {
    if (end.maxRssBytes <= this.ownPeakBytes + RSS_ERROR_BYTES) return 0;
    this.ownPeakBytes = process.resourceUsage().maxRSS * 1024;
    return end.maxRssBytes > this.ownPeakBytes + RSS_ERROR_BYTES ? end.maxRssBytes : 0;
  }

  private stop(graceMs: number): void {
    if (this.stopping) return;
    this.stopping = true;
    setTimeout(() => this.options.onStopped(), graceMs + STOP_MARGIN_MS);
    for (const task of this.tasks.values()) {
      if (!task.mainEnded) task.signalled ??= { why: 'stop', killed: false };
      this.terminate(task, graceMs);
    }
    this.kin.terminateStrays();
    if (this.tasks.size === 0) this.finishStop();
  }

  private finishStop(): void {
    void this.scratch.removeAll().then(() => this.options.onStopped());
  }
}

function clearPressure(task: Task): void {
  if ('timer' in task.pressure) clearTimeout(task.pressure.timer);
}
