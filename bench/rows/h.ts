/** Row h: how soon one task starts on a pool that has nothing to do. */
import { join } from 'node:path';
import type { Client } from '../../src/sdk/client.ts';
import { pause } from '../../src/sdk/pause.ts';
import { submit } from '../../src/sdk/submission.ts';
import { command, startServer } from '../drover.ts';
import { drain, spec } from '../empty-tasks.ts';
import { type Contender, drover, type MakeRow } from '../row.ts';
import { median } from '../sitting.ts';

const times = 100;
/** Between two: the pool is idle again, and no rhythm of its own is met. */
const restMs = 20;
const readyMsMax = 30_000;

const single = (): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const directory = join(folder, '.drover');
    const server = await startServer(workshop, directory);
    const worker = workshop.start(...command('worker', '-j', '4', '--dir', directory));
    await untilWorker(server.client);
    const delays: number[] = [];
    // The first ones warm the programs up, as an hour of use would.
    for (let time = -10; time < times; time++) {
      const delay = await startDelay(server.client);
      if (time >= 0) delays.push(delay);
      await pause(restMs + 10 * Math.random());
    }
    await workshop.stop(worker);
    await workshop.stop(server.running);
    workshop.discard(folder);
    const sorted = delays.toSorted((a, b) => a - b);
    return { medianMs: median(delays) ?? Number.NaN, p90Ms: sorted[Math.floor(times * 0.9)] ?? Number.NaN };
  },
});

async function untilWorker(client: Client): Promise<void> {
  for (const deadline = performance.now() + readyMsMax; performance.now() < deadline; await pause(restMs)) {
    if ((await client.server()).workers > 0) return;
  }
  throw new Error('the worker did not join');
}

async function startDelay(client: Client): Promise<number> {
  const before = Date.now();
  const { id } = await submit(client, { spec, items: [{ command: '/bin/true' }] });
  await drain(client, id, 1);
  const { history } = await client.task(`${id}.1`);
  const startedAt = history[0]?.startedAt;
  if (startedAt === undefined) throw new Error('the task has no start');
  return Date.parse(startedAt) - before;
}

export const rowH: MakeRow = () => ({
  letter: 'h',
  contenders: [single()],
  comparisons: [
    {
      work: `one task on an idle pool, submission to start, median of ${times}`,
      value: { contender: drover, figure: 'medianMs' },
      unit: 'ms',
      target: { most: 10 },
    },
  ],
});
