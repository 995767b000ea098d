/** That a task costs the controller the same, however many workers, tasks and workflows there are. */
import { describe, expect, it } from 'vitest';
import { ScaledHerd, type Size } from './herd.ts';

/** The least of a few is what it costs; the others tell what else the machine did. */
function cost(size: Size): number {
  const costs = [1, 2, 3, 4].map(() => {
    const herd = new ScaledHerd(size);
    herd.run();
    expect(herd.ended).toBe(size.tasks);
    return herd.cpuMs / herd.ended;
  });
  return Math.min(...costs);
}

/** What goes over all of them in each step is more than ten times as dear. */
const ratioMax = 3;

describe('the cost of a task', () => {
  // What one worker has to say is a step: nothing is shared with others.
  const base: Size = { workers: 100, tasks: 20_000, workflows: 1, messagesPerStep: 2 };
  new ScaledHerd(base).run();

  it.each([
    ['workers', { ...base, workers: 5_000, tasks: 50_000 }],
    ['tasks', { ...base, tasks: 400_000 }],
    ['workflows', { ...base, workflows: 2_000 }],
  ])('does not grow with the number of %s', { timeout: 120_000 }, (_, size) => {
    expect(cost(size) / cost(base)).toBeLessThan(ratioMax);
  });
});
