/** How much runs at a time, over HTTP, at a real controller in this process; workers are played request by request. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { Bench } from '../conformance/seed-a/bench.ts';
import { plainSpec } from '../controller/spec.ts';

let bench: Bench;
let client: Client;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  client = new Client(bench.access);
});

afterEach(() => bench.stop());

const licensed = { command: 'x', resources: { limits: { matlab: 1 } } };
const times = <T>(count: number, task: T): T[] => Array.from({ length: count }, () => task);

/** As many as it gets. */
async function claimAll(worker: string): Promise<string[]> {
  const { body } = await bench.call('POST', `workers/${worker}/claims`, { max: 100 });
  return body.claims.map(({ task }: { task: string }) => task);
}

describe('a limit that all workflows share', () => {
  it('is set, listed, lifted, and outlives the controller', async () => {
    expect(await client.limits()).toEqual({ limits: [] });
    expect(await client.setLimit('matlab', 2.5)).toEqual({ name: 'matlab', max: 2.5, used: 0, waiting: 0 });
    await client.setLimit('a/b c', 0);
    await bench.restart();
    client = new Client(bench.access);
    expect((await client.limits()).limits.map(({ name, max }) => [name, max])).toEqual([
      ['a/b c', 0],
      ['matlab', 2.5],
    ]);
    expect(await client.liftLimit('a/b c')).toEqual({ name: 'a/b c', used: 0, waiting: 0 });
    await expect(client.liftLimit('a/b c')).rejects.toMatchObject({ code: 'limit-unknown' });
    await expect(client.limit('a/b c')).rejects.toMatchObject({ code: 'limit-unknown' });
  });

  it('holds back what asks for it, in all workflows and however it is claimed, and nothing else', async () => {
    await client.setLimit('matlab', 2);
    const one = await bench.submit([...times(2, licensed), { command: 'free' }]);
    const two = await bench.submit(times(2, licensed));
    const k = await bench.worker(100);
    expect((await claimAll(k)).sort()).toEqual([`${one}.1`, `${one}.3`, `${two}.1`].sort());
    expect(await client.limit('matlab')).toMatchObject({ max: 2, used: 2, waiting: 2 });
    const { status, body } = await bench.claim(k, `${two}.2`);
    expect([status, body.error.code]).toEqual([409, 'task-not-available']);
    expect(body.error.message).toContain("limit 'matlab'");
    await bench.end(k, `${one}.1`);
    expect(await claimAll(k)).toHaveLength(1);
    await client.setLimit('matlab', 3);
    expect(await claimAll(k)).toHaveLength(1);
    expect(await claimAll(k)).toEqual([]);
    expect(await client.limit('matlab')).toMatchObject({ used: 3 });
  });

  it('that is raised or given back wakes a worker that waits for a task', async () => {
    await client.setLimit('matlab', 0);
    const w = await bench.submit(times(2, licensed));
    const k = await bench.worker(100);
    const waiting = bench.call('POST', `workers/${k}/claims`, { max: 1, waitMs: 20_000 });
    await bench.eventually('somebody waits', async () => (await client.limit('matlab')).waiting > 0);
    await client.setLimit('matlab', 1);
    expect((await waiting).body.claims).toMatchObject([{ task: `${w}.1` }]);
    const next = bench.call('POST', `workers/${k}/claims`, { max: 1, waitMs: 20_000 });
    await bench.end(k, `${w}.1`);
    expect((await next).body.claims).toMatchObject([{ task: `${w}.2` }]);
  });

  it('counts what runs across a restart', async () => {
    await client.setLimit('matlab', 2);
    await bench.submit(times(5, licensed));
    const k = await bench.worker(100);
    expect(await claimAll(k)).toHaveLength(2);
    await bench.restart();
    client = new Client(bench.access);
    expect(await client.limit('matlab')).toMatchObject({ used: 2 });
    expect(await claimAll(k)).toEqual([]);
  });

  it('that nobody has set holds nobody back, and whoever submits is told', async () => {
    await client.setLimit('few', 2);
    const tasks = [licensed, { command: 'x', resources: { limits: { few: 3 } } }];
    const { id, warnings } = await client.submitWhole(plainSpec, { tasks, edges: [] });
    expect(warnings).toEqual([
      expect.stringContaining("nobody has set the limit 'matlab'"),
      expect.stringContaining("asks for 3 of 'few'"),
    ]);
    const { id: later } = await client.register(plainSpec);
    expect((await client.extend(later, { tasks: [licensed], edges: [] })).warnings).toHaveLength(1);
    expect(await claimAll(await bench.worker(100))).toEqual([`${id}.1`]);
  });

  it('is set by an admin only', async () => {
    const submitter = await bench.callsAs('submit');
    expect((await submitter('PUT', 'limits/matlab', { max: 1 })).status).toBe(403);
    expect((await submitter('DELETE', 'limits/matlab')).status).toBe(403);
    expect((await submitter('GET', 'limits')).status).toBe(200);
  });

  it.each([{}, { max: -1 }, { max: '1' }, { max: null }, { max: 1, min: 0 }])('refuses %j', async (body) => {
    expect((await bench.call('PUT', 'limits/matlab', body)).status).toBe(400);
  });
});

