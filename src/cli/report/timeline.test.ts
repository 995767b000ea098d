import { describe, expect, it } from 'vitest';
import type { AttemptView } from '../../protocol/views/attempts.ts';
import { AttemptTally } from './tally.ts';
import { timelineOf } from './timeline.ts';

const beginMs = Date.parse('2026-11-15T00:00:00.000Z');
const iso = (ms: number): string => new Date(beginMs + ms).toISOString();

/** One that failed. */
const attempt = (task: number, number: number, startMs: number, ms: number): AttemptView => ({
  ...{ id: `w1.${task}#${number}`, number, state: 'ended', worker: 'k1', host: 'n1', wallMs: ms },
  ...{ recordedAt: iso(startMs), startedAt: iso(startMs), endedAt: iso(startMs + ms) },
  outcome: { kind: 'exited', code: 1 },
});

const tallied = (...attempts: readonly AttemptView[]): AttemptTally => {
  const tally = new AttemptTally(beginMs + 10_000);
  for (const one of attempts) tally.add(one);
  return tally;
};

const waiting = (tally: AttemptTally, left: number): readonly number[] =>
  timelineOf(tally, { slotMs: 0, known: new Map() }, { waiting: left })?.series.waiting ?? [];

describe('tasks that are yet to start', () => {
  it('are those that start later and those that have not started', () => {
    const over = waiting(tallied(attempt(1, 1, 0, 1_000), attempt(2, 1, 5_000, 1_000)), 1);
    expect([over[0], over.at(-1)]).toEqual([2, 1]);
  });

  it('are not those that are tried again', () => {
    const again = waiting(tallied(attempt(1, 1, 0, 1_000), attempt(1, 2, 2_000, 1_000)), 0);
    expect(Math.max(...again)).toBe(0);
  });

  it('are also those whose first attempt was taken back, until the next one starts', () => {
    const { startedAt: _, ...taken } = attempt(2, 1, 0, 0);
    const tally = tallied(attempt(1, 1, 0, 1_000), taken, attempt(2, 2, 5_000, 1_000));
    expect([tally.startedTasks, tally.unstarted.size]).toEqual([2, 0]);
    const over = waiting(tally, 0);
    expect([over[0], over.at(-1)]).toEqual([1, 0]);
  });
});
