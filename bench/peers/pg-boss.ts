/** pg-boss on PostgreSQL, in batches of 2,000. */
import type { Contender } from '../row.ts';
import { missingPackage } from '../tools.ts';
import { packageVersion, runJobs } from './node-jobs.ts';
import { missingPostgres, postgresVersion, withPostgres } from './postgres.ts';

export const pgBoss = (n: number): Contender => ({
  name: 'pg-boss',
  note: 'batches of 2,000',
  missing: () => missingPackage('pg-boss') ?? missingPostgres(),
  version: async (workshop) => `${packageVersion('pg-boss')}, ${await postgresVersion(workshop)}`,
  measure: (workshop) => withPostgres(workshop, (where) => runJobs(workshop, 'pg-boss-jobs.ts', n, where)),
});
