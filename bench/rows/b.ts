/** Row b: programs that wait more than they work, more at a time than there are cores. */
import { droverRun } from '../drover.ts';
import { limit } from '../peers/limit.ts';
import { compareRates, type MakeRow } from '../row.ts';

const slots = 16;

export const rowB: MakeRow = ({ n }) => ({
  letter: 'b',
  contenders: [droverRun({ n, slots, line: 'sleep 0.01' }), limit({ n, slots, words: ['sleep', '0.01'] })],
  comparisons: compareRates('sleep 0.01, 16 slots', { limit: { least: 0.9 } }),
});
