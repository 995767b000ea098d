/** What one who asks too much meets, over real HTTP. */
import { afterEach, describe, expect, it } from 'vitest';
import { steeringBodyBytesMax } from '../../src/model/limits.ts';
import { Client } from '../../src/sdk/client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController | undefined;
afterEach(() => controller?.close());

const ask = async (token: string, path = '/server', init: RequestInit = {}) => {
  const { url } = controller?.access ?? { url: '' };
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const answer = await fetch(`${url}/api/v1${path}`, { ...init, headers });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return { status: answer.status, code: error?.code, retryAfter: answer.headers.get('retry-after') };
};

const unhurried = { perSecond: 1_000, burst: 1_000 };

describe('a token', () => {
  it('that asks too often is told when to come again; another one is not', async () => {
    controller = await startController({ rates: { requests: { perSecond: 0.1, burst: 4 }, failures: unhurried } });
    const { token } = await new Client(controller.access).addToken({ role: 'read' });
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ask(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429, 429]);
    expect(answers.find(({ status }) => status === 429)).toMatchObject({
      code: 'too-many-requests',
      retryAfter: expect.stringMatching(/^\d+$/),
    });
    expect((await ask(controller.access.token)).status).toBe(200);
  });

  it('of a client that waits its turn gets all that it asks for, once', async () => {
    controller = await startController({ rates: { requests: { perSecond: 50, burst: 2 }, failures: unhurried } });
    const client = new Client(controller.access);
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => client.submitWhole(plainSpec, { tasks: [], edges: [] })));
    expect((await client.workflows()).workflows.map(({ id }) => id)).toHaveLength(8);
  });
});

it('one who shows no valid token is limited sooner; who has one at the same address is not', async () => {
  controller = await startController({ rates: { requests: unhurried, failures: { perSecond: 0.1, burst: 3 } } });
  const wrong = await Promise.all([1, 2, 3, 4, 5].map((n) => ask(`wrong-${n}`)));
  expect(wrong.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429]);
  expect((await ask(controller.access.token)).status).toBe(200);
});

describe('a body', () => {
  const large = JSON.stringify({ mode: 'drain', x: 'x'.repeat(steeringBodyBytesMax) });
  const post = (body: string): RequestInit => ({
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });

  it('is small where work is steered, and large where it is submitted', async () => {
    controller = await startController();
    const { token } = controller.access;
    expect(await ask(token, '/workflows/w1/halt', post(large))).toMatchObject({ status: 413, code: 'too-large' });
    expect(await ask(token, '/tokens', post(large))).toMatchObject({ status: 413 });
    const tasks = Array.from({ length: 100 }, () => ({ command: `true ${'x'.repeat(5_000)}` }));
    const submission = JSON.stringify({ spec: plainSpec, batch: { tasks, edges: [] } });
    expect(submission.length).toBeGreaterThan(steeringBodyBytesMax);
    expect(await ask(token, '/workflows', post(submission))).toMatchObject({ status: 200 });
  });

  it('of one who may not ask is not even read', async () => {
    controller = await startController();
    expect(await ask('wrong', '/workflows', post('{'))).toMatchObject({ status: 401 });
  });
});
