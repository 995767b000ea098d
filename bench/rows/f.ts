/** Row f: how long a server that comes back to a million tasks takes until it dispatches the first. */
import { join } from 'node:path';
import { pause } from '../../src/sdk/pause.ts';
import { submit } from '../../src/sdk/submission.ts';
import { startServer } from '../drover.ts';
import { emptyTasks, type IdleWorker, spec, startIdleWorker } from '../empty-tasks.ts';
import { type Contender, drover, type MakeRow } from '../row.ts';

const msMax = 120_000;
const pollMs = 20;

/** The worker is there before the server, and tries again and again to reach it, as one does after a restart. */
const restart = (n: number): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const directory = join(folder, '.drover');
    const first = await startServer(workshop, directory);
    await submit(first.client, { spec, items: emptyTasks(n) });
    await workshop.stop(first.running);
    const worker = startIdleWorker(workshop, directory);
    await pause(2_000);
    const begin = Date.now();
    const second = await startServer(workshop, directory);
    const readySeconds = (Date.now() - begin) / 1_000;
    const dispatchedAt = await firstStart(worker);
    await workshop.stop(worker.running, 'SIGKILL');
    await workshop.stop(second.running);
    workshop.discard(folder);
    return { seconds: (dispatchedAt - begin) / 1_000, readySeconds };
  },
});

async function firstStart(worker: IdleWorker): Promise<number> {
  for (const deadline = performance.now() + msMax; performance.now() < deadline; await pause(pollMs)) {
    const [first] = worker.stamps();
    if (first !== undefined) return first.at;
  }
  throw new Error(`nothing was dispatched in ${msMax / 1_000} s`);
}

export const rowF: MakeRow = ({ million }) => ({
  letter: 'f',
  contenders: [restart(million)],
  comparisons: [
    {
      work: `restart with ${million.toLocaleString('en')} tasks, to the first dispatch`,
      value: { contender: drover, figure: 'seconds' },
      unit: 's',
      target: { most: 6 },
    },
  ],
});
