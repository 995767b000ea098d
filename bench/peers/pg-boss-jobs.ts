/** N empty jobs through pg-boss: inserted in bulk, then fetched and completed in batches, by two that take turns. */
import { batches, load, n, place, settings, takeTime } from './jobs-program.ts';

interface Boss {
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  insert(
    ...words: readonly [name: string, jobs: readonly object[]] | readonly [jobs: readonly object[]]
  ): Promise<unknown>;
  fetch(name: string, options: object): Promise<readonly { readonly id: string }[] | null>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
}

type Constructor = new (options: object) => Boss;
const loaded = load('pg-boss') as Constructor | { readonly PgBoss: Constructor };
/** Up to release 10 a package is its class, and each job names its queue. */
const isOld = typeof loaded === 'function';
const PgBoss = isOld ? loaded : loaded.PgBoss;
const boss = new PgBoss({ connectionString: place, supervise: false, schedule: false });
await boss.start();
const name = 'empty';
await boss.createQueue(name);
const { batchSize = 2_000, takers = 2 } = settings;
let left = n;

async function takeAll(): Promise<void> {
  while (left > 0) {
    const jobs = (await boss.fetch(name, { batchSize })) ?? [];
    if (jobs.length === 0) continue;
    await boss.complete(
      name,
      jobs.map(({ id }) => id),
    );
    left -= jobs.length;
  }
}

await takeTime(
  async () => {
    for (const indices of batches(batchSize)) {
      if (isOld) await boss.insert(indices.map((index) => ({ name, data: { index } })));
      else
        await boss.insert(
          name,
          indices.map((index) => ({ data: { index } })),
        );
    }
  },
  async () => {
    await Promise.all(Array.from({ length: takers }, takeAll));
  },
);
process.exit(0);
