/** Row a2: lines that need a shell. */
import { droverRun } from '../drover.ts';
import { hyperqueue } from '../peers/hyperqueue.ts';
import { xargs } from '../peers/xargs.ts';
import { compareRates, type MakeRow } from '../row.ts';

const line = 'true; echo $((1+1))';
const slots = 4;

export const rowA2: MakeRow = ({ n }) => ({
  letter: 'a2',
  contenders: [
    droverRun({ n, slots, line, shell: 'sh' }),
    xargs({ n, slots, line }),
    // It is slow; its rate is compared.
    hyperqueue({ n: Math.ceil(n / 8), slots, words: ['sh', '-c', line] }),
  ],
  comparisons: compareRates(`${line}, --shell sh, 4 slots`, { xargs: { least: 1 }, hyperqueue: { least: 1.2 } }),
});
