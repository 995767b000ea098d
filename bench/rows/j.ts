/** Row j: row c on a disk whose every sync takes 20 ms longer. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { droverEmpty, submitAndDrain, withIdlePool } from '../empty-tasks.ts';
import { type Contender, compareRates, drover, type MakeRow } from '../row.ts';
import { compiled, missingCompiler } from '../tools.ts';

const slowMs = 20;

const slow = (n: number): Contender => ({
  name: drover,
  missing: missingCompiler,
  async measure(workshop) {
    const library = await compiled(workshop, 'slow-fsync');
    const folder = workshop.scratch();
    const witness = join(folder, 'witness');
    const env = { LD_PRELOAD: library, SLOW_FSYNC_MS: String(slowMs), SLOW_FSYNC_WITNESS: witness };
    const figures = await withIdlePool(workshop, { server: { env } }, (pool) => submitAndDrain(pool, n));
    // A Node that is linked otherwise would ignore it, and the disk would have been fast.
    if (!existsSync(witness)) throw new Error('the syncs of the server were not slowed down');
    workshop.discard(folder);
    return figures;
  },
});

export const rowJ: MakeRow = ({ n }) => {
  const name = 'drover, row c';
  return {
    letter: 'j',
    contenders: [slow(n), droverEmpty(name, n)],
    comparisons: compareRates(`empty tasks, ${slowMs} ms added to every sync`, { [name]: { least: 0.5 } }),
  };
};
