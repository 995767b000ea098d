import { describe, expect, it } from 'vitest';
import { check, command, edge, Herd, join } from '../../../test/core/herd.ts';
import type { WorkflowId } from '../../model/ids.ts';
import { addContinuations } from '../task/dependencies.ts';
import { type Reset, resetWorkflow } from './resetting.ts';

const reset = (herd: Herd, workflow: WorkflowId, all = false): Reset =>
  herd.turn((turn) => resetWorkflow(turn, { workflow, all, after: 0 }, 10_000));

const halt = (herd: Herd, workflow: WorkflowId, mode: 'drain' | 'kill' = 'drain') =>
  herd.turn((turn) => turn.mustWorkflow(workflow, { type: 'halt', mode }, 'definer'));

const resume = (herd: Herd, workflow: WorkflowId) =>
  herd.turn((turn) => turn.mustWorkflow(workflow, { type: 'resume', how: 'hot' }, 'definer'));

const failing =
  (...indices: number[]) =>
  (index: number) =>
    indices.includes(index) ? ({ kind: 'exited', code: 1 } as const) : ({ kind: 'succeeded' } as const);

describe('a reset', () => {
  it('lets what is not done wait again, with fresh budgets, and leaves what is done', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(2, 3)]);
    herd.finish(w, failing(2));
    expect(herd.states(w)).toEqual(['done', 'failed', 'cancelled']);
    expect(reset(herd, w)).toEqual({ count: 2 });
    expect(herd.states(w)).toEqual(['done', 'queued', 'waiting']);
    expect(herd.cluster.workflow(w).state).toBe('halted');
    expect(herd.cluster.tasks.used(herd.task(w, 2), 'attempts')).toBe(0);
    herd.launch();
    expect(herd.states(w)).toEqual(['done', 'queued', 'waiting']);
    resume(herd, w);
    herd.finish(w);
    expect(herd.cluster.workflow(w).state).toBe('done');
    expect(herd.cluster.tasks.attemptNumber(herd.task(w, 1))).toBe(1);
  });

  it('of all repeats what is done, in the order of its edges', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, join, command], [edge(1, 2), edge(2, 3), edge(3, 4)]);
    herd.finish(w);
    expect(reset(herd, w)).toEqual({ count: 0 });
    expect(herd.cluster.workflow(w).state).toBe('done');
    expect(reset(herd, w, true)).toEqual({ count: 3 });
    expect(herd.states(w)).toEqual(['queued', 'waiting', 'waiting', 'waiting']);
    resume(herd, w);
    herd.launch();
    expect(herd.states(w)).toEqual(['launched', 'waiting', 'waiting', 'waiting']);
    herd.finish(w);
    expect(herd.cluster.workflow(w)).toMatchObject({ state: 'done', run: 2 });
  });

  it('lets what is queued behind it wait again, whichever comes first', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 2)], { open: true });
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'hold' }, 'definer'));
    // The parent has the higher index: its edge was added later.
    herd.turn((turn) => addContinuations(turn, herd.task(w, 3), [herd.task(w, 2)], 'success'));
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'release' }, 'definer'));
    herd.launch();
    herd.end(w, 1);
    halt(herd, w);
    herd.end(w, 3);
    expect(herd.states(w)).toEqual(['done', 'queued', 'done']);
    expect(reset(herd, w, true)).toEqual({ count: 3 });
    expect(herd.states(w)).toEqual(['queued', 'waiting', 'queued']);
  });

  it('lets a barrier wait for what it has let pass, and fail no more for what is to be tried again', () => {
    const herd = new Herd();
    const w = herd.submit([command, join, command, check], [edge(1, 2, 'any'), edge(2, 3), edge(3, 4, 'any')]);
    herd.finish(w, failing(1, 3));
    expect(herd.states(w)).toEqual(['failed', 'done', 'failed', 'failed']);
    reset(herd, w);
    expect(herd.states(w)).toEqual(['queued', 'waiting', 'waiting', 'waiting']);
  });

  it('is for a cancelled workflow a way back, with what its user had cancelled', () => {
    const herd = new Herd();
    const w = herd.submit([command, command]);
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'cancel' }, 'definer'));
    expect(herd.cluster.workflow(w)).toMatchObject({ state: 'cancelled', stop: 'user' });
    expect(reset(herd, w)).toEqual({ count: 2 });
    expect(herd.cluster.workflow(w)).toMatchObject({ state: 'halted', stop: undefined });
    resume(herd, w);
    herd.finish(w);
    expect(herd.states(w)).toEqual(['done', 'done']);
  });

  it('is refused while a run is live or halting, and changes nothing then', () => {
    const herd = new Herd();
    const w = herd.submit([command, command]);
    herd.launch();
    herd.end(w, 1, { kind: 'exited', code: 1 });
    expect(() => reset(herd, w, true)).toThrow(expect.objectContaining({ code: 'run-is-live' }));
    halt(herd, w);
    expect(() => reset(herd, w, true)).toThrow(expect.objectContaining({ code: 'run-is-live' }));
    expect(herd.states(w)).toEqual(['failed', 'launched']);
  });

  it('goes on where a turn was full, and ends where a resume came between', () => {
    const herd = new Herd();
    const w = herd.submit(Array.from({ length: 10 }, () => command));
    herd.finish(w);
    const { next = 0 } = herd.turn((turn) => resetWorkflow(turn, { workflow: w, all: true, after: 0 }, 5));
    expect(next).toBe(4);
    expect(herd.states(w).filter((state) => state === 'done')).toHaveLength(6);
    const rest = () => herd.turn((turn) => resetWorkflow(turn, { workflow: w, all: true, after: next }, 1_000));
    expect(rest()).toEqual({ count: 6 });
    resume(herd, w);
    expect(rest).toThrow(expect.objectContaining({ code: 'run-is-live' }));
  });
});
