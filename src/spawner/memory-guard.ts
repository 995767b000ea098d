/**
 * Holds tasks to the memory that they asked for. The kernel does it where the spawner may make cgroups; elsewhere the
 * processes of a task are looked at, the more often the closer they are to the limit.
 *
 * Owns: the running tasks that have a limit, with their cgroups. When they are looked at is up to the sampler.
 * 1. A task that is found over its limit is told of once; that it was stays known until its end.
 * 2. A cgroup is there before its task's first process, and is removed after the last.
 */
import { readMemory, readProportionalMemory } from '../platform/node/process-tree.ts';
import type { TaskCgroup, TaskCgroups } from '../platform/node/task-cgroup.ts';
import { isFar, lookAgainMs } from './look-again.ts';
import type { TaskTree } from './task-tree.ts';

export type MemoryGuardOptions<Task> = {
  readonly cgroups: TaskCgroups | undefined;
  readonly nowMs: () => number;
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
  lookedMs: number;
  usedBytes: number;
  peakBytes: number;
  isOver: boolean;
};

/** With a cgroup a look is only for what the kernel has done: it kills one process, and the others are ours to end. */
const CGROUP_LOOK_MS = 500;
/** Looks that count pages take at most this share of a processor. */
const PROPORTIONAL_SHARE = 0.05;

export class MemoryGuard<Task> {
  private readonly options: MemoryGuardOptions<Task>;
  private readonly watched = new Map<Task, Watched>();
  /** Cgroups whose task has ended, and in which a process is still about to disappear. */
  private readonly doomed = new Set<TaskCgroup>();

  constructor(options: MemoryGuardOptions<Task>) {
    this.options = options;
  }

  /** For the task of that key, which is about to be started in it. */
  makeCgroup(key: number): TaskCgroup | undefined {
    return this.options.cgroups?.make(String(key));
  }

  /** Answers after what time to look at it. */
  watch(task: Task, limitBytes: number, cgroup: TaskCgroup | undefined): number {
    const nowMs = this.options.nowMs();
    const state = { lookedMs: nowMs, usedBytes: 0, peakBytes: 0, isOver: false };
    const watched = { limitBytes, cgroup, sinceMs: nowMs, ...state };
    this.watched.set(task, watched);
    if (cgroup !== undefined && !cgroup.limit(limitBytes)) this.exceed(task, watched);
    return this.pauseMs(watched, 0, 0);
  }

  isWatching(task: Task): boolean {
    return this.watched.has(task);
  }

  /** Whether its processes have to be looked at now: the kernel watches a cgroup by itself. */
  needsLook(task: Task): boolean {
    return this.watched.get(task)?.cgroup === undefined;
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

  /** By its processes as they were seen just now; answers after what time to look again, unless it is over its limit. */
  judge(task: Task, tree: TaskTree): number | undefined {
    const watched = this.watched.get(task);
    if (watched === undefined || watched.isOver) return undefined;
    const nowMs = this.options.nowMs();
    if (watched.cgroup !== undefined) {
      if (watched.cgroup.killed !== 'task') return CGROUP_LOOK_MS;
      return this.exceed(task, watched);
    }
    const usedBytes = this.measure(tree, watched);
    const growth = (usedBytes - watched.usedBytes) / Math.max(1, nowMs - watched.lookedMs);
    watched.usedBytes = usedBytes;
    watched.lookedMs = nowMs;
    if (usedBytes > watched.limitBytes) return this.exceed(task, watched);
    return this.pauseMs(watched, growth, this.options.nowMs() - nowMs);
  }

  /** Far below the limit all is counted for each who shares it; only what seems to be too much, page by page. */
  private measure(tree: TaskTree, watched: Watched): number {
    const resident = tree.residentBytes;
    watched.peakBytes = Math.max(watched.peakBytes, resident);
    if (isFar(resident, watched.limitBytes)) return resident;
    const { pids } = tree;
    const { rssBytes, largestPeakBytes, takenBytes } = readMemory(pids);
    watched.peakBytes = Math.max(watched.peakBytes, rssBytes, largestPeakBytes);
    // Alone it shares no page with others of its task.
    if (takenBytes <= watched.limitBytes || pids.length === 1) return takenBytes;
    return readProportionalMemory(pids);
  }

  private pauseMs({ limitBytes, usedBytes, sinceMs, cgroup }: Watched, growth: number, tookMs: number): number {
    if (cgroup !== undefined) return CGROUP_LOOK_MS;
    const ageMs = this.options.nowMs() - sinceMs;
    return Math.max(lookAgainMs({ limitBytes, usedBytes, growth, ageMs }), tookMs / PROPORTIONAL_SHARE);
  }

  private exceed(task: Task, watched: Watched): undefined {
    watched.isOver = true;
    this.options.onExceeded(task);
  }
}
