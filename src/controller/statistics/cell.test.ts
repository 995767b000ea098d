import { expect, it } from 'vitest';
import { type Need, plainNeed } from '../../model/need.ts';
import { outcomeKinds } from '../../model/states.ts';
import { Cell, type Ended, findBuckets } from './cell.ts';

const end = (
  wallMs: number,
  peakBytes: number,
  changed: Partial<Ended> & { readonly asks?: Partial<Need> } = {},
): Ended => ({
  ...{ outcome: 0, waitingMs: 5, runningMs: wallMs, totalMs: wallMs + 5, wallMs, cpuMs: wallMs / 2, peakBytes },
  ...changed,
  need: { ...plainNeed, ...changed.asks },
});

function cellOf(...ends: readonly Ended[]): Cell {
  const cell = new Cell();
  for (const one of ends) {
    const buckets = { waiting: 0, running: 0, total: 0, memory: 0 };
    findBuckets(one, buckets);
    cell.add(one, buckets);
  }
  return cell;
}

it('recommends by attempts that succeeded, and by no others', () => {
  const failed = { outcome: outcomeKinds.indexOf('exited') };
  expect(cellOf(end(9_999, 5, failed)).recommended()).toEqual({});
  const cell = cellOf(end(80_001, 100_000_000), end(90_000, 900_000_000, failed));
  expect(cell.recommended()).toEqual({ memoryBytes: 120_000_000, runtimeMs: 121_000, cpus: 0.5 });
});

it('compares what was asked for with what was used, over attempts that asked', () => {
  const { asked } = cellOf(end(1_000, 50, { asks: { memoryBytes: 100 } }), end(1_000, 900));
  expect({ ...asked.memory }).toEqual({ count: 1, requested: 100, used: 50 });
  expect({ ...asked.cpus }).toEqual({ count: 2, requested: 2_000, used: 1_000 });
});

it('added up is the same as all ends in one', () => {
  const ends = [end(4_000, 100), end(9_000, -1), end(-1, -1, { outcome: 4, waitingMs: -1, totalMs: -1 })];
  const sum = new Cell();
  for (const one of ends) sum.addAll(cellOf(one));
  const whole = cellOf(...ends);
  expect(sum.recommended()).toEqual(whole.recommended());
  expect(sum.outcomes).toEqual(whole.outcomes);
  expect(sum.running.count).toBe(2);
  expect(sum.memory.count).toBe(1);
});
