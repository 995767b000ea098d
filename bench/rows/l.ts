/**
 * Row l: statistics and failures of a million tasks that have ended, a tenth of them badly and in twelve ways; how long the
 * answers take, and whether they are right. Then the server is started anew, and has to read all of it.
 */
import { join } from 'node:path';
import { foldLines } from '../../src/controller/failures/fold.ts';
import type { Client } from '../../src/sdk/client.ts';
import { submit } from '../../src/sdk/submission.ts';
import { command, startServer } from '../drover.ts';
import { emptyTasks, spec, startIdleWorker, untilHealthy } from '../empty-tasks.ts';
import { failureOf, ways } from '../failing.ts';
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

/** The groups that there must be: of each way its cause, what its last lines have in common, and how many failed so. */
function groupsOf(failed: number): string[] {
  const groups = new Map<string, number>();
  for (let at = 1; at <= failed; at++) {
    const { how, stderr } = failureOf(at);
    const cause = 'exit' in how ? `exit:${how.exit}` : `signal:${how.signal}`;
    const name = `${cause} ${foldLines(stderr)}`;
    groups.set(name, (groups.get(name) ?? 0) + 1);
  }
  return [...groups].map(([name, count]) => `${name} ${count}`).sort();
}

/** The groups are those that were made, each is found by its own filter, and the sums are those of the tasks. */
async function mustBeRight(client: Client, workflow: string, n: number): Promise<void> {
  const { groups } = await client.failures(workflow);
  const failed = Math.floor(n / failEvery);
  const found = groups.map(({ cause, pattern = '', count }) => `${cause} ${pattern} ${count}`).sort();
  const made = groupsOf(failed);
  if (made.length !== ways.length || found.join('\n') !== made.join('\n')) {
    throw new Error(`the groups of failures are wrong:\n${found.join('\n')}\ninstead of\n${made.join('\n')}`);
  }
  for (const { where, count } of groups) {
    const { count: matching } = await client.tasks({ where, count: true, limit: 1 });
    if (matching?.matched !== count) throw new Error(`${where} finds ${matching?.matched} tasks instead of ${count}`);
  }
  const { states, outcomes, runningMs } = await client.statisticsOf(workflow);
  const facts = [states.done, states.failed, outcomes.succeeded, runningMs?.count];
  const expected = [n - failed, failed, n - failed, n];
  if (facts.some((fact, at) => fact !== expected[at])) {
    throw new Error(`the statistics are wrong: ${facts.join(', ')} instead of ${expected.join(', ')}`);
  }
}

async function timesOf(workshop: Workshop, directory: string, client: Client, id: string): Promise<Figures> {
  return {
    statsMs: await slowest(() => client.statisticsOf(id, { by: 'template' })),
    filteredMs: await slowest(() => client.statistics({ where: 'state=failed', by: 'tag' })),
    failuresMs: await slowest(() => client.failures(id, { by: 'host' })),
    statsCliMs: await slowest(() => perform(workshop, 'stats', '--dir', directory, id)),
    failuresCliMs: await slowest(() => perform(workshop, 'failures', '--dir', directory, id)),
  };
}

async function slowest(act: () => Promise<unknown>): Promise<number> {
  let most = 0;
  for (let time = 0; time < timesEach; time++) {
    const begin = performance.now();
    await act();
    most = Math.max(most, performance.now() - begin);
  }
  return most;
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
      line(`drover stats of ${tasks} tasks, a tenth failed, the slowest of ${timesEach}`, 'statsCliMs', 'ms', 500),
      line('… drover failures, in 12 groups', 'failuresCliMs', 'ms', 500),
      line('… the request for statistics alone', 'statsMs', 'ms', 500),
      line('… the same of a filter, by tag', 'filteredMs', 'ms', 500),
      line('… the request for failures alone', 'failuresMs', 'ms', 500),
      line('… peak memory of the controller', 'controllerMB', 'MB', 700),
      line('… until all is read after a restart, when somebody waits', 'readingSeconds', 's', 30),
    ],
  };
};
