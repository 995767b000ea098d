import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTo } from '../../src/api/access.ts';
import { mustBeOwn } from '../../src/api/gate.ts';
import { type TokenRole, tokenRoles } from '../../src/model/tokens.ts';
import type { NewTokenView } from '../../src/protocol/views/tokens.ts';
import { Client } from '../../src/sdk/client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec as spec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;
const tokens = {} as Record<TokenRole, NewTokenView>;

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
  for (const role of tokenRoles) tokens[role] = await client.addToken({ role, name: `the ${role}` });
  await client.submitWhole(spec, { tasks: [{ command: 'true' }], edges: [] });
});
afterAll(() => controller.close());

async function ask(method: string, path: string, token: string | undefined, body?: unknown) {
  const answer = await fetch(`${controller.access.url}/api/v1${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as { error?: { code: string; message: string } } };
}

it('every route that there is has its entry in the table', () => {
  expect(controller.routes.length).toBeGreaterThan(20);
  const without = controller.routes.filter((route) => {
    const [method = '', url = ''] = route.split(' ');
    return accessTo(method, url) === undefined;
  });
  expect(without).toEqual([]);
});

it('a route without an entry is nobody’s', () => {
  for (const [method, path] of [
    ['DELETE', '/api/v1/server'],
    ['PUT', '/api/v1/workflows'],
    ['GET', '/metrics'],
    ['PATCH', '/api/v1/tokens/:id'],
  ] as const)
    expect(accessTo(method, path)).toBeUndefined();
});

describe('a role', () => {
  /** What may be asked without harm, with who beside the admin may ask it. */
  const sample: readonly [string, string, unknown, readonly TokenRole[]][] = [
    ['GET', '/server', undefined, ['read', 'submit', 'worker']],
    ['GET', '/tasks/w1.1', undefined, ['read', 'submit', 'worker']],
    ['GET', '/workflows', undefined, ['read', 'submit']],
    ['GET', '/workflows/w1/tasks', undefined, ['read', 'submit']],
    ['GET', '/workflows/w1/failures', undefined, ['read', 'submit']],
    ['GET', '/workflows/w1/why', undefined, ['read', 'submit']],
    ['GET', '/tasks/w1.1/why', undefined, ['read', 'submit']],
    ['GET', '/workers', undefined, ['read', 'submit']],
    ['POST', '/workflows', { spec, batch: { tasks: [], edges: [] } }, ['submit']],
    ['POST', '/workflows/w1/cancel', {}, ['submit']],
    ['POST', '/tasks/w1.1/retry', {}, ['submit']],
    ['POST', '/server/announce', {}, ['submit']],
    ['POST', '/workers/k1/drain', {}, []],
    ['POST', '/workers/k1/release', {}, []],
    ['POST', '/server/loop-delay', {}, []],
    ['POST', '/server/stop', {}, []],
    ['GET', '/tokens', undefined, []],
    ['POST', '/tokens', { role: 'read' }, []],
    ['DELETE', '/tokens/t999', undefined, []],
  ];
  const all = sample.flatMap(([method, path, body, allowed]) =>
    tokenRoles.map((role) => [role, method, path, body, role === 'admin' || allowed.includes(role)] as const),
  );
  it.each(all)('%s: %s %s', async (role, method, path, body, isAllowed) => {
    const answer = await ask(method, path, tokens[role].token, body);
    if (isAllowed) {
      expect(answer.status).not.toBe(401);
      expect(answer.body.error?.code).not.toBe('role-not-allowed');
    } else {
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'role-not-allowed' } } });
      expect(answer.body.error?.message).toContain(`not for ${role}`);
      expect(answer.body.error?.message).toContain('admin');
    }
  });

  it('of workers may use what HTTP workers need, and none of the steering', () => {
    const granted = (method: string, path: string) => accessTo(method, `/api/v1${path}`)?.grant;
    for (const [method, path] of [
      ['POST', '/workers'],
      ['POST', '/workers/:id/claims'],
      ['POST', '/workers/:worker/heartbeat'],
      ['GET', '/workers/:id/orders'],
      ['PUT', '/attempts/:id/output/:stream'],
      ['PATCH', '/tasks/:id'],
      ['POST', '/tasks/:id/execution_info/report_memory_usage'],
      ['PATCH', '/tasks/:id/report_memory_usage'],
      ['GET', '/tasks/available'],
    ] as const)
      expect([path, granted(method, path)]).toEqual([path, expect.arrayContaining(['worker'])]);
    for (const path of [
      '/tasks/:id/cancel',
      '/tasks/:id/add_continuations',
      '/tasks/bulk/cancel',
      '/workflows/:id/halt',
      '/workers/:id/stop',
    ])
      expect(granted('POST', path)).not.toContain('worker');
  });
});

it('what was registered with one token is spoken for with that one, or by an admin', () => {
  const speak = (role: TokenRole, tokenId: string) => () => mustBeOwn({ role, tokenId }, 't1', 'k1');
  expect(speak('worker', 't1')).not.toThrow();
  expect(speak('admin', 't9')).not.toThrow();
  for (const other of [speak('worker', 't2'), speak('worker', 'worker'), speak('submit', 't3')])
    expect(other).toThrow(expect.objectContaining({ code: 'worker-wrong' }));
});

describe('a token', () => {
  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['an unknown one', 'drover_unknown'],
    ['the hash of a real one', 'hash'],
  ])('%s is told no more than that it is missing or wrong', async (_, token) => {
    const given = token === 'hash' ? [...controller.shell.controller.tokens.rows][0]?.hash : token;
    expect(await ask('GET', '/workflows', given)).toMatchObject({
      status: 401,
      body: { error: { code: 'not-authorised', message: 'the token is missing or wrong' } },
    });
  });

  it('opens nothing any more from the moment when it is revoked, and says so to who has it', async () => {
    const { id, token } = await client.addToken({ role: 'read' });
    expect((await ask('GET', '/server', token)).status).toBe(200);
    await client.revokeToken(id);
    expect(await ask('GET', '/server', token)).toMatchObject({
      status: 401,
      body: { error: { code: 'token-revoked' } },
    });
    await client.revokeToken(id);
    const listed = (await client.tokens()).tokens.find((view) => view.id === id);
    expect(listed).toMatchObject({ role: 'read', revokedAt: expect.any(String) });
    await expect(client.revokeToken('t999')).rejects.toMatchObject({ code: 'token-unknown' });
    await expect(client.revokeToken('w1')).rejects.toMatchObject({ code: 'bad-reference' });
  });

  it('that is revoked hears nothing more, also who was waiting for news', async () => {
    const { id } = await client.register({ ...spec, open: true });
    const { id: tokenId, token } = await client.addToken({ role: 'read' });
    const asked = controller.requests.length;
    const { version } = await client.workflow(id);
    const waiting = ask('GET', `/workflows/${id}?after=${version}&waitMs=20000`, token);
    await expect.poll(() => controller.requests.slice(asked).some((one) => one.includes('waitMs=20000'))).toBe(true);
    await client.revokeToken(tokenId);
    await client.cancel(id);
    expect(await waiting).toMatchObject({ status: 401, body: { error: { code: 'token-revoked' } } });
  });

  it('of an admin may revoke itself, and is told so', async () => {
    const { id, token } = await client.addToken({ role: 'admin' });
    expect((await ask('DELETE', `/tokens/${id}`, token)).status).toBe(200);
    expect((await ask('GET', '/server', token)).status).toBe(401);
  });

  it('expires', async () => {
    const { token, expiresAt } = await client.addToken({ role: 'read', expiresInMs: 50 });
    expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(0);
    await expect
      .poll(async () => (await ask('GET', '/server', token)).body.error?.code, { timeout: 5_000 })
      .toBe('token-expired');
  });

  it('is in no list and in no row, and its use is told', async () => {
    const { id, token } = await client.addToken({ role: 'submit', name: 'ci' });
    await ask('GET', '/server', token);
    const { tokens: list } = await client.tokens();
    expect(JSON.stringify(list)).not.toContain(token);
    expect(list.find((view) => view.id === id)).toMatchObject({ name: 'ci', lastUsedAt: expect.any(String) });
    expect(JSON.stringify(await controller.shell.store.tokens())).not.toContain(token);
  });

  it.each([
    [{ role: 'root' }],
    [{ role: 'read', expiresInMs: 0 }],
    [{ role: 'read', name: '' }],
    [{}],
    [{ role: 'read', secret: 'x' }],
  ])('is not made of %j', async (body) => {
    const { token } = controller.access;
    expect(await ask('POST', '/tokens', token, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'bad-input' } },
    });
  });
});
