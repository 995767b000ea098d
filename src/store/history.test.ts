import { describe, expect, it } from 'vitest';
import type { Change } from '../core/change.ts';
import { attemptId, taskId } from '../model/ids.ts';
import { changeTypes, entriesOf, pagesOf } from './history.ts';

const read = (data: string): Change[] =>
  entriesOf({ last: 1, at: 1_000, count: 1, data }, () => []).map(({ change }) => change);

const codeOf = (type: Change['type']): number => changeTypes.indexOf(type as (typeof changeTypes)[number]);

describe('history', () => {
  const single = (id: number) => ({ from: taskId(id), to: taskId(id) });
  const edges = { parents: single(1), children: single(2), after: 'success' } as const;
  const usage = { wallMs: 5, cpuMs: 2, peakBytes: 4_096 };
  const end = { attempt: attemptId(7), outcome: { kind: 'succeeded' }, startedAt: 900, usage } as const;

  it('3: what was written by name can still be read, now that it is written by position', () => {
    expect(read(JSON.stringify([[codeOf('edges-added'), { edges }]]))).toEqual([{ type: 'edges-added', edges }]);
    expect(read(JSON.stringify([[codeOf('attempt-ended'), end]]))).toEqual([{ type: 'attempt-ended', ...end }]);
  });

  it.each<Change>([
    { type: 'edges-added', edges },
    { type: 'attempt-ended', ...end },
    { type: 'attempt-ended', ...end, usage: { wallMs: 5, cpuMs: 2 } },
    { type: 'attempt-ended', attempt: attemptId(7), outcome: { kind: 'succeeded' } },
    { type: 'attempt-ended', ...end, signalledFor: 'a "timeout"' },
    { type: 'attempt-ended', ...end, outcome: { kind: 'exited', code: 3 } },
    { type: 'task-changed', task: taskId(1), event: { type: 'moved', move: { to: 'done' } } },
    {
      type: 'task-changed',
      task: taskId(1),
      event: { type: 'moved', move: { to: 'running', attempt: attemptId(7), number: 2 } },
    },
    {
      type: 'task-changed',
      task: taskId(1),
      event: { type: 'moved', move: { to: 'queued', notBefore: 9 }, charge: 'lost' },
    },
  ])('gives back what was put in: %j', (change) => {
    const [page] = pagesOf([change], 1_000, 41);
    expect(page).toMatchObject({ last: 42, at: 1_000, count: 1 });
    expect(read(page?.data ?? '')).toEqual([change]);
  });
});
