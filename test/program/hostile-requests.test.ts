/** Requests that are none, or too much, to a real server: a clear answer in JSON, and everybody else is served. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpLimits, submitBodyBytesMax } from '../../src/model/limits.ts';
import { type Place, place, until } from './drover.ts';
import { startVictim, type Victim } from './hostile.ts';

let here: Place;
let victim: Victim;
beforeAll(async () => {
  here = place();
  victim = await startVictim(here);
  await victim.works();
});
afterAll(async () => {
  await victim.stop();
  here.remove();
});

const json = { 'content-type': 'application/json' };
const spec = { cwd: '/', shell: '/bin/sh', env: {}, maxAttempts: 1, terminationMs: 1, failFast: false, open: false };

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Response> {
  const authorization = `Bearer ${victim.access.tokens.admin}`;
  return fetch(victim.access.url + path, {
    method,
    headers: { authorization, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** All errors look like this. */
const failure = (code: string, message: unknown = expect.any(String)) => ({
  error: { code, message, hint: expect.stringMatching(/./) },
});

const post = (body: string, headers: Record<string, string> = json): Asked => ({ method: 'POST', headers, body });

describe('a request', () => {
  it.each<[string, string, Asked, number, string]>([
    ['of malformed JSON', '/api/v1/workflows', post('{"spec": {'), 400, 'bad-input'],
    ['of nothing', '/api/v1/workflows', post(''), 400, 'bad-input'],
    ['of another type', '/api/v1/workflows', post('<xml/>', { 'content-type': 'text/xml' }), 400, 'bad-input'],
    ['of the wrong shape', '/api/v1/workflows', post('{"spec":{"cwd":7}}'), 400, 'bad-input'],
    ['nested a million deep', '/api/v1/workflows', post('['.repeat(1e6) + ']'.repeat(1e6)), 400, 'bad-input'],
    ['for a prototype', '/api/v1/workflows', post('{"__proto__":{"x":1}}'), 400, 'bad-input'],
    ['beyond the limit', '/api/v1/workflows', post(' '.repeat(submitBodyBytesMax + 1)), 413, 'too-large'],
    ['with a wrong method', '/api/v1/workflows', { method: 'DELETE' }, 404, 'bad-input'],
    ['for an unknown route', '/api/v1/nothing', {}, 404, 'bad-input'],
    ['for nothing at all', '/', {}, 404, 'bad-input'],
    ['out of the tree', '/api/v1/tasks/..%2f..%2f..%2fetc%2fpasswd', {}, 400, 'bad-reference'],
    ['with a broken escape', '/api/v1/tasks/%zz', {}, 400, 'bad-input'],
    ['with a NUL in a name', '/api/v1/tasks/w1.1%00', {}, 400, 'bad-reference'],
    ['with a name that is none', '/api/v1/workflows/w-1', {}, 400, 'bad-reference'],
    ['with a name of a thousand letters', `/api/v1/workflows/${'w'.repeat(1000)}`, {}, 400, 'bad-input'],
    ['with a number beyond all', '/api/v1/workflows/w999999999', {}, 404, 'workflow-unknown'],
    ['with a number of no task', '/api/v1/tasks/w1.99', {}, 404, 'task-unknown'],
    ['with a negative number', '/api/v1/workflows?limit=-1', {}, 400, 'bad-input'],
    ['with a number that is none', '/api/v1/workflows?limit=NaN', {}, 400, 'bad-input'],
    ['with a number that is infinite', '/api/v1/tasks/w1.1/output?offset=1e999', {}, 400, 'bad-input'],
    ['with a wait of a year', '/api/v1/workflows/w1?waitMs=31536000000', {}, 400, 'bad-input'],
    ['with an unknown state', '/api/v1/workflows/w1/tasks?state=x', {}, 400, 'bad-filter'],
    ['with a wrong token', '/api/v1/workflows', { headers: { authorization: 'Bearer x' } }, 401, 'not-authorised'],
    ['without a token', '/api/v1/workflows', { headers: { authorization: '' } }, 401, 'not-authorised'],
    ['for the unknown without a token', '/x', { headers: { authorization: '' } }, 401, 'not-authorised'],
    ['with huge headers', '/api/v1/server', { headers: { x: 'x'.repeat(20_000) } }, 431, 'too-large'],
    ['with a huge query', `/api/v1/server?x=${'x'.repeat(20_000)}`, {}, 431, 'too-large'],
  ])('%s gets its status and code', async (_, path, asked, status, code) => {
    const answer = await ask(path, asked);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect([answer.status, await answer.json()]).toMatchObject([status, failure(code)]);
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    ['of random bytes', new Uint8Array(10_000).map((_, n) => (n * 7919) % 251), /^HTTP\/1.1 400 /],
    ['of TLS where none is spoken', Buffer.from('16030100a5010000a10303', 'hex'), /^HTTP\/1.1 400 /],
    [
      'with two lengths',
      'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      /^HTTP\/1.1 400 /,
    ],
    ['followed by garbage', 'GET / HTTP/1.1\r\nHost: h\r\n\r\n\0\0garbage\0', /^HTTP\/1.1 400 /],
  ])('%s is answered as far as it can be, and the connection closed', async (_, bytes, answer) => {
    const said = await victim.raw(bytes).closed;
    expect(said).toMatch(answer);
    expect(JSON.parse(said.slice(said.lastIndexOf('\r\n\r\n')))).toEqual(failure('bad-input'));
  });
});

