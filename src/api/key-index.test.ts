import fc from 'fast-check';
import { expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import { KeyIndex } from './key-index.ts';

const key = (n: number): string => n.toString(16).padStart(32, '0');

it('has the numbers of a key in their order, and drops the first', () => {
  const index = new KeyIndex(3);
  for (const [k, number] of [
    [7, 3],
    [9, 2],
    [7, 1],
  ] as const)
    index.addBefore(key(k), number);
  expect([0, 1, 2].map((nth) => index.at(key(7), nth))).toEqual([1, 3, undefined]);
  index.dropFirst(key(7));
  expect([0, 1].map((nth) => index.at(key(7), nth))).toEqual([3, undefined]);
  for (let n = 0; n < 3; n++) index.dropFirst(key(7));
  expect(index.at(key(7), 0)).toBeUndefined();
  expect(index.at(key(8), 0)).toBeUndefined();
  expect(index.at(key(9), 0)).toBe(2);
});

it('1: does what a Map of lists does, whichever keys fall upon each other', () => {
  // The first word alone says where a key lies: few of them collide often.
  const keys = fc
    .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 }))
    .map(([first, last]) => first.toString(16).padStart(8, '0') + last.toString(16).padStart(24, '0'));
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 40 }), fc.array(keys, { maxLength: 40 }), (added, dropped) => {
      const index = new KeyIndex(added.length);
      const lists = new Map<string, number[]>();
      for (let at = added.length - 1; at >= 0; at--) {
        const one = added[at] as string;
        index.addBefore(one, at + 1);
        lists.set(one, [at + 1, ...(lists.get(one) ?? [])]);
      }
      for (const one of dropped) {
        index.dropFirst(one);
        lists.get(one)?.shift();
      }
      for (const one of [...added, ...dropped]) {
        for (let nth = 0; nth < 3; nth++) expect(index.at(one, nth)).toBe(lists.get(one)?.[nth]);
      }
    }),
    madeUp(),
  );
});
