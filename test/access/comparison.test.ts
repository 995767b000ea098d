/** A list of tasks that is submitted again, over real HTTP: what is done and unchanged is skipped. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { submitTasksMax } from '../../src/model/limits.ts';
import type { TaskSpec } from '../../src/protocol/spec.ts';
import { Client } from '../../src/sdk/client.ts';
import { type Submission, submit } from '../../src/sdk/submission.ts';
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

const tasksOf = (commands: readonly string[]): TaskSpec[] => commands.map((command) => ({ command }));

async function ended(id: string) {
  await eventually(async () => expect((await client.workflow(id)).endedAt).toBeDefined());
  return client.workflow(id);
}

/** Submits, waits for the end, and tells what was skipped. */
async function run(commands: readonly string[], more: { like?: string; name?: string; cwd?: string } = {}) {
  const { id, comparison } = await client.submitWhole(
    { ...plainSpec, ...more },
    { tasks: tasksOf(commands), edges: [] },
  );
  const { state, counts } = await ended(id);
  const { tasks } = await client.tasksOf(id, { limit: 1_000 });
  const ran = tasks.filter(({ attempts }) => attempts > 0).map(({ command }) => command);
  return { id, comparison, state, ran, total: counts.total, tasks };
}

describe('a workflow like an earlier one', () => {
  it('runs what is new or has changed, and what failed there', async () => {
    const first = await run(['true a', 'true b', 'fail c', 'true d']);
    expect(first).toMatchObject({ id: 'w1', state: 'failed', comparison: undefined });
    const second = await run(['true new', 'true a', 'true changed', 'fail c', 'true d'], { like: 'w1' });
    expect(second).toMatchObject({
      ran: ['true new', 'true changed', 'fail c'],
      comparison: { unchanged: 2, again: 1, fresh: 2 },
      total: 3,
    });
    expect(second.tasks.map(({ state, skipped }) => skipped ?? state)).toEqual([
      'done',
      'done as w1.1',
      'done',
      'failed',
      'done as w1.4',
    ]);
    // What was skipped is done: the third is like the second.
    const third = await run(['true a', 'true d', 'true new', 'fail c'], { like: 'w2' });
    expect(third).toMatchObject({ ran: ['fail c'], comparison: { unchanged: 3, again: 1, fresh: 0 } });
  });

  it('in which nothing is left to do is done at once', async () => {
    await run(['true a', 'true b']);
    expect(await run(['true b', 'true a'], { like: 'w1' })).toMatchObject({ state: 'done', ran: [], total: 0 });
  });

  it('1: has each of several lines that are alike as one of its own', async () => {
    await run(['true a', 'true a']);
    expect(await run(['true a', 'true a', 'true a'], { like: 'w1' })).toMatchObject({
      ran: ['true a'],
      comparison: { unchanged: 2, again: 0, fresh: 1 },
    });
    expect(await run(['true a'], { like: 'w2' })).toMatchObject({ ran: [] });
  });

  it('runs a task anew whose directory is another one', async () => {
    await run(['true a']);
    expect((await run(['true a'], { like: 'w1', cwd: '/tmp' })).ran).toEqual(['true a']);
  });

  it('is found by the name of the newest; a name that nobody has is like nothing', async () => {
    expect(await run(['true a'], { like: 'nightly', name: 'nightly' })).toMatchObject({ ran: ['true a'] });
    expect(await run(['true a', 'true b'], { like: 'nightly', name: 'nightly' })).toMatchObject({ ran: ['true b'] });
    expect(await run(['true b', 'true c'], { like: 'nightly' })).toMatchObject({ ran: ['true c'] });
  });

  it('keeps its barriers', async () => {
    await run(['true a', 'true b']);
    const items = [{ command: 'true a' }, { barrier: true as const }, { command: 'true b' }, { command: 'true c' }];
    const { id } = await submit(client, { spec: { ...plainSpec, like: 'w1' }, items });
    expect(await ended(id)).toMatchObject({ state: 'done', counts: { total: 1, done: 1 } });
  });

  it('that still goes on is no measure: what it runs would run twice', async () => {
    const { id } = await client.register({ ...plainSpec, open: true });
    await expect(client.register({ ...plainSpec, like: id })).rejects.toMatchObject({ code: 'run-is-live' });
    await expect(client.register({ ...plainSpec, like: 'w99' })).rejects.toMatchObject({ code: 'workflow-unknown' });
    await expect(client.register({ ...plainSpec, like: 'w1.1' })).rejects.toMatchObject({ code: 'bad-reference' });
  });

  it('is compared batch by batch, also where lines that are alike are in different ones', async () => {
    const alike = submitTasksMax + 500;
    const commands = [...Array.from({ length: alike }, () => 'true same'), 'fail'];
    const told: Submission[] = [];
    const all = async (like: string | undefined, items: string[]) => {
      const spec = like === undefined ? plainSpec : { ...plainSpec, like };
      const onSubmitted = (submission: Submission): void => void told.push(submission);
      const { id } = await submit(client, { spec, items: items.map((command) => ({ command })), onSubmitted });
      return ended(id);
    };
    await all(undefined, commands);
    expect((await all('w1', [...commands, 'true same', 'true other'])).counts.total).toBe(3);
    expect(told).toEqual([
      { tasks: alike + 1, skipped: 0, warnings: [] },
      { tasks: alike + 3, skipped: 0, warnings: [], comparison: { unchanged: alike, again: 1, fresh: 2 } },
    ]);
  }, 60_000);

  it('is made once, when its submission is repeated after the first was made', async () => {
    await run(['true a'], { name: 'nightly' });
    const body = JSON.stringify({
      spec: { ...plainSpec, name: 'nightly', like: 'nightly' },
      batch: { tasks: tasksOf(['true a', 'sleep 1000']), edges: [] },
    });
    const ask = async () => {
      const headers = {
        authorization: `Bearer ${controller.access.token}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      };
      const answer = await fetch(`${controller.access.url}/api/v1/workflows`, { method: 'POST', headers, body });
      return (await answer.json()) as { id: string; comparison: unknown };
    };
    // The newest of that name is then the one that was made, which still goes on.
    for (const { id, comparison } of [await ask(), await ask()]) {
      expect([id, comparison]).toEqual(['w2', { unchanged: 1, again: 0, fresh: 1 }]);
    }
    await client.cancel('w2');
    await ended('w2');
  });
});

it('a task that its submitter knows to be done is skipped', async () => {
  const tasks = [{ command: 'true a', skipped: 'out/a exists' }, { command: 'true b' }];
  const { id } = await client.submitWhole(plainSpec, {
    tasks,
    edges: [{ parents: [1, 1], children: [2, 2], after: 'success' }],
  });
  expect((await ended(id)).counts).toMatchObject({ total: 1, done: 1 });
  expect(await client.task(`${id}.1`)).toMatchObject({ state: 'done', skipped: 'out/a exists', history: [] });
  expect(await run(['true a', 'true b'], { like: id })).toMatchObject({ ran: [] });
});
