/** N empty jobs through BullMQ: added in bulk, then worked off by one worker, many at a time. */
import { batches, load, n, place, settings, takeTime } from './jobs-program.ts';

interface BullMq {
  Queue: new (name: string, options: object) => { addBulk(jobs: readonly object[]): Promise<unknown> };
  Worker: new (
    name: string,
    work: () => Promise<void>,
    options: object,
  ) => { on(event: string, hear: (...words: unknown[]) => void): void };
}

const { Queue, Worker } = load('bullmq') as BullMq;
const connection = { path: place, maxRetriesPerRequest: null };
const { batchSize = 2_000, concurrency = 100 } = settings;
const queue = new Queue('empty', { connection, defaultJobOptions: { removeOnComplete: true } });

await takeTime(
  async () => {
    for (const indices of batches(batchSize)) {
      await queue.addBulk(indices.map((index) => ({ name: 'empty', data: { index } })));
    }
  },
  () =>
    new Promise((resolve, reject) => {
      let done = 0;
      const worker = new Worker('empty', async () => {}, { connection, concurrency });
      // Told when Redis has taken the completion.
      worker.on('completed', () => {
        done += 1;
        if (done === n) resolve();
      });
      worker.on('error', reject);
    }),
);
process.exit(0);
