/**
 * Holds tasks to the memory that they asked for. The kernel does it where the spawner may make cgroups; elsewhere the
 * processes of a task are looked at, the more often the closer they are to the limit.
 *
 * Owns: the running tasks that have a limit, with their cgroups, the time of the next look at each, and one timer.
 * 1. A task that is found over its limit is told of once; that it was stays known until its end.
 * 2. A cgroup is there before its task's first process, and is removed after the last.
 */
import { readMemory, readProportionalMemory, readResident } from '../platform/node/process-tree.ts';
import type { TaskCgroup, TaskCgroups } from '../platform/node/task-cgroup.ts';
import { isFar, lookAgainMs } from './look-again.ts';

export type MemoryGuardOptions<Task> = {
  readonly cgroups: TaskCgroups | undefined;
  readonly nowMs: () => number;
  /** Finds daemons of tasks, and ends those that are over. */
  readonly beforeLooks: () => void;
  readonly processesOf: (task: Task) => readonly number[];
  /** It uses more than it may: all of it has to go, now. */
  readonly onExceeded: (task: Task) => void;
};

export type MemoryUse = {
  readonly outOfMemory: 'task' | 'machine' | undefined;
  readonly peakBytes: number;
  /** Whether the kernel would have said that the machine had none left. */
  readonly isKnown: boolean;
  /** Processes that the kernel killed for the task's own limit. */
  readonly kernelKills: number;
};

type Watched = {
  readonly limitBytes: number;
  readonly cgroup: TaskCgroup | undefined;
  readonly sinceMs: number;
  dueMs: number;
  lookedMs: number;
  usedBytes: number;
  peakBytes: number;
  isOver: boolean;
};

/** With a cgroup a look is only for what the kernel has done: it kills one process, and the others are ours to end. */
const CGROUP_LOOK_MS = 500;
/** To wake up costs more than to look at a task: looks that are due at nearly the same time share it, rare ones a second's fifth. */
const TICK_MS = 5;
const RARE_MS = 200;
/** Looks that count pages take at most this share of a processor. */
const PROPORTIONAL_SHARE = 0.05;

export class MemoryGuard<Task> {
  private readonly options: MemoryGuardOptions<Task>;
  private readonly watched = new Map<Task, Watched>();
  /** Cgroups whose task has ended, and in which a process is still about to disappear. */
  private readonly doomed = new Set<TaskCgroup>();
  private timer: NodeJS.Timeout | undefined;
  private timerMs = Number.POSITIVE_INFINITY;

  constructor(options: MemoryGuardOptions<Task>) {
    this.options = options;
  }

  /** For the task of that key, which is about to be started in it. */
  makeCgroup(key: number): TaskCgroup | undefined {
    return this.options.cgroups?.make(String(key));
  }

  watch(task: Task, limitBytes: number, cgroup: TaskCgroup | undefined): void {
    const nowMs = this.options.nowMs();
    const state = { dueMs: nowMs, lookedMs: nowMs, usedBytes: 0, peakBytes: 0, isOver: false };
    const watched = { limitBytes, cgroup, sinceMs: nowMs, ...state };
    this.watched.set(task, watched);
    if (cgroup !== undefined && !cgroup.limit(limitBytes)) this.exceed(task, watched);
    this.schedule(watched, nowMs, this.pauseMs(watched, 0, 0));
    this.arm(watched.dueMs);
  }

  /** Its last process is gone. */
  release(task: Task): MemoryUse | undefined {
    const watched = this.watched.get(task);
    if (watched === undefined) return undefined;
    this.watched.delete(task);
    const { cgroup, isOver } = watched;
    const outOfMemory = isOver ? 'task' : cgroup?.killed;
    const peakBytes = Math.max(watched.peakBytes, cgroup?.peakBytes ?? 0);
    const kernelKills = outOfMemory === 'task' ? (cgroup?.kills ?? 0) : 0;
    if (cgroup !== undefined) this.discard(cgroup);
    return { outOfMemory, peakBytes, isKnown: cgroup !== undefined, kernelKills };
  }

  /** When everything is dead. */
  close(): void {
    for (const { cgroup } of this.watched.values()) cgroup?.remove();
    for (const cgroup of this.doomed) cgroup.remove();
  }

  /** As soon as nothing is in it. */
  discard(cgroup: TaskCgroup): void {
    this.doomed.add(cgroup);
    for (const one of this.doomed) if (one.remove()) this.doomed.delete(one);
  }

  private arm(dueMs: number): void {
    if (dueMs >= this.timerMs) return;
    clearTimeout(this.timer);
    this.timerMs = dueMs;
    this.timer = setTimeout(() => this.onTimer(), Math.max(0, dueMs - this.options.nowMs()));
  }

  private onTimer(): void {
    this.timerMs = Number.POSITIVE_INFINITY;
    const untilMs = this.options.nowMs() + TICK_MS;
    const due = [...this.watched].filter(([, { isOver, dueMs }]) => !isOver && dueMs <= untilMs);
    if (due.some(([, { cgroup }]) => cgroup === undefined)) this.options.beforeLooks();
    for (const [task, watched] of due) if (this.watched.has(task)) this.look(task, watched);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { isOver, dueMs } of this.watched.values()) if (!isOver) nextMs = Math.min(nextMs, dueMs);
    if (nextMs < Number.POSITIVE_INFINITY) this.arm(nextMs);
  }

  private look(task: Task, watched: Watched): void {
    const beganMs = this.options.nowMs();
    if (watched.cgroup !== undefined) {
      if (watched.cgroup.killed === 'task') return this.exceed(task, watched);
      return this.schedule(watched, beganMs, CGROUP_LOOK_MS);
    }
    const usedBytes = this.measure(task, watched);
    const growth = (usedBytes - watched.usedBytes) / Math.max(1, beganMs - watched.lookedMs);
    watched.usedBytes = usedBytes;
    watched.lookedMs = beganMs;
    if (usedBytes > watched.limitBytes) return this.exceed(task, watched);
    const tookMs = this.options.nowMs() - beganMs;
    this.schedule(watched, beganMs, this.pauseMs(watched, growth, tookMs));
  }

  private schedule(watched: Watched, nowMs: number, pauseMs: number): void {
    const dueMs = nowMs + pauseMs;
    watched.dueMs = pauseMs < RARE_MS ? dueMs : Math.ceil(dueMs / RARE_MS) * RARE_MS;
  }

  /** Far below the limit all is counted for each who shares it; only what seems to be too much, page by page. */
  private measure(task: Task, watched: Watched): number {
    const processes = this.options.processesOf(task);
    const resident = readResident(processes);
    if (isFar(resident, watched.limitBytes)) {
      watched.peakBytes = Math.max(watched.peakBytes, resident);
      return resident;
    }
    const { rssBytes, largestPeakBytes, takenBytes } = readMemory(processes);
    watched.peakBytes = Math.max(watched.peakBytes, rssBytes, largestPeakBytes);
    // Alone it shares no page with others of its task.
    if (takenBytes <= watched.limitBytes || processes.length === 1) return takenBytes;
    return readProportionalMemory(processes);
  }

  private pauseMs({ limitBytes, usedBytes, sinceMs, cgroup }: Watched, growth: number, tookMs: number): number {
    if (cgroup !== undefined) return CGROUP_LOOK_MS;
    const ageMs = this.options.nowMs() - sinceMs;
    return Math.max(lookAgainMs({ limitBytes, usedBytes, growth, ageMs }), tookMs / PROPORTIONAL_SHARE);
  }

  private exceed(task: Task, watched: Watched): void {
    watched.isOver = true;
    this.options.onExceeded(task);
  }
}
