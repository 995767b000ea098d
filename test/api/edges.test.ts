/** The edges of a workflow, as its readers get them: a real controller in this process. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EdgeSpec } from '../../src/protocol/spec.ts';
import { Client } from '../../src/sdk/client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';
import { madeUp } from '../set-up/made-up.ts';

let controller: InProcessController;
let client: Client;

beforeAll(async () => {
  controller = await startController({ hasWorker: false });
  client = new Client(controller.access);
});

afterAll(() => controller.close());

const held = (count: number) => Array.from({ length: count }, () => ({ command: 'x', held: true as const }));
const edge = (parents: [number, number], children: [number, number], after: EdgeSpec['after'] = 'success') => ({
  ...{ parents, children, after },
});

const submit = async (tasks: number, edges: EdgeSpec[]): Promise<string> =>
  (await client.submitWhole(plainSpec, { tasks: held(tasks), edges })).id;

/** Each edge for itself, as `1-3 any`. */
const pairsOf = (edges: readonly EdgeSpec[]): string[] =>
  edges.flatMap(({ parents: [from, to], children: [first, last], after }) => {
    const pairs: string[] = [];
    for (let parent = from; parent <= to; parent++)
      for (let child = first; child <= last; child++) pairs.push(`${parent}-${child} ${after}`);
    return pairs;
  });

describe('the edges of a workflow', () => {
  it('are as short for a fan, a join and a diamond as they were submitted', async () => {
    const edges = [edge([1, 1], [2, 2_001]), edge([2, 2_001], [2_002, 2_002])];
    const workflow = await submit(2_002, edges);
    expect(await Array.fromAsync(client.eachEdge(workflow))).toEqual(edges);
  });

  it('come in pages that go on where the last one ended, also within the edges of one task', async () => {
    const children = Array.from({ length: 25 }, (_, at) => 2 * at + 2);
    const edges = children.map((child) => edge([1, 1], [child, child], child % 4 === 0 ? 'any' : 'success'));
    const workflow = await submit(60, edges);
    const page = await client.edges(workflow, { limit: 10 });
    expect(page.edges).toHaveLength(10);
    expect(page.next).toBeDefined();
    const all = await Array.fromAsync(client.eachEdge(workflow, { limit: 7 }));
    expect(pairsOf(all).sort()).toEqual(pairsOf(edges).sort());
  });

  it('are each told once, whatever there is', async () => {
    const graph = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 11 }), fc.integer({ min: 2, max: 12 })), {
      selector: ([parent, child]) => `${parent}-${child}`,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(graph, fc.integer({ min: 1, max: 9 }), async (pairs, limit) => {
        const edges = pairs
          .filter(([a, b]) => a < b)
          .map(([a, b]) => edge([a, a], [b, b], a % 3 === 0 ? 'any' : 'success'));
        const workflow = await submit(12, edges);
        const all = await Array.fromAsync(client.eachEdge(workflow, { limit }));
        expect(pairsOf(all).sort()).toEqual(pairsOf(edges).sort());
      }),
      madeUp(60),
    );
  });

  it('have those that were added, not those that were removed, and none of other workflows', async () => {
    const workflow = await submit(3, [edge([1, 1], [2, 3])]);
    const other = await submit(1, []);
    await client.addContinuations(`${workflow}.3`, [`${workflow}.2`, `${other}.1`]);
    await client.removeContinuations(`${workflow}.1`, [`${workflow}.3`]);
    expect(pairsOf((await client.edges(workflow)).edges).sort()).toEqual(['1-2 success', '3-2 success']);
    expect((await client.edges(other)).edges).toEqual([]);
  });

  it('are refused by a cursor of another workflow, and for one that is not there', async () => {
    const workflow = await submit(5, [edge([1, 1], [2, 2]), edge([1, 1], [4, 4])]);
    const { next = '' } = await client.edges(workflow, { limit: 1 });
    await expect(client.edges('w1', { cursor: next })).rejects.toMatchObject({ code: 'bad-cursor' });
    await expect(client.edges('w9999')).rejects.toMatchObject({ code: 'workflow-unknown' });
  });
});
