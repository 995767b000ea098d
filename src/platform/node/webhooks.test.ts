import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeWebhooks, oneAtATime } from './webhooks.ts';

const received: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
const server = createServer(async (request, response) => {
  if (request.url === '/silent') return;
  if (request.url === '/other')
    request.socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
  if (request.url === '/gone') request.socket.destroy();
  if (request.url === '/early') for (const _ of Array(3)) response.writeEarlyHints({ link: '</x>; rel=preload' });
  let body = '';
  for await (const piece of request) body += piece;
  received.push({ headers: request.headers, body });
  if (request.url === '/away') response.writeHead(302, { location: '/' }).end();
  else response.writeHead(204).end();
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.closeAllConnections());

const call = (url: string) => ({ url, headers: { 'x-drover-event': 'end' }, body: '{"a":1}', msMax: 5_000 });

describe('a webhook', () => {
  it('is posted to', async () => {
    const { post } = makeWebhooks({ mayReachLoopback: true });
    expect(await post(call(`http://127.0.0.1:${port}/`))).toEqual({ status: 204 });
    expect(received.at(-1)).toMatchObject({ body: '{"a":1}', headers: { 'x-drover-event': 'end' } });
  });

  it('that points elsewhere is not followed', async () => {
    const { post } = makeWebhooks({ mayReachLoopback: true });
    const before = received.length;
    expect(await post(call(`http://127.0.0.1:${port}/away`))).toEqual({ status: 302 });
    expect(received.length).toBe(before + 1);
  });

  it('that does not answer is given up in time', async () => {
    const { post } = makeWebhooks({ mayReachLoopback: true });
    const answer = await post({ ...call(`http://127.0.0.1:${port}/silent`), msMax: 50 });
    expect(answer).toEqual({ error: 'no answer within 50 ms' });
  });

  it.each([
    ['speaks another protocol', '/other', { status: 101 }],
    ['hangs up', '/gone', { error: 'socket hang up' }],
    ['sends hints first', '/early', { status: 204 }],
  ])('that %s is answered at once', async (_, path, answer) => {
    expect(await makeWebhooks({ mayReachLoopback: true }).post(call(`http://127.0.0.1:${port}${path}`))).toEqual(
      answer,
    );
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[fe80::1]/',
    'http://0.0.0.0/',
    'http://[::ffff:169.254.169.254]/',
    'http://0xa9fea9fe/',
    'http://239.0.0.1/',
  ])('must not be at %s', async (url) => {
    const answer = await makeWebhooks({ mayReachLoopback: true }).post(call(url));
    expect(answer).toEqual({ error: expect.stringContaining('is not an address that webhooks may reach') });
  });

  it.each(['127.0.0.1', '[::1]', 'localhost', '127.1', '[::ffff:127.0.0.1]'])(
    'must not be on the controller itself where others submit, by whatever name: %s',
    async (host) => {
      const answer = await makeWebhooks({ mayReachLoopback: false }).post(call(`http://${host}:${port}/`));
      expect(answer).toEqual({ error: expect.stringContaining('is not an address that webhooks may reach') });
    },
  );
});

it('names are looked up one at a time, in the order in which they came', async () => {
  const asked: (() => void)[] = [];
  const find = oneAtATime((_, __, callback) => asked.push(() => callback(null, [])));
  const answered: string[] = [];
  const done = ['a', 'b', 'c'].map(
    (name) => new Promise<void>((resolve) => find(name, { all: true }, () => resolve(void answered.push(name)))),
  );
  for (const answer of done) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.length).toBe(answered.length + 1);
    asked.at(-1)?.();
    await answer;
  }
  expect(answered).toEqual(['a', 'b', 'c']);
});
