import { afterEach, beforeEach, expect, it } from 'vitest';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { submitEdgesMax, submitTasksMax } from '../model/limits.ts';
import type { EdgeSpec } from '../protocol/spec.ts';
import { Client } from './client.ts';
import { submitGraph } from './graph-submission.ts';

let controller: InProcessController;
let client: Client;

beforeEach(async () => {
  controller = await startController({ hasWorker: false });
  client = new Client(controller.access);
});

afterEach(() => controller.close());

const tasks = (count: number) => Array.from({ length: count }, (_, at) => ({ command: `x ${at + 1}` }));
const edge = (parents: [number, number], children: [number, number]): EdgeSpec => ({
  ...{ parents, children, after: 'success' },
});
const posts = () => controller.requests.filter((request) => request.startsWith('POST /api/v1/workflows'));

it('sends in one request what fits into it', async () => {
  const view = await submitGraph(client, { spec: plainSpec, tasks: tasks(3), edges: [edge([1, 1], [2, 3])] });
  expect(view).toMatchObject({ id: 'w1', counts: { total: 3 } });
  expect(posts()).toEqual(['POST /api/v1/workflows']);
  expect(await submitGraph(client, { spec: plainSpec, tasks: [], edges: [] })).toMatchObject({ counts: { total: 0 } });
});

it('cuts what is larger into batches, and ranges of children with it', async () => {
  const count = 2 * submitTasksMax + 10;
  const edges = [edge([1, 1], [2, count - 1]), edge([2, count - 1], [count, count])];
  await submitGraph(client, { spec: plainSpec, tasks: tasks(count), edges });
  expect(posts().filter((request) => request.endsWith('/tasks'))).toHaveLength(3);
  const told = await Array.fromAsync(client.eachEdge('w1', { limit: 1_000 }));
  expect(told).toEqual([edge([1, 1], [2, count - 1]), edge([2, count - 1], [count, count])]);
  expect(await client.workflow('w1')).toMatchObject({ counts: { total: count } });
  expect(await client.task(`w1.${count}`)).toMatchObject({ pendingDependencies: count - 2, command: `x ${count}` });
});

it('leaves nothing behind where a batch is refused, or it is interrupted', async () => {
  const count = submitTasksMax + 2;
  const backwards = [edge([count, count], [count - 1, count - 1])];
  await expect(submitGraph(client, { spec: plainSpec, tasks: tasks(count), edges: backwards })).rejects.toMatchObject({
    code: 'bad-input',
  });
  expect(await client.workflow('w1')).toMatchObject({ state: 'aborted' });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(submitGraph(client, { spec: plainSpec, tasks: tasks(1), edges: [], signal })).rejects.toThrow('enough');
  expect((await client.workflows()).workflows).toHaveLength(1);
});

it('refuses a task that waits for tasks in more places than one request can name', async () => {
  const count = submitEdgesMax + 1;
  const scattered = Array.from({ length: count }, (_, at) => edge([2 * at + 1, 2 * at + 1], [3 * count, 3 * count]));
  await expect(
    submitGraph(client, { spec: plainSpec, tasks: tasks(3 * count), edges: scattered }),
  ).rejects.toMatchObject({ code: 'too-large' });
  expect((await client.workflows()).workflows).toEqual([]);
});
