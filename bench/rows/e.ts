/** Row e: whether the rate holds when a million tasks wait, beside ten thousand. */
import { join } from 'node:path';
import { pause } from '../../src/sdk/pause.ts';
import { submit } from '../../src/sdk/submission.ts';
import { startServer } from '../drover.ts';
import {
  drain,
  emptyTasks,
  type IdleWorker,
  type Stamp,
  spec,
  startIdleWorker,
  untilHealthy,
  withIdlePool,
} from '../empty-tasks.ts';
import { type Contender, compareRates, drover, type MakeRow } from '../row.ts';

/** The first ones go before the flow is steady: until then the controller does not know how much to send ahead. */
const skipped = 2_000;
const counted = 100_000;
const few = 10_000;
const fewTimes = 10;
const pollMs = 50;
const msMax = 300_000;

/** Tasks per second from the one stamp to the other: starts follow commits, so this is the rate of all. */
export function rateBetween(stamps: readonly Stamp[], from: number, to: number): number {
  const at = (count: number): number => {
    const found = stamps.find(({ started }) => started === count);
    if (found === undefined) throw new Error(`the idle worker has no stamp of start ${count}`);
    return found.monotonicMs;
  };
  return (1_000 * (to - from)) / (at(to) - at(from));
}

const amongMany = (n: number): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const directory = join(folder, '.drover');
    const server = await startServer(workshop, directory);
    await submit(server.client, { spec, items: emptyTasks(n) });
    const worker = startIdleWorker(workshop, directory);
    await untilHealthy(server.client, worker);
    const last = Math.min(skipped + counted, Math.floor(n / 1_000) * 1_000);
    await untilStarted(worker, last);
    const rate = rateBetween(worker.stamps(), skipped, last);
    await workshop.stop(worker.running, 'SIGKILL');
    await workshop.stop(server.running);
    workshop.discard(folder);
    return { rate };
  },
});

async function untilStarted(worker: IdleWorker, count: number): Promise<void> {
  for (const deadline = performance.now() + msMax; performance.now() < deadline; await pause(pollMs)) {
    if ((worker.stamps().at(-1)?.started ?? 0) >= count) return;
  }
  throw new Error(`fewer than ${count} tasks started in ${msMax / 1_000} s`);
}

/** Several times, one after the other: once is over too soon to be measured. */
const amongFew = (name: string): Contender => ({
  name,
  measure: (workshop) =>
    withIdlePool(workshop, {}, async ({ client, worker }) => {
      let seconds = 0;
      for (let time = 0; time < fewTimes; time++) {
        const { id } = await submit(client, { spec, items: emptyTasks(few) });
        await drain(client, id, few);
        const base = time * few;
        seconds += (few - skipped) / rateBetween(worker.stamps(), base + skipped, base + few);
      }
      return { rate: (fewTimes * (few - skipped)) / seconds };
    }),
});

export const rowE: MakeRow = ({ million }) => {
  const name = `drover, ${few.toLocaleString('en')} pending`;
  return {
    letter: 'e',
    contenders: [amongMany(million), amongFew(name)],
    comparisons: compareRates(`empty tasks, ${million.toLocaleString('en')} pending`, { [name]: { least: 0.85 } }),
  };
};
