/**
 * What one task uses, from its first look on: its tree of processes, its peak of memory, and the samples of its series.
 *
 * Owns the tree, and the samples of a task that may be over before its series is worth telling.
 * 1. A task that ends before `usageLimits.fromMs` tells no sample; one that does not tells all of them, from its start.
 * 2. After the last sample the series has all processor time that the task used.
 */
import { usageLimits } from '../model/limits.ts';
import type { UsageMetric } from '../model/states.ts';
import { spacingMsAt, UsageSeries } from '../model/usage-series.ts';
import type { ProcFiles } from '../platform/node/process-look.ts';
import { readMemory } from '../platform/node/process-tree.ts';
import type { TaskSample } from '../protocol/spawner.ts';
import { TaskTree } from './task-tree.ts';

export type UseOf = {
  readonly key: number;
  readonly startedMs: number;
  /** The same, in ms since the epoch. */
  readonly at: number;
};

/** The kernel's own peaks of processes are read while a task is young, then as often as this: they cost as much as a look. */
const PEAKS_UNTIL_MS = 1_100;
const PEAKS_EVERY_MS = 10_000;
/** A tree of so many processes is looked at every second, one of twice as many every two seconds. */
const PROCESSES_PER_SECOND = 500;
/** Before this the ticks of the kernel are too coarse to tell how many processors are in use. */
const SERIES_FROM_MS = 900;

export class TaskUse {
  readonly tree: TaskTree;
  peakBytes = 0;
  private readonly task: UseOf;
  private readonly memory: UsageSeries;
  private readonly cpu: UsageSeries;
  private cpuTold = { ms: 0, cpuMs: 0 };
  private peaksMs = 0;
  private early: TaskSample[] | undefined = [];

  constructor(task: UseOf, files: ProcFiles) {
    this.task = task;
    this.tree = new TaskTree(files);
    this.memory = new UsageSeries('memory', task.startedMs);
    this.cpu = new UsageSeries('cpu', task.startedMs);
    this.cpuTold.ms = task.startedMs;
  }

  /** Whether it has so many processes that a look at them has to wait. */
  isTooSoon(nowMs: number): boolean {
    const everyMs = (this.tree.size / PROCESSES_PER_SECOND) * 1_000;
    return everyMs > 1_000 && nowMs - this.tree.lookedMs < everyMs;
  }

  /** Returns whether the processes are others than before. */
  look(roots: readonly number[], nowMs: number, isExact: boolean): boolean {
    const isChanged = this.tree.look(roots, nowMs, isExact);
    this.peakBytes = Math.max(this.peakBytes, this.tree.residentBytes);
    return isChanged;
  }

  /** Between two looks a process may have used more than in both. */
  readPeaks(nowMs: number): void {
    const ageMs = nowMs - this.task.startedMs;
    if (ageMs > PEAKS_UNTIL_MS && nowMs - this.peaksMs < PEAKS_EVERY_MS) return;
    this.peaksMs = nowMs;
    this.peakBytes = Math.max(this.peakBytes, readMemory(this.tree.settledPids).largestPeakBytes);
  }

  /** Adds what was looked at to the series. `tasks`: how many there are. */
  sample(nowMs: number, tasks: number, tell: (sample: TaskSample) => void): void {
    const ageMs = nowMs - this.task.startedMs;
    if (ageMs < SERIES_FROM_MS) return;
    const spacingMs = spacingMsAt(ageMs, tasks);
    const pass = this.passer(nowMs, tell);
    this.memory.look(nowMs, this.tree.residentBytes, spacingMs, pass('memory'));
    this.cpu.look(nowMs, this.cpusSince(nowMs), spacingMs, pass('cpu'));
  }

  /** All of it has ended. */
  end(nowMs: number, tell: (sample: TaskSample) => void): void {
    const pass = this.passer(nowMs, tell);
    if (this.early === undefined) {
      this.memory.end(nowMs, this.tree.residentBytes, pass('memory'));
      this.cpu.end(nowMs, this.cpusSince(nowMs), pass('cpu'));
    }
    this.tree.close();
  }

  private cpusSince(nowMs: number): number {
    const { cpuMs } = this.tree;
    const cpus = (cpuMs - this.cpuTold.cpuMs) / Math.max(1, nowMs - this.cpuTold.ms);
    this.cpuTold = { ms: nowMs, cpuMs };
    return cpus;
  }

  private passer(nowMs: number, tell: (sample: TaskSample) => void) {
    const { key, startedMs, at } = this.task;
    const { early } = this;
    const isEarly = early !== undefined && nowMs - startedMs < usageLimits.fromMs;
    if (early !== undefined && !isEarly) {
      this.early = undefined;
      for (const sample of early) tell(sample);
    }
    return (metric: UsageMetric) =>
      (atMs: number, value: number): void => {
        const sample: TaskSample = [key, metric, Math.round(at + atMs - startedMs), rounded(metric, value)];
        if (isEarly) early.push(sample);
        else tell(sample);
      };
  }
}

const rounded = (metric: UsageMetric, value: number): number =>
  metric === 'memory' ? Math.round(value) : Math.round(value * 1_000) / 1_000;
