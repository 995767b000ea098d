/** Row g: empty tasks that wait for each other: ten edges each, from tasks a few thousand before. */
import { submitEdgesMax } from '../../src/model/limits.ts';
import type { EdgeSpec, TaskBatch } from '../../src/protocol/spec.ts';
import type { Client } from '../../src/sdk/client.ts';
import { drain, droverEmpty, spec, withIdlePool } from '../empty-tasks.ts';
import { type Contender, compareRates, drover, type MakeRow } from '../row.ts';

const edgesPerTask = 10;
const batchTasks = submitEdgesMax / edgesPerTask;
/** Parents lie so far back: near enough to bind the order, far enough that thousands can go at a time. */
const distance = { least: 1_000, most: 4_000 } as const;

/** A fixed sequence, so that every round has the same graph. */
export function* draws(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Single edges, not ranges: each is one of its own to the store. */
export function edgesOf(index: number, random: Iterator<number, never>): EdgeSpec[] {
  if (index <= distance.most) return [];
  const parents = new Set<number>();
  while (parents.size < edgesPerTask) {
    const back = distance.least + Math.floor(random.next().value * (distance.most - distance.least));
    parents.add(index - back);
  }
  return [...parents].map((parent) => ({ parents: [parent, parent], children: [index, index], after: 'success' }));
}

async function submitGraph(client: Client, n: number): Promise<{ id: string; edges: number }> {
  const random = draws(1);
  const { id } = await client.register(spec);
  let edges = 0;
  let sent: Promise<unknown> = Promise.resolve();
  let last = sent;
  for (let first = 1; first <= n; first += batchTasks) {
    const indices = Array.from({ length: Math.min(batchTasks, n - first + 1) }, (_, at) => first + at);
    const batch: TaskBatch = {
      tasks: indices.map((index) => ({ command: `true ${index}` })),
      edges: indices.flatMap((index) => edgesOf(index, random)),
    };
    edges += batch.edges.length;
    // The next batch is made and encoded while this one is on its way; there are never more than two.
    await sent;
    sent = last;
    last = client.extend(id, batch, sent);
  }
  await last;
  await client.close(id);
  return { id, edges };
}

const graph = (n: number): Contender => ({
  name: drover,
  measure: (workshop) =>
    withIdlePool(workshop, {}, async ({ client }) => {
      const begin = performance.now();
      const { id, edges } = await submitGraph(client, n);
      const submitted = performance.now();
      await drain(client, id, n);
      const end = performance.now();
      return { rate: (1_000 * n) / (end - begin), drainRate: (1_000 * n) / (end - submitted), edges };
    }),
});

export const rowG: MakeRow = ({ n }) => {
  // 100,000 tasks with a million edges, where row c has 40,000 tasks.
  const tasks = Math.round(2.5 * n) + (n >= 40_000 ? distance.most : 0);
  const name = `drover, row c (N = ${n.toLocaleString('en')})`;
  return {
    letter: 'g',
    contenders: [graph(tasks), droverEmpty(name, n)],
    comparisons: compareRates(`DAG, ${tasks.toLocaleString('en')} empty tasks with ${edgesPerTask} edges each`, {
      [name]: { least: 0.5 },
    }),
  };
};
