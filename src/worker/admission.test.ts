import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import type { OrderNeed } from '../protocol/worker.ts';
import { Admission, gpuNamesOf } from './admission.ts';

const small = { slots: 2, memoryBytes: 1_000, gpus: ['0', '1', '2'], pools: { disk: 1.5 } };

describe('admission', () => {
  it.each<[string, OrderNeed[], OrderNeed, 'fits' | 'waits']>([
    ['parts of a processor', Array(19).fill({ cpus: 0.1 }), { cpus: 0.1 }, 'fits'],
    ['one part too many', Array(20).fill({ cpus: 0.1 }), { cpus: 0.001 }, 'waits'],
    ['the memory that is left', [{ cpus: 1, memoryBytes: 400 }], { cpus: 1, memoryBytes: 600 }, 'fits'],
    ['more memory', [{ cpus: 1, memoryBytes: 400 }], { cpus: 1, memoryBytes: 601 }, 'waits'],
    ['the GPUs that are left', [{ cpus: 1, gpus: 2 }], { cpus: 1, gpus: 1 }, 'fits'],
    ['more GPUs', [{ cpus: 1, gpus: 2 }], { cpus: 1, gpus: 2 }, 'waits'],
    ['the rest of a pool', [{ cpus: 1, pools: { disk: 0.7 } }], { cpus: 1, pools: { disk: 0.8 } }, 'fits'],
    ['more of a pool', [{ cpus: 1, pools: { disk: 0.7 } }], { cpus: 1, pools: { disk: 0.9 } }, 'waits'],
  ])('of %s', (_, before, next, expected) => {
    const admission = new Admission(small);
    for (const [at, need] of before.entries()) admission.take(at, need);
    expect(admission.judge(next, 0)).toEqual({ type: expected });
  });

  it('counts a processor for each plain attempt', () => {
    const admission = new Admission(small);
    expect([0, 1, 2].map((plain) => admission.judge({ cpus: 1 }, plain).type)).toEqual(['fits', 'fits', 'waits']);
    admission.take(1, { cpus: 1.5 });
    expect([admission.judge(undefined, 0).type, admission.judge({ cpus: 0.5 }, 0).type]).toEqual(['waits', 'fits']);
  });

  it.each<[OrderNeed, string]>([
    [{ cpus: 2.5 }, 'it needs 2.5 cpus, its worker has 2 cpus'],
    [{ cpus: 1, memoryBytes: 1_001 }, 'it needs 1001 bytes of memory, its worker has 1000 bytes of memory'],
    [{ cpus: 1, gpus: 4 }, 'it needs 4 GPUs, its worker has 3 GPUs'],
    [{ cpus: 1, pools: { tape: 1 } }, 'it needs 1 of the pool tape, its worker has 0 of the pool tape'],
  ])('says of what there is never enough: %j', (need, why) => {
    expect(new Admission(small).judge(need, 9)).toEqual({ type: 'never', why });
  });

  it('follows the number of slots; unknown memory is not counted', () => {
    const admission = new Admission({ slots: 1, gpus: [] });
    expect(admission.judge({ cpus: 2, memoryBytes: 2 ** 50 }, 0).type).toBe('never');
    admission.resize(4);
    expect(admission.judge({ cpus: 2, memoryBytes: 2 ** 50 }, 0).type).toBe('fits');
  });

  it('hands out the lowest GPUs that are free', () => {
    const admission = new Admission(small);
    expect(admission.take(1, { cpus: 0.1, gpus: 1 }).gpus).toEqual(['0']);
    expect(admission.take(2, { cpus: 0.1, gpus: 1 }).gpus).toEqual(['1']);
    admission.giveBack(1);
    expect(admission.take(3, { cpus: 0.1, gpus: 2 }).gpus).toEqual(['0', '2']);
  });

  it('never lets in more than there is, gives no GPU twice, and is empty when all have ended', () => {
    const amount = fc.integer({ min: 1, max: 20 }).map((tenths) => tenths / 10);
    const need = fc.record(
      {
        cpus: amount,
        memoryBytes: fc.integer({ min: 0, max: 700 }),
        gpus: fc.integer({ min: 0, max: 2 }),
        pools: fc.record({ disk: amount }),
      },
      { requiredKeys: ['cpus'] },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), need, fc.nat(20)), { maxLength: 100 }), (steps) => {
        const admission = new Admission(small);
        const running = new Map<number, { need: OrderNeed; gpus: readonly string[] }>();
        for (const [at, [isEnd, next, pick]] of steps.entries()) {
          const ended = [...running.keys()][pick];
          if (isEnd && ended !== undefined) {
            admission.giveBack(ended);
            running.delete(ended);
          } else if (admission.judge(next, 0).type === 'fits') {
            running.set(at, { need: next, gpus: admission.take(at, next).gpus });
          }
          const all = [...running.values()];
          const sum = (of: (one: OrderNeed) => number): number => all.reduce((total, one) => total + of(one.need), 0);
          expect(Math.round(sum(({ cpus }) => cpus * 10))).toBeLessThanOrEqual(20);
          expect(sum(({ memoryBytes = 0 }) => memoryBytes)).toBeLessThanOrEqual(1_000);
          expect(Math.round(sum(({ pools }) => (pools?.disk ?? 0) * 10))).toBeLessThanOrEqual(15);
          const gpus = all.flatMap((one) => one.gpus);
          expect([new Set(gpus).size, sum((one) => one.gpus ?? 0)]).toEqual([gpus.length, gpus.length]);
        }
        for (const attempt of running.keys()) admission.giveBack(attempt);
        const all: OrderNeed = { cpus: 2, memoryBytes: 1_000, gpus: 3, pools: { disk: 1.5 } };
        expect(admission.judge(all, 0)).toEqual({ type: 'fits' });
      }),
      madeUp(),
    );
  });
});

it.each([
  [2, undefined, ['0', '1']],
  [2, '3,5,7', ['3', '5']],
  [4, 'GPU-a, GPU-b', ['GPU-a', 'GPU-b']],
  [2, '', []],
  [2, '-1', []],
])('of %d GPUs, those that the worker itself may use are handed out: %j', (count, visible, names) => {
  expect(gpuNamesOf(count, visible)).toEqual(names);
});
