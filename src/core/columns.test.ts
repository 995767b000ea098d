import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import { AscendingQueue } from './columns.ts';

const drained = (queue: AscendingQueue): number[] => Array.from({ length: queue.size }, () => queue.pop());

describe('a queue of integers', () => {
  it('gives the smallest of what is in it, in whatever order it came and was taken', () => {
    const operations = fc.array(fc.oneof(fc.constant('pop'), fc.nat(100)), { maxLength: 300 });
    fc.assert(
      fc.property(operations, (all) => {
        const queue = new AscendingQueue();
        const model: number[] = [];
        for (const operation of all) {
          if (operation !== 'pop') {
            queue.push(operation as number);
            model.push(operation as number);
            model.sort((a, b) => a - b);
          } else if (model.length > 0) expect(queue.pop()).toBe(model.shift());
        }
        for (const value of [0, 50, 101]) {
          expect(queue.countBelow(value, 300)).toBe(model.filter((one) => one < value).length);
        }
        expect(drained(queue)).toEqual(model);
      }),
      madeUp(),
    );
  });

  it('keeps what is left when it makes room', () => {
    const queue = new AscendingQueue();
    let next = 0;
    for (let round = 0; round < 1_000; round++) {
      for (let count = 0; count < 3; count++) queue.push(next++);
      expect(queue.pop()).toBe(2 * round);
      expect(queue.pop()).toBe(2 * round + 1);
    }
    expect(drained(queue)).toEqual(Array.from({ length: 1_000 }, (_, offset) => 2_000 + offset));
  });
});