describe('a submission', () => {
  it('that breaks off midway starts nothing, and a registration that is not closed runs nothing', async () => {
    const { id } = (await (await ask('/api/v1/workflows', post(JSON.stringify({ spec })))).json()) as { id: string };
    const tasks = JSON.stringify({ tasks: [{ command: `touch ${here.path}/started` }], edges: [] });
    const head = (length: number): string =>
      `POST /api/v1/workflows/${id}/tasks HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${victim.access.tokens.admin}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    const { socket } = victim.raw(head(tasks.length + 1) + tasks);
    await new Promise((done) => socket.once('connect', done));
    socket.resetAndDestroy();
    expect(await victim.works()).toBe(true);
    const view = await (await ask(`/api/v1/workflows/${id}`)).json();
    expect(view).toMatchObject({ state: 'registering', counts: { total: 0 } });
  });
});

describe('slow clients', () => {
  it('by the hundred keep nobody from working, and are sent away', async () => {
    const authorization = `Authorization: Bearer ${victim.access.tokens.admin}\r\n`;
    const beginnings = [
      '',
      'G',
      'GET /api/v1/server HTTP/1.1\r\nHost: h\r\nX-',
      `POST /api/v1/workflows HTTP/1.1\r\nHost: h\r\n${authorization}Content-Type: application/json\r\nContent-Length: 9000\r\n\r\n{`,
    ];
    const visitors = Array.from({ length: 300 }, (_, n) => victim.raw(beginnings[n % beginnings.length] ?? ''));
    const trickle = setInterval(() => {
      for (const { socket } of visitors) if (socket.writable) socket.write('x');
    }, 200);
    try {
      const begin = performance.now();
      expect(await victim.works()).toBe(true);
      expect((await ask('/api/v1/server')).status).toBe(200);
      // Those who have sent their headers have longer for the body.
      const headless = visitors.filter((_, n) => n % beginnings.length < 3);
      const said = await Promise.all(headless.map(({ closed }) => closed));
      expect(performance.now() - begin).toBeLessThan(2 * httpLimits.headersMsMax);
      expect(said.every((text) => text === '' || text.startsWith('HTTP/1.1 4'))).toBe(true);
      expect(victim.peakBytes()).toBeLessThan(300 * 1024 * 1024);
    } finally {
      clearInterval(trickle);
      for (const { socket } of visitors) socket.destroy();
    }
    await until('the server is still there', () => victim.server.child.exitCode === null);
  });
});
