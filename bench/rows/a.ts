/** Row a: the shortest program there is, 4 at a time, with its output kept. */
import { droverRun } from '../drover.ts';
import { disbatch } from '../peers/disbatch.ts';
import { hyperqueue } from '../peers/hyperqueue.ts';
import { limit } from '../peers/limit.ts';
import { parallel } from '../peers/parallel.ts';
import { xargs } from '../peers/xargs.ts';
import { compareRates, type MakeRow } from '../row.ts';

const line = '/bin/true';
const slots = 4;
/** With fewer, the start of the peer itself would be what is measured. */
const fewest = 40;
/** Slow peers get fewer tasks, and their rates are compared: all of them would take minutes to hours. */
const fewer = (n: number, times: number): number => Math.min(n, Math.max(fewest, Math.round(n / times)));

export const rowA: MakeRow = ({ n }) => ({
  letter: 'a',
  contenders: [
    droverRun({ n, slots, line }),
    limit({ n, slots, words: [line] }),
    xargs({ n, slots, line }),
    parallel({ n: fewer(n, 10), slots, line }),
    disbatch({ n: fewer(n, 400), slots, line }),
    hyperqueue({ n: fewer(n, 8), slots, words: [line] }),
  ],
  comparisons: compareRates('/bin/true, 4 slots, output kept', {
    limit: { least: 0.8 },
    xargs: { least: 1.3 },
    parallel: { least: 5 },
    disbatch: { least: 100 },
    hyperqueue: { least: 1.3 },
  }),
});
