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

const waiting = (attempts: readonly AttemptView[], counts: { total: number; pending: number }): readonly number[] => {
  const tally = new AttemptTally(beginMs + 10_000);
  for (const one of attempts) tally.add(one);
  return timelineOf(tally, { slotMs: 0, known: new Map() }, counts)?.series.waiting ?? [];
};

describe('tasks that are yet to start', () => {
  it('are those that start later and those that have not started', () => {
    const over = waiting([attempt(1, 1, 0, 1_000), attempt(2, 1, 5_000, 1_000)], { total: 3, pending: 1 });
    expect([over[0], over.at(-1)]).toEqual([2, 1]);
  });

  it('are not those that wait to be tried again', () => {
    const over = waiting([attempt(1, 1, 0, 1_000), attempt(2, 1, 5_000, 1_000)], { total: 3, pending: 3 });
    expect([over[0], over.at(-1)]).toEqual([2, 1]);
    const again = waiting([attempt(1, 1, 0, 1_000), attempt(1, 2, 2_000, 1_000)], { total: 1, pending: 1 });
    expect(Math.max(...again)).toBe(0);
  });
});
