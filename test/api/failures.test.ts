/** Tasks that failed without an attempt, in groups of failures and in statistics, of a real controller in this process. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;

beforeEach(async () => {
  controller = await startController();
  client = new Client(controller.access);
});

afterEach(() => controller.close());

const groupsOf = async (workflow: string) =>
  (await client.failures(workflow)).groups.map(({ cause, rerun }) => [cause, rerun]);

async function submitCheck(): Promise<void> {
  await client.submitWhole(plainSpec, {
    tasks: [{ command: 'exit 3' }, { check: true }],
    edges: [{ parents: [1, 1], children: [2, 2], after: 'any' }],
  });
  await eventually(async () => expect((await client.workflow('w1')).state).toBe('failed'));
}

it('a check that failed is tried again with what it looks at', async () => {
  await submitCheck();
  expect(await groupsOf('w1')).toEqual([
    ['exit:3', 'drover retry w1 --cause exit:3'],
    ['check', 'drover retry w1 --failed'],
  ]);
});

it('what was not started in time is not to be tried again', async () => {
  const until = Date.now() - 60_000;
  await client.submitWhole(plainSpec, { tasks: [{ command: 'x', held: true, until }], edges: [] });
  await eventually(async () => expect((await client.workflow('w1')).state).toBe('failed'));
  expect(await groupsOf('w1')).toEqual([['deadline', undefined]]);
});

it('a check is no task in statistics, nor in those of a filter', async () => {
  await submitCheck();
  const { states, groups } = await client.statisticsOf('w1', { by: 'template' });
  expect([states, groups?.map((group) => group.states)]).toEqual([{ failed: 1 }, [{ failed: 1 }]]);
  for (const where of ['index>0', 'command~exit', 'state=failed']) {
    expect((await client.statisticsOf('w1', { where })).states).toEqual({ failed: 1 });
  }
});
