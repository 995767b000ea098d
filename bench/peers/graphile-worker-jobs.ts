/** N empty jobs through graphile-worker: added in bulk, fetched into a local queue, completed in batches. */
import { batches, load, n, pauseMs, place, settings, takeTime } from './jobs-program.ts';

interface Graphile {
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly object[]): Promise<unknown>;
    withPgClient<T>(
      use: (client: { query(text: string): Promise<{ rows: { count: number }[] }> }) => Promise<T>,
    ): Promise<T>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => object;
}

const { makeWorkerUtils, run, Logger } = load('graphile-worker') as Graphile;
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString: place, logger });
await utils.migrate();

let done = 0;
const { promise: allDone, resolve: onAllDone } = Promise.withResolvers<void>();
const { batchSize = 2_000, concurrentJobs = 24, queueSize = 500, completeMs = 0 } = settings;

await takeTime(
  async () => {
    for (const indices of batches(batchSize)) {
      await utils.addJobs(indices.map((index) => ({ identifier: 'empty', payload: { index } })));
    }
  },
  async () => {
    const runner = await run({
      connectionString: place,
      noHandleSignals: true,
      logger,
      preset: {
        worker: {
          ...{ concurrentJobs, completeJobBatchDelay: completeMs, failJobBatchDelay: completeMs, pollInterval: 1_000 },
          localQueue: { size: queueSize, ttl: 60_000 },
          maxPoolSize: 20,
        },
      },
      taskList: {
        empty: async () => {
          done += 1;
          if (done === n) onAllDone();
        },
      },
    });
    await allDone;
    // The last ones are drained when the database knows it.
    while ((await left()) > 0) await pauseMs(5);
    void runner;
  },
);

async function left(): Promise<number> {
  const { rows } = await utils.withPgClient((client) =>
    client.query('select count(*)::int as count from graphile_worker._private_jobs'),
  );
  return rows[0]?.count ?? 0;
}
process.exit(0);
