/**
 * Row l: statistics and failures of a million tasks that have ended, a tenth of them badly and in twelve ways; how long the
 * answers take, and whether they are right. Then the server is started anew, and has to read all of it.
 */
import { join } from 'node:path';
import type { Client } from '../../src/sdk/client.ts';
import { submit } from '../../src/sdk/submission.ts';
import { command, startServer } from '../drover.ts';
import { emptyTasks, spec, startIdleWorker, untilHealthy } from '../empty-tasks.ts';
import { ways } from '../failing.ts';
import { peakMB } from '../memory.ts';
import { type Comparison, type Contender, drover, type Figures, type MakeRow, type Unit } from '../row.ts';
import { lastWords, type Workshop } from '../workshop.ts';

const failEvery = 10;
const timesEach = 5;
const waitMs = 30_000;

const summing = (n: number): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const directory = join(folder, '.drover');
    const server = await startServer(workshop, directory);
    const worker = startIdleWorker(workshop, directory, false, failEvery);
    await untilHealthy(server.client, worker);
    const { id } = await submit(server.client, { spec, items: emptyTasks(n) });
    await untilEnded(server.client, id);
    await mustBeRight(server.client, id, n);
    const live = await timesOf(workshop, directory, server.client, id);
    const controllerMB = peakMB(server.running.pid) ?? Number.NaN;
    await workshop.stop(worker.running);
    await workshop.stop(server.running);
    const again = await startServer(workshop, directory);
    const begin = performance.now();
    while ((await again.client.statistics({ waitMs })).isPartial);
    const readingSeconds = (performance.now() - begin) / 1_000;
    await mustBeRight(again.client, id, n);
    await workshop.stop(again.running);
    workshop.discard(folder);
    return { ...live, controllerMB, readingSeconds };
  },
});

async function untilEnded(client: Client, workflow: string): Promise<void> {
  for (let after = 0; ; ) {
    const view = await client.workflow(workflow, { after, waitMs: 10_000 });
    if (view.endedAt !== undefined) return;
    after = view.version;
  }
}

/** The groups are those that were made, each as large as it must be, and the sums are those of the tasks. */
async function mustBeRight(client: Client, workflow: string, n: number): Promise<void> {
  const { groups } = await client.failures(workflow);
  const sizes = groups.map(({ count }) => count).toSorted((a, b) => b - a);
  const failed = Math.floor(n / failEvery);
  const least = Math.floor(failed / ways.length);
  const isRight = sizes.length === ways.length && sizes.every((size) => size === least || size === least + 1);
  if (!isRight) throw new Error(`the groups of failures are wrong: ${sizes.join(', ')}`);
  const { states, outcomes, runningMs } = await client.statisticsOf(workflow);
  const facts = [states.done, states.failed, outcomes.succeeded, runningMs?.count];
  const expected = [n - failed, failed, n - failed, n];
  if (facts.some((fact, at) => fact !== expected[at])) {
    throw new Error(`the statistics are wrong: ${facts.join(', ')} instead of ${expected.join(', ')}`);
  }
}

async function timesOf(workshop: Workshop, directory: string, client: Client, id: string): Promise<Figures> {
  return {
    statsMs: await median(() => client.statisticsOf(id, { by: 'template' })),
    failuresMs: await median(() => client.failures(id, { by: 'host' })),
    statsCliMs: await median(() => perform(workshop, 'stats', '--dir', directory, id)),
    failuresCliMs: await median(() => perform(workshop, 'failures', '--dir', directory, id)),
  };
}

async function median(act: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < timesEach; time++) {
    const begin = performance.now();
    await act();
    taken.push(performance.now() - begin);
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(timesEach / 2)] ?? Number.NaN;
}

async function perform(workshop: Workshop, ...words: string[]): Promise<void> {
  const [program, all] = command(...words);
  const running = workshop.start(program, all);
  const status = await running.exited;
  if (status !== 0) throw new Error(`drover ${words.join(' ')} ended with ${status}: ${lastWords(running)}`);
}

export const rowL: MakeRow = ({ million }) => {
  const line = (work: string, figure: string, unit: Unit, most: number): Comparison => ({
    ...{ work, unit, target: { most }, value: { contender: drover, figure } },
  });
  const tasks = million.toLocaleString('en');
  return {
    letter: 'l',
    contenders: [summing(million)],
    comparisons: [
      line(`drover stats of ${tasks} tasks, a tenth failed, median of ${timesEach}`, 'statsCliMs', 'ms', 500),
      line('… drover failures, in 12 groups', 'failuresCliMs', 'ms', 500),
      line('… the request for statistics alone', 'statsMs', 'ms', 500),
      line('… the request for failures alone', 'failuresMs', 'ms', 500),
      line('… peak memory of the controller', 'controllerMB', 'MB', 700),
      line('… until all is read after a restart, when somebody waits', 'readingSeconds', 's', 30),
    ],
  };
};
