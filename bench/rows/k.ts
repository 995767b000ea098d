/** Row k: how long pages and single tasks take to read when there are a million tasks, and nothing else goes on. */
import { join } from 'node:path';
import type { TaskBatch } from '../../src/protocol/spec.ts';
import type { Client } from '../../src/sdk/client.ts';
import { pause } from '../../src/sdk/pause.ts';
import { startServer } from '../drover.ts';
import { spec, startIdleWorker, untilHealthy } from '../empty-tasks.ts';
import { type Comparison, type Contender, drover, type Figures, type MakeRow } from '../row.ts';

const batchTasks = 4_000;
/** So many are run before the worker goes; the rest waits. */
const run = 20_000;
const timesEach = 40;
const pollMs = 20;
const msMax = 120_000;

/** Common and rare, found in memory, in definitions and in attempts; some match nothing. */
const filters = [
  ...['', 'state=done', 'state=queued', 'state=failed', 'held=true', 'priority>0&state=queued'],
  ...['workflow=w1&index>900000', 'exit=0', 'exit=137', 'host=nowhere', 'attempts>0&startedAt>-1h'],
  // A look at every task in memory.
  ...['hasContinuations=true', 'pendingDependencies>0'],
  ...['tag.model=x', 'tag.model=never', 'command~99999', 'requestedResources.memory>1GB&expectedDuration<60s'],
];

const tasksFrom = (first: number, count: number): TaskBatch => ({
  tasks: Array.from({ length: count }, (_, offset) => {
    const at = first + offset;
    return {
      command: `true ${at}`,
      ...(at % 1_000 === 0 ? { tags: { model: 'x' }, priority: 5, resources: { memoryBytes: 2e9 } } : {}),
      ...(at % 100_000 === 0 ? { held: true as const } : {}),
    };
  }),
  edges: [],
});

export function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.NaN;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await act();
  return performance.now() - begin;
}

const reading = (n: number): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const directory = join(folder, '.drover');
    const server = await startServer(workshop, directory);
    const { client } = server;
    const { id } = await client.register(spec);
    for (let first = 1; first <= n; first += batchTasks) {
      await client.extend(id, tasksFrom(first, Math.min(batchTasks, n - first + 1)));
    }
    await client.close(id);
    const worker = startIdleWorker(workshop, directory);
    await untilHealthy(client, worker);
    await untilDone(client, id, Math.min(run, Math.floor(n / 2)));
    await workshop.stop(worker.running);
    const figures = await read(client, id, n);
    await workshop.stop(server.running);
    workshop.discard(folder);
    return figures;
  },
});

async function untilDone(client: Client, workflow: string, count: number): Promise<void> {
  for (const deadline = performance.now() + msMax; performance.now() < deadline; await pause(pollMs)) {
    if ((await client.workflow(workflow)).counts.done >= count) return;
  }
  throw new Error(`fewer than ${count} tasks were done in ${msMax / 1_000} s`);
}

async function read(client: Client, workflow: string, n: number): Promise<Figures> {
  const [pages, tasks]: [number[], number[]] = [[], []];
  await client.restartLoopDelay();
  for (let time = -5; time < timesEach; time++) {
    for (const where of filters) {
      const taken = await timed(() => client.tasks({ where, sort: time % 2 === 0 ? 'id' : '-id' }));
      if (time >= 0) pages.push(taken);
    }
    for (let again = 0; again < 5; again++) {
      const index = 1 + Math.floor(Math.random() * n);
      const taken = await timed(() => client.task(`${workflow}.${index}`));
      if (time >= 0) tasks.push(taken);
    }
  }
  const delay = (await client.server()).loopDelayMs;
  return { pageMs: p95(pages), taskMs: p95(tasks), loopMaxMs: delay?.max ?? Number.NaN };
}

export const rowK: MakeRow = ({ million }) => {
  const line = (work: string, figure: string, most: number): Comparison => ({
    ...{ work, unit: 'ms', target: { most }, value: { contender: drover, figure } },
  });
  return {
    letter: 'k',
    contenders: [reading(million)],
    comparisons: [
      line(`a filtered page of ${million.toLocaleString('en')} tasks, p95 of ${filters.length} filters`, 'pageMs', 50),
      line('… one task, p95', 'taskMs', 10),
    ],
  };
};