describe('the concurrency of a workflow', () => {
  const fit = { command: 'x', template: 'fit' };
  const tagged = { command: 'x', tags: { model: 'x', other: 'y' } };

  it('is that of its specification, of all of it, of a template, and of a tag', async () => {
    const concurrency = { workflow: 5, templates: { fit: 2 }, tags: { 'model=x': 1 } };
    const w = await bench.submit([...times(3, fit), ...times(3, tagged), ...times(6, { command: 'x' })], {
      concurrency,
    });
    const k = await bench.worker(100);
    const claimed = (await claimAll(k)).map((task) => Number(task.split('.')[1]));
    expect(claimed).toHaveLength(5);
    expect(claimed.filter((index) => index <= 3)).toHaveLength(2);
    expect(claimed.filter((index) => index > 3 && index <= 6)).toHaveLength(1);
    expect((await client.workflow(w)).concurrency).toEqual(concurrency);
    expect(await claimAll(k)).toEqual([]);
  });

  it('is changed while it runs: raised, lowered, paused, lifted, and kept by a restart', async () => {
    const w = await bench.submit(times(9, fit), { concurrency: { workflow: 1 } });
    const k = await bench.worker(100);
    expect(await claimAll(k)).toHaveLength(1);
    expect(await client.setConcurrency(w, { workflow: 4, templates: { fit: 3 } })).toEqual({
      ...{ workflow: 4, templates: { fit: 3 }, grouped: 0 },
    });
    expect(await claimAll(k)).toHaveLength(2);
    await client.setConcurrency(w, { workflow: 0 });
    expect((await client.workflow(w)).counts.running).toBe(3);
    await bench.end(k, `${w}.1`);
    expect(await claimAll(k)).toEqual([]);
    await bench.restart();
    client = new Client(bench.access);
    expect((await client.workflow(w)).concurrency).toEqual({ workflow: 0, templates: { fit: 3 } });
    await client.setConcurrency(w, { workflow: null });
    expect(await claimAll(k)).toHaveLength(1);
    await client.setConcurrency(w, { templates: { fit: null } });
    expect((await client.workflow(w)).concurrency).toEqual({});
    expect(await claimAll(k)).toHaveLength(5);
  });

  it('of a tag concerns tasks that are there already, those that run included, and those to come', async () => {
    const { id: w } = await client.register({ ...plainSpec, open: true });
    await client.extend(w, {
      ...{ tasks: [...times(4, tagged), { command: 'x' }, { command: 'x', tags: { model: 'z' } }], edges: [] },
    });
    const k = await bench.worker(2);
    expect(await claimAll(k)).toEqual([`${w}.1`, `${w}.2`]);
    expect(await client.setConcurrency(w, { tags: { 'model=x': 2 } })).toMatchObject({ grouped: 4 });
    expect(await client.setConcurrency(w, { tags: { 'model=x': 2 } })).toMatchObject({ grouped: 0 });
    const more = await bench.worker(100, 'more');
    expect(await claimAll(more)).toEqual([`${w}.5`, `${w}.6`]);
    await client.extend(w, { tasks: [tagged], edges: [] });
    expect(await claimAll(more)).toEqual([]);
    await bench.restart();
    client = new Client(bench.access);
    expect(await claimAll(more)).toEqual([]);
    await bench.end(k, `${w}.1`);
    expect(await claimAll(more)).toHaveLength(1);
    const { rows } = await client.taskResources(`${w}.1`);
    expect(rows.map(({ kind }) => kind)).toEqual(['requested', 'validated']);
  });

  it('is not changed by a request that is refused', async () => {
    const w = await bench.submit([{ command: 'x' }]);
    const { body } = await bench.call('PATCH', `workflows/${w}/concurrency`, { tags: { 'a=b': 1 }, cursor: 'x' });
    expect(body.error.code).toBe('bad-cursor');
    expect((await client.workflow(w)).concurrency).toBeUndefined();
  });

  it.each([{ tags: { model: 1 } }, { workflow: -1 }, { workflow: 1.5 }, { templates: [] }, { x: 1 }])(
    'refuses %j',
    async (body) => {
      const w = await bench.submit([{ command: 'x' }]);
      expect((await bench.call('PATCH', `workflows/${w}/concurrency`, body)).status).toBe(400);
    },
  );
});
