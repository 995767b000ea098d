/** What is advised, where it depends on what the task asks for or on how it failed. */
import { describe, expect, it } from 'vitest';
import { check, command, edge } from '../../../test/core/herd.ts';
import { failed, held, needing, Yard } from '../../../test/core/yard.ts';
import type { TaskSeed } from '../../core/change.ts';
import { adviceFor } from './advice.ts';

function advice(yard: Yard, seed: TaskSeed, passMs = 0): string[] {
  const w = yard.submit([seed]);
  yard.pass(passMs);
  return yard.why(w).reasons.flatMap((reason) => adviceFor(reason, 'w1.1'));
}

function withoutWorkers(): Yard {
  const yard = new Yard();
  yard.loseAll();
  return yard;
}

describe('where there is no worker', () => {
  it('one is advised that has what a worker does not find out by itself', () => {
    expect(advice(withoutWorkers(), needing({ queue: 'big', pools: { scratch: 5 } }))).toEqual([
      'drover worker --queue big --pool scratch=5',
    ]);
    expect(advice(withoutWorkers(), needing({ memoryBytes: 100_000_000, runtimeMs: 1_000 }))).toEqual([
      'drover worker',
    ]);
  });
});

describe('where no worker is large enough', () => {
  it('one is advised that has all of it, and that is not told to end', () => {
    const need = { cpus: 16, memoryBytes: 100_000_000, gpus: 1, pools: { scratch: 2 }, runtimeMs: 3_600_000 };
    expect(advice(new Yard(4), needing(need))).toEqual([
      'drover worker -j 16 --memory 100MB --gpus 1 --pool scratch=2',
    ]);
  });
});

describe('a check that failed', () => {
  it('is not advised to be tried again, since what it found has to be', () => {
    const yard = new Yard();
    const w = yard.submit([command, check], [edge(1, 2, 'any')]);
    yard.launch();
    yard.end(w, 1, failed);
    const { reasons, root } = yard.why(w, 2);
    expect(reasons.flatMap((reason) => adviceFor(reason, 'w1.2'))).toEqual([]);
    expect(root?.reasons.flatMap((reason) => adviceFor(reason, 'w1.1'))).toContain('drover retry w1.1');
  });
});

describe('a task that was not started in time', () => {
  it('is not advised to be tried again, since it would fail at once', () => {
    expect(advice(new Yard(), { ...held, until: 5_000 }, 10_000)).toEqual([]);
  });
});
