/**
 * Looks at running tasks: what they use, whether that is more than they may, and what of it is told.
 *
 * Owns: the schedule of looks (sampler.ts), the limits of memory (memory-guard.ts), samples that wait for their message.
 * 1. A task is looked at by one pass over its processes, whatever the look is for.
 * 2. A task that ends before its first look costs nothing here.
 * 3. The samples of a task are told before its end.
 */
import { usageLimits } from '../model/limits.ts';
import { descriptorsFor } from '../platform/node/descriptors.ts';
import { ProcFiles } from '../platform/node/process-look.ts';
import type { TaskCgroup, TaskCgroups } from '../platform/node/task-cgroup.ts';
import type { FromSpawner, TaskSample } from '../protocol/spawner.ts';
import type { Kin, Member } from './kin.ts';
import type { Launcher } from './launcher.ts';
import { MemoryGuard, type MemoryUse } from './memory-guard.ts';
import { REPEAT_MS, type Sampled, Sampler } from './sampler.ts';
import { TaskUse, type UseOf } from './task-use.ts';

export type WatchedTask = Member &
  Sampled &
  UseOf & {
    /** From its first look on. */
    use: TaskUse | undefined;
    /** Of processes without a parent in the task that have ended. */
    orphansCpuMs: number;
  };

export type TaskWatchOptions<Task> = {
  readonly launcher: Launcher;
  readonly kin: Kin;
  readonly cgroups: TaskCgroups | undefined;
  readonly nowMs: () => number;
  readonly send: (message: FromSpawner) => void;
  /** Finds daemons of tasks, and ends those that are over. */
  readonly beforeLooks: () => void;
  readonly onExceeded: (task: Task) => void;
  /** How many run. */
  readonly count: () => number;
  readonly slotCount: () => number;
  /** false: tasks without a limit are left alone, to see what looking at them costs. */
  readonly isSampling: boolean;
};

export type EndOfWatch = {
  /** 0 when it was never looked at. */
  readonly peakBytes: number;
  readonly limit: MemoryUse | undefined;
};

/** For the many tasks that are over before anybody looks. */
const UNSEEN: EndOfWatch = { peakBytes: 0, limit: undefined };
/** Looks are at common times, and no earlier than that before they are due. */
const EARLY_MS = 100;

export class TaskWatch<Task extends WatchedTask> {
  private readonly options: TaskWatchOptions<Task>;
  private readonly files: ProcFiles;
  private readonly sampler: Sampler<Task>;
  private readonly guard: MemoryGuard<Task>;
  private samples: TaskSample[] = [];
  private samplesSinceMs = 0;

  constructor(options: TaskWatchOptions<Task>) {
    const { launcher, cgroups, nowMs, beforeLooks, onExceeded } = options;
    this.options = options;
    this.files = new ProcFiles(launcher.libc, () => descriptorsFor(options.slotCount()));
    this.guard = new MemoryGuard({ cgroups, nowMs, onExceeded });
    this.sampler = new Sampler({
      nowMs,
      before: beforeLooks,
      after: () => this.tellIfDue(),
      look: (task) => this.look(task),
    });
  }

  /** For the task of that key, which is about to be started in it. */
  makeCgroup(key: number): TaskCgroup | undefined {
    return this.guard.makeCgroup(key);
  }

  discard(cgroup: TaskCgroup): void {
    this.guard.discard(cgroup);
  }

  begin(task: Task, memoryBytes: number | undefined, cgroup: TaskCgroup | undefined): void {
    if (memoryBytes === undefined) {
      if (this.options.isSampling) this.sampler.add(task);
    } else this.sampler.plan(task, this.guard.watch(task, memoryBytes, cgroup));
  }

  /** Its main process, or one without a parent in the task, has ended. */
  onReaped(task: Task, pid: number, cpuMs: number): void {
    if (pid !== task.pid) task.orphansCpuMs += cpuMs;
    task.use?.tree.onReaped(pid, cpuMs);
  }

  end(task: Task): EndOfWatch {
    const { use } = task;
    const limit = this.guard.release(task);
    if (limit !== undefined) this.sampler.drop(task);
    if (use === undefined) return limit === undefined ? UNSEEN : { peakBytes: limit.peakBytes, limit };
    const heldBefore = this.samples.length;
    use.end(this.options.nowMs(), this.hold);
    if (this.samples.length > heldBefore) this.tell();
    // The kernel's own count is exact; ours counts pages that processes share for each of them.
    const peakBytes = limit?.isKnown && limit.peakBytes > 0 ? limit.peakBytes : use.peakBytes;
    return { peakBytes: Math.max(peakBytes, limit?.peakBytes ?? 0), limit };
  }

  /** When everything is dead. */
  close(): void {
    this.guard.close();
  }

  private look(task: Task): number | undefined {
    const nowMs = this.options.nowMs();
    task.use ??= this.beginUse(task);
    const { use } = task;
    if (!this.guard.isWatching(task)) {
      if (!use.isTooSoon(nowMs)) this.measure(task, use, nowMs, false);
      return undefined;
    }
    const isByLooks = this.guard.needsLook(task);
    if (isByLooks || nowMs - use.tree.lookedMs >= REPEAT_MS - EARLY_MS) this.measure(task, use, nowMs, isByLooks);
    return this.guard.judge(task, use.tree);
  }

  private beginUse(task: Task): TaskUse {
    const use = new TaskUse(task, this.files);
    use.tree.cpuMs = task.orphansCpuMs;
    return use;
  }

  private measure(task: Task, use: TaskUse, nowMs: number, isExact: boolean): void {
    const { kin, count } = this.options;
    const isChanged = use.look(kin.roots(task), nowMs, isExact);
    if (isChanged) kin.see(task, use.tree.pids);
    use.readPeaks(nowMs);
    use.sample(nowMs, count(), this.hold);
  }

  private readonly hold = (sample: TaskSample): void => {
    if (this.samples.length === 0) this.samplesSinceMs = this.options.nowMs();
    this.samples.push(sample);
    if (this.samples.length >= usageLimits.messageSamplesMax) this.tell();
  };

  private tellIfDue(): void {
    if (this.samples.length === 0) return;
    if (this.options.nowMs() - this.samplesSinceMs >= usageLimits.spawnerBatchMs) this.tell();
  }

  private tell(): void {
    const { samples } = this;
    if (samples.length === 0) return;
    this.samples = [];
    this.options.send({ t: 'usage', samples });
  }
}
