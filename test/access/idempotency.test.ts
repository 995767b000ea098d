/** Requests that are repeated under their idempotency key, over real HTTP. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec as spec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;
beforeEach(async () => {
  controller = await startController();
  client = new Client(controller.access);
});
afterEach(() => controller.close());

const whole = (command = 'true') => ({ spec, batch: { tasks: [{ command }], edges: [] } });

async function post(path: string, body: unknown, key?: string, token = controller.access.token) {
  const answer = await fetch(`${controller.access.url}/api/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });
  const view = (await answer.json()) as Record<string, unknown> & { error?: { code: string } };
  return { status: answer.status, code: view.error?.code, view };
}

const workflows = async (): Promise<number> => (await client.workflows()).workflows.length;

describe('a submission', () => {
  it('that is repeated makes nothing, and is answered as it was', async () => {
    const first = await post('/workflows', { spec }, 'k1');
    expect(first).toMatchObject({ status: 200, view: { id: 'w1' } });
    expect(await post('/workflows', { spec }, 'k1')).toEqual(first);
    const batch = { tasks: [{ command: 'true' }, { command: 'true' }], edges: [] };
    const extended = await post('/workflows/w1/tasks', batch, 'k2');
    expect(extended.view).toEqual({ firstIndex: 1, count: 2 });
    expect(await post('/workflows/w1/tasks', batch, 'k2')).toEqual(extended);
    expect((await post('/workflows/w1/close', {}, 'k3')).status).toBe(200);
    // Also when it could not be made any more.
    expect(await post('/workflows/w1/tasks', batch, 'k2')).toEqual(extended);
    expect((await post('/workflows/w1/tasks', batch, 'k4')).status).toBe(409);
    expect((await client.workflow('w1')).counts.total).toBe(2);
    expect(await workflows()).toBe(1);
  });

  it('of a whole workflow that is repeated names the one that it made', async () => {
    expect((await post('/workflows', whole(), 'k1')).view.id).toBe('w1');
    expect((await post('/workflows', whole(), 'k1')).view.id).toBe('w1');
    expect((await post('/workflows', whole())).view.id).toBe('w2');
  });

  it('that comes twenty times at once is made once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/workflows', whole(), 'k1')));
    expect(new Set(answers.map(({ status, view }) => `${status} ${view.id}`))).toEqual(new Set(['200 w1']));
    expect(await workflows()).toBe(1);
  });

  it('is not taken for another one: other content, another path, another asker', async () => {
    await post('/workflows', { spec }, 'k1');
    expect(await post('/workflows', whole(), 'k1')).toMatchObject({ status: 409, code: 'idempotency-key-reused' });
    expect(await post('/workflows/w1/tasks', { spec }, 'k1')).toMatchObject({ status: 400 });
    expect(await post('/workflows/w1/close', { spec }, 'k1')).toMatchObject({ status: 409 });
    const { token } = await client.addToken({ role: 'submit' });
    expect((await post('/workflows', whole(), 'k1', token)).view.id).toBe('w2');
    expect(await workflows()).toBe(2);
  });

  it('that was refused may be asked again under the same key', async () => {
    const batch = { tasks: [{ command: 'true' }], edges: [] };
    expect((await post('/workflows/w1/tasks', batch, 'k1')).status).toBe(404);
    await post('/workflows', { spec });
    expect((await post('/workflows/w1/tasks', batch, 'k1')).status).toBe(200);
  });

  it.each([
    ['an empty key', ''],
    ['a key with spaces', 'a b'],
    ['a key beyond the limit', 'k'.repeat(201)],
  ])('with %s is refused', async (_, key) => {
    expect(await post('/workflows', { spec }, key)).toMatchObject({ status: 400, code: 'bad-input' });
    expect(await workflows()).toBe(0);
  });
});

it('a request that can not be protected by a key says so', async () => {
  await post('/workflows', { spec });
  expect(await post('/workflows/w1/cancel', {}, 'k1')).toMatchObject({ status: 400, code: 'bad-input' });
  expect(await post('/tokens', { role: 'read' }, 'k1')).toMatchObject({ status: 400 });
});
