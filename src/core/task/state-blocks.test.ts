import fc from 'fast-check';
import { expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { taskStates } from '../../model/states.ts';
import { allStates, blockTasks, endOfBlockBefore, nextBlock, StateBlocks } from './state-blocks.ts';

it('counts the tasks of every block by state, whatever they go through', () => {
  const state = fc.nat(taskStates.length - 1);
  const task = fc.integer({ min: 1, max: 3 * blockTasks });
  fc.assert(
    fc.property(fc.array(fc.record({ task, state }), { maxLength: 200 }), fc.nat(allStates), (moves, mask) => {
      const blocks = new StateBlocks();
      const states = new Map<number, number>();
      for (const { task, state } of moves) {
        const before = states.get(task);
        if (before === undefined) blocks.added(task, state);
        else blocks.moved(task, before, state);
        states.set(task, state);
      }
      const isWanted = (code: number) => ((mask >>> code) & 1) === 1;
      for (const first of [1, blockTasks, 2 * blockTasks, 3 * blockTasks]) {
        const within = [...states].filter(([id]) => Math.floor(id / blockTasks) === Math.floor(first / blockTasks));
        expect(blocks.inBlockOf(first, mask)).toBe(within.filter(([, code]) => isWanted(code)).length);
      }
      expect(blocks.total(mask)).toBe([...states.values()].filter(isWanted).length);
    }),
    madeUp(),
  );
});

it('blocks follow each other without a gap', () => {
  expect(nextBlock(1)).toBe(blockTasks);
  expect(nextBlock(blockTasks)).toBe(2 * blockTasks);
  expect(endOfBlockBefore(blockTasks)).toBe(blockTasks - 1);
  expect(endOfBlockBefore(1)).toBe(-1);
});
