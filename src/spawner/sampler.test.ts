import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Sampler } from './sampler.ts';

type Task = { readonly startedMs: number; ended: boolean; readonly looks: number[] };

const nowMs = (): number => performance.now();
let turns = 0;

function samplerOf(pauseMs: (task: Task) => number | undefined = () => undefined): Sampler<Task> {
  const look = (task: Task): number | undefined => {
    task.looks.push(nowMs() - task.startedMs);
    return pauseMs(task);
  };
  return new Sampler<Task>({ nowMs, before: () => turns++, after: () => {}, look });
}

const begin = (): Task => ({ startedMs: nowMs(), ended: false, looks: [] });
const gaps = (values: readonly number[]): number[] => values.slice(1).map((value, at) => value - (values[at] ?? 0));

beforeEach(() => {
  turns = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => vi.useRealTimers());

describe('a running task', () => {
  it('is looked at soon, then less often, and never less than once a second', () => {
    const sampler = samplerOf();
    vi.advanceTimersByTime(333);
    const task = begin();
    sampler.add(task);
    vi.advanceTimersByTime(60_000);
    expect(task.looks.slice(0, 3).map((age) => Math.round(age / 10) * 10)).toEqual([50, 150, 400]);
    expect(Math.max(...gaps(task.looks))).toBeLessThanOrEqual(1_005);
    expect(task.looks.length).toBeLessThan(66);
  });

  it('is not looked at when it has ended, nor is anybody woken then', () => {
    const sampler = samplerOf();
    const task = begin();
    sampler.add(task);
    vi.advanceTimersByTime(40);
    task.ended = true;
    vi.advanceTimersByTime(60_000);
    expect([task.looks, turns, vi.getTimerCount()]).toEqual([[], 0, 0]);
  });

  it('shares the moment of its looks with others', () => {
    const sampler = samplerOf();
    const tasks = Array.from({ length: 100 }, () => {
      vi.advanceTimersByTime(7);
      const task = begin();
      sampler.add(task);
      return task;
    });
    vi.advanceTimersByTime(10_000);
    turns = 0;
    vi.advanceTimersByTime(10_000);
    expect(tasks.every(({ looks }) => Math.max(...gaps(looks)) <= 1_020)).toBe(true);
    expect(turns).toBeLessThanOrEqual(80);
  });

  it('that was planned is looked at when it wants to, until it wants no more', () => {
    let left = 10;
    const sampler = samplerOf(() => (left-- > 0 ? 30 : undefined));
    const task = begin();
    sampler.plan(task, 20);
    vi.advanceTimersByTime(60_000);
    expect(task.looks).toHaveLength(11);
    expect(task.looks.at(-1)).toBeLessThan(20 + 10 * 30 + 100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that was planned and dropped is left alone', () => {
    const sampler = samplerOf(() => 30);
    const task = begin();
    sampler.plan(task, 20);
    vi.advanceTimersByTime(100);
    const before = task.looks.length;
    sampler.drop(task);
    vi.advanceTimersByTime(1_000);
    expect([before > 0, task.looks.length]).toEqual([true, before]);
  });
});
