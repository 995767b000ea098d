/** graphile-worker on PostgreSQL: the best of several ways to batch. */
import type { Contender, Figures } from '../row.ts';
import { missingPackage } from '../tools.ts';
import { packageVersion, runJobs } from './node-jobs.ts';
import { missingPostgres, postgresVersion, withPostgres } from './postgres.ts';

/** All fetch into a local queue and complete in batches; what is best depends on the machine. */
const ways = [
  { concurrentJobs: 24, queueSize: 500, completeMs: 0 },
  { concurrentJobs: 100, queueSize: 2_000, completeMs: 0 },
  { concurrentJobs: 500, queueSize: 4_000, completeMs: 5 },
] as const;

export const graphileWorker = (n: number): Contender => ({
  name: 'graphile-worker',
  note: `best of ${ways.length} ways to batch`,
  missing: () => missingPackage('graphile-worker') ?? missingPostgres(),
  version: async (workshop) => `${packageVersion('graphile-worker')}, ${await postgresVersion(workshop)}`,
  async measure(workshop) {
    let best: Figures | undefined;
    for (const [at, way] of ways.entries()) {
      // Each on a new database: what the one before left in it would be in the way.
      const figures = await withPostgres(workshop, (where) =>
        runJobs(workshop, 'graphile-worker-jobs.ts', n, where, way),
      );
      if ((figures.rate ?? 0) > (best?.rate ?? 0)) best = { ...figures, way: at + 1 };
    }
    if (best === undefined) throw new Error('no way to batch gave a rate');
    return best;
  },
});
