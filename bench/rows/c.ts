/** Row c: empty tasks through controller, durable store and a worker that runs nothing; submit and drain. */
import { droverEmpty } from '../empty-tasks.ts';
import { bullmq } from '../peers/bullmq.ts';
import { dask } from '../peers/dask.ts';
import { graphileWorker } from '../peers/graphile-worker.ts';
import { pgBoss } from '../peers/pg-boss.ts';
import { compareRates, drover, type MakeRow } from '../row.ts';

const shuffled = 'drover, random order';

export const rowC: MakeRow = ({ n }) => ({
  letter: 'c',
  contenders: [
    droverEmpty(drover, n),
    droverEmpty(shuffled, n, { isShuffled: true }),
    graphileWorker(n),
    pgBoss(n),
    bullmq(n),
    // Its scheduler takes a millisecond for each, and slows down with their number.
    dask(Math.ceil(n / 4)),
  ],
  comparisons: [
    ...compareRates('empty tasks, submit + drain, idle worker', {
      'graphile-worker': { least: 3 },
      'pg-boss': undefined,
      bullmq: undefined,
      dask: undefined,
    }),
    {
      work: '… ending in random order',
      value: { contender: shuffled, figure: 'rate' },
      unit: 'tasks/s',
      against: { contender: 'graphile-worker', figure: 'rate' },
      target: { least: 1.5 },
    },
  ],
});
