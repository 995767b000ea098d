import { describe, expect, it } from 'vitest';
import { workerId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { plainNeed } from '../../model/need.ts';
import { type Buckets, type Ended, findBuckets, succeeded } from './cell.ts';
import { anyPrefix, prefixOf, tagKey } from './tag-sets.ts';
import { type Place, WorkflowCells } from './workflow-cells.ts';

const x = tagKey('model', 'x');
const big = tagKey('size', 'big');
const place = (...tags: string[]): Place => ({ template: '', worker: workerId(1), tags });

/** Ends of attempts with these tags, one after the other, the first of which ran for 1 ms, the next for 2 ms. */
function cellsOf(...ends: readonly (readonly string[])[]): WorkflowCells {
  const cells = new WorkflowCells({ left: statisticsLimits.cellsMax });
  ends.forEach((tags, at) => {
    const buckets: Buckets = { waiting: 0, running: 0, total: 0, memory: 0 };
    const end: Ended = {
      ...{ outcome: succeeded, waitingMs: -1, runningMs: at + 1, totalMs: -1, wallMs: at + 1, cpuMs: 0, peakBytes: -1 },
      need: plainNeed,
    };
    findBuckets(end, buckets);
    cells.add(end, buckets, place(...tags));
  });
  return cells;
}

const without = (cells: WorkflowCells): number[][] =>
  [anyPrefix, prefixOf('model'), prefixOf('size'), prefixOf('mod')].map((prefix) => {
    const { outcomes, running } = cells.without(prefix);
    return [outcomes[succeeded] ?? 0, running.count === 0 ? 0 : running.max];
  });

describe('what has no tag of a name', () => {
  it('2. is told by itself, also of what ended before the first that has one', () => {
    const cells = cellsOf([], [], [x], [x, big], [], [big]);
    expect(without(cells)).toEqual([
      [3, 5],
      [4, 6],
      [4, 5],
      [6, 6],
    ]);
  });

  it('2. adds up over workflows, whichever of them has the tag', () => {
    const some = cellsOf([], [x]);
    some.addAll(cellsOf([], [big], []));
    expect(without(some).map(([count]) => count)).toEqual([3, 4, 4, 5]);
  });

  it('2. is one less when an end of it turns out to have been another', () => {
    const cells = cellsOf([], [x], [x]);
    cells.retract(succeeded, place());
    expect(without(cells).map(([count]) => count)).toEqual([0, 0, 2, 2]);
    cells.retract(succeeded, place(x));
    expect(without(cells).map(([count]) => count)).toEqual([0, 0, 1, 1]);
  });

  it('counts in what is kept, so that what is kept stays bounded', () => {
    const allowance = { left: 100 };
    const cells = new WorkflowCells(allowance);
    cells.addAll(cellsOf([], [x], [big]));
    expect(allowance.left).toBe(100 - cells.size);
  });
});
