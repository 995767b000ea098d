/** The routes of single tasks, over HTTP, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Call, callsTo } from '../../test/controller/http.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';

let controller: InProcessController;
let call: Call;

beforeEach(async () => {
  controller = await startController();
  call = callsTo(controller.access);
});

afterEach(() => controller.close());

const submit = (...tasks: object[]) =>
  call('POST', 'workflows', { spec: plainSpec, batch: { tasks, edges: [] } }).then(({ body }) => body.id as string);

const needs = { cpus: 2.5, memoryBytes: 1e9, gpus: 1, runtimeMs: 60_000, pools: { licences: 3 } };

describe('what is said of a task beside its command', () => {
  it('is kept and returned', async () => {
    const tags = { model: 'x', 'owner of it': '' };
    const id = await submit({ command: 'x', held: true, priority: -7, resources: needs, expectedDurationMs: 5, tags });
    const { body } = await call('GET', `tasks/${id}.1`);
    expect(body).toMatchObject({ priority: -7, requestedResources: needs, expectedDurationMs: 5, tags, held: true });
  });

  it('is absent where nothing was said, but for the priority, which is 0', async () => {
    const { body } = await call('GET', `tasks/${await submit({ command: 'x', held: true })}.1`);
    expect(body.priority).toBe(0);
    for (const field of ['requestedResources', 'expectedDurationMs', 'tags']) expect(body).not.toHaveProperty(field);
  });

  it.each([
    { resources: { memoryBytes: -1 } },
    { resources: { gpus: 0.5 } },
    { resources: { runtimeMs: 0 } },
    { resources: { memory: 1 } },
    { resources: { pools: { licences: -1 } } },
    { expectedDurationMs: 0 },
    { priority: 1_001 },
    { priority: 0.5 },
    { tags: { model: 7 } },
    { tags: { model: 'x'.repeat(1_001) } },
    { tags: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`t${at}`, ''])) },
  ])('is refused where it makes no sense: %j', async (said) => {
    const tasks = [{ command: 'x', ...said }];
    const { status, body } = await call('POST', 'workflows', { spec: plainSpec, batch: { tasks, edges: [] } });
    expect([status, body.error.code]).toEqual([400, 'bad-input']);
    expect((await call('GET', 'workflows')).body.workflows).toEqual([]);
  });
});

describe('a task that waits for a slot', () => {
  it('is held, does not start, and starts when it is released', async () => {
    const id = await submit({ command: 'x', held: true }, { command: 'y' });
    expect(await call('POST', `tasks/${id}.1/release`)).toMatchObject({ status: 200 });
    await expect.poll(async () => (await call('GET', `workflows/${id}`)).body.state).toBe('done');
  });

  it('can be held again and again, which changes nothing', async () => {
    const id = await submit({ command: 'x', held: true });
    for (let time = 0; time < 2; time++) {
      expect(await call('POST', `tasks/${id}.1/hold`)).toMatchObject({ status: 200, body: { held: true } });
    }
  });

  it('gets another priority, which is kept, too', async () => {
    const id = await submit({ command: 'x', held: true });
    expect(await call('POST', `tasks/${id}.1/priority`, { priority: 12 })).toMatchObject({ body: { priority: 12 } });
    expect((await call('GET', `tasks/${id}.1`)).body.priority).toBe(12);
    expect(await call('POST', `tasks/${id}.1/priority`, { priority: 1_001 })).toMatchObject({ status: 400 });
    expect(await call('POST', `tasks/${id}.1/priority`, {})).toMatchObject({ status: 400 });
  });
});

it('A43: what its state does not allow is refused with 409, the state and what is allowed instead', async () => {
  const id = await submit({ command: 'x' });
  await expect.poll(async () => (await call('GET', `workflows/${id}`)).body.state).toBe('done');
  const { status, body } = await call('POST', `tasks/${id}.1/hold`);
  expect([status, body.error.code]).toEqual([409, 'transition-not-allowed']);
  expect(body.error.details).toEqual({ state: 'done', allowed: [] });
});

it.each(['hold', 'release', 'priority'])('a task that is none gets 404: %s', async (verb) => {
  const body = verb === 'priority' ? { priority: 1 } : undefined;
  expect(await call('POST', `tasks/w9.1/${verb}`, body)).toMatchObject({ status: 404 });
  expect(await call('POST', `tasks/nonsense/${verb}`, body)).toMatchObject({ status: 400 });
});
