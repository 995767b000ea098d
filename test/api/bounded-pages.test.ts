/** Pages where there is more to look at than one request may: a real controller in this process. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandBytesMax, queryLimits } from '../../src/model/limits.ts';
import type { TaskSpec } from '../../src/protocol/spec.ts';
import { Client } from '../../src/sdk/client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;

const count = 3 * queryLimits.rowsMax;
const rare = [1, queryLimits.rowsMax + 1, count];

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
  function* tasks(): Generator<TaskSpec> {
    for (let at = 1; at <= count; at++) {
      yield { command: `x ${at}`, held: true, ...(rare.includes(at) ? { tags: { rare: 'yes' } } : {}) };
    }
  }
  await client.submitByLines(plainSpec, tasks());
});

afterAll(() => controller.close());

it('a page is short where its filter needs more rows than a request may read, and says where to go on', async () => {
  const first = await client.tasks({ where: 'tag.rare=yes' });
  expect(first.tasks.map(({ index }) => index)).toEqual([1]);
  expect(first.next).toBeDefined();
  const found = await Array.fromAsync(client.eachTask({ where: 'tag.rare=yes' }));
  expect(found.map(({ index }) => index)).toEqual(rare);
  const backwards = await Array.fromAsync(client.eachTask({ where: 'tag.rare=yes', sort: '-id' }));
  expect(backwards.map(({ index }) => index)).toEqual(rare.toReversed());
});

it('pages of what nobody has are empty, and come to an end', async () => {
  const pages = [await client.tasks({ where: 'command~y' })];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) {
    pages.push(await client.tasks({ where: 'command~y', cursor: next }));
  }
  expect(pages.length).toBe(count / queryLimits.rowsMax);
  expect(pages.flatMap(({ tasks }) => tasks)).toEqual([]);
});

it('a count that would need more is a lower bound, and says so', async () => {
  expect((await client.tasks({ where: 'tag.rare=yes', count: true })).count).toEqual({ matched: 1, isExact: false });
  expect((await client.tasks({ where: 'index<=5', count: true, limit: 2 })).count).toEqual({
    matched: 5,
    isExact: true,
  });
  expect((await client.tasks({ where: 'state=waiting', count: true })).count).toEqual({
    matched: count,
    isExact: true,
  });
});

it('an operation goes over all of them, however many requests the filter takes', async () => {
  const result = await client.steerTasks('priority', { where: 'tag.rare=yes', priority: 3 });
  expect(result).toEqual({ matched: 3, changed: 3, unchanged: 0, refused: {} });
  expect((await client.tasks({ where: 'priority=3' })).tasks.map(({ index }) => index)).toEqual(rare);
});

it('a page of very long commands is cut where it would become too large', async () => {
  const command = 'z'.repeat(commandBytesMax);
  await client.submitByLines(
    plainSpec,
    Array.from({ length: 120 }, () => ({ command, held: true as const })),
  );
  const where = 'workflow=w2';
  const page = await client.tasks({ where, limit: 1_000 });
  expect(page.tasks.length).toBeLessThan(120);
  expect(page.next).toBeDefined();
  const indices: number[] = [];
  for await (const { index } of client.eachTask({ where, limit: 1_000 })) indices.push(index);
  expect(indices).toEqual(Array.from({ length: 120 }, (_, at) => at + 1));
  expect((await client.tasks({ where, limit: 1_000, fields: ['id'] })).tasks).toHaveLength(120);
});
