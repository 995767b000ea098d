/** What a submission is warned of, over HTTP, at a real controller in this process. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { submit } from '../../src/sdk/submission.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
  await eventually(async () => expect((await client.workers({})).workers[0]?.state).toBe('healthy'));
});

afterAll(() => controller.close());

const lacks = "asks for 9 cpus; the largest worker of queue 'default', k1 on host here, has 4";

it('tasks that no worker could run are taken, and told of once for each need', async () => {
  const tasks = [
    { command: 'echo' },
    { command: 'echo', resources: { cpus: 9 } },
    { command: 'echo', resources: { cpus: 9 } },
    { command: 'echo', resources: { queue: 'big' } },
    { command: 'echo', resources: { cpus: 0.5, pools: { licences: 8 } } },
  ];
  const { id, warnings } = await client.submitWhole(plainSpec, { tasks, edges: [] });
  expect(warnings).toEqual([`${id}.2 ${lacks}`, `${id}.4 asks for queue 'big', which no worker has`]);
  await eventually(async () => expect((await client.tasks({ where: 'state=done' })).tasks).toHaveLength(2));
  const { queue, pools } = (await client.workers({})).workers[0] ?? {};
  expect([queue, pools]).toEqual(['default', { licences: 8 }]);
});

it('a submission in several batches is warned of a need once', async () => {
  const spec = { ...plainSpec, resources: { cpus: 9 } };
  let warnings: readonly string[] = [];
  const items = Array.from({ length: 4_100 }, () => ({ command: 'echo' }));
  const onSubmitted = (submission: { readonly warnings: readonly string[] }): void => {
    warnings = submission.warnings;
  };
  const { id } = await submit(client, { spec, items, onSubmitted });
  expect(warnings).toEqual([`${id}.1 ${lacks}`]);
});

it('one that a worker could run is warned of nothing', async () => {
  const { id } = await client.register(plainSpec);
  expect(await client.extend(id, { tasks: [{ command: 'echo' }], edges: [] })).not.toHaveProperty('warnings');
  await client.abort(id);
});
