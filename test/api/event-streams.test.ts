/** Streams of events over real connections: server-sent events, WebSockets and the client that comes back by itself. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket, connect as tcp } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventStreamLimits } from '../../src/model/limits.ts';
import type { EventView } from '../../src/protocol/views/events.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { callsTo } from '../controller/http.ts';
import { type InProcessController, newRemains, type Remains, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let remains: Remains;
let controller: InProcessController;
let client: Client;

beforeEach(async () => {
  remains = newRemains();
  controller = await startController({ remains });
  client = new Client(controller.access);
});

afterEach(() => controller.close());

async function run(tasks: number, command = 'echo'): Promise<string> {
  const batch = { tasks: Array.from({ length: tasks }, () => ({ command })), edges: [] };
  const { id } = await client.submitWhole(plainSpec, batch);
  await eventually(async () => expect((await client.workflow(id)).endedAt).toBeDefined());
  return id;
}

async function history(where = ''): Promise<number[]> {
  const found: EventView[] = [];
  for (let cursor = '0'; ; ) {
    const { events, next } = await client.eventPage({ cursor, where, limit: 1_000 });
    found.push(...events);
    if (next === cursor) return found.map(({ seq }) => seq);
    cursor = next;
  }
}

/** Reads so many events, and leaves. */
async function take(count: number, events: AsyncIterable<EventView>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of events) {
    seqs.push(seq);
    if (seqs.length === count) break;
  }
  return seqs;
}

it('tells times as all views do', async () => {
  const { id } = await client.submitWhole(
    { ...plainSpec, maxAttempts: 2 },
    { tasks: [{ command: 'fail' }], edges: [] },
  );
  await eventually(async () => expect((await client.workflow(id)).endedAt).toBeDefined());
  const { history: attempts } = await client.task(`${id}.1`);
  const { events } = await client.eventPage({ where: `workflow=${id}` });
  const ended = events.filter(({ type }) => type === 'attempt-ended');
  expect(ended.map(({ startedAt }) => startedAt)).toEqual(attempts.map(({ startedAt }) => startedAt));
  const queued = events.filter(({ to, task }) => to === 'queued' && task !== undefined);
  expect(queued.map(({ notBefore }) => notBefore)).toEqual([expect.stringMatching(/^\d{4}-.*Z$/)]);
});

describe('a stream', () => {
  it('has the whole history, then what happens, each once and in order', async () => {
    await run(20);
    const before = await history();
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { seq, type, to } of client.events({ after: 0 })) {
        seen.push(seq);
        if (type === 'workflow-moved' && to === 'done' && seq > before.length) return;
      }
    })();
    await eventually(() => expect(seen.length).toBe(before.length));
    await run(300);
    await reading;
    expect(seen).toEqual((await history()).slice(0, seen.length));
  });

  it.each([
    'type=task-changed',
    'state=done',
    'task=w2.3',
    'workflow=w1&type=attempt-ended',
    'host=here',
    'exit=1',
    'outcome=succeeded&worker=k1',
    'attempt=w2.1#1',
  ])('has what a list with the same filter has: %s', async (where) => {
    await run(4);
    await run(4, 'fail');
    const expected = await history(where);
    expect(expected.length).toBeGreaterThan(0);
    expect(await take(expected.length, client.events({ after: 0, where }))).toEqual(expected);
  });

  it('goes on after a restart of the controller, with nothing missed and nothing twice', async () => {
    await run(10);
    const half = Math.floor((await history()).length / 2);
    const first = await take(half, client.events({ after: 0 }));
    await controller.close();
    controller = await startController({ remains, hasWorker: false });
    client = new Client(controller.access);
    for (let count = 0; count < 5; count++) await client.register(plainSpec);
    const all = await history();
    const rest = await take(all.length - half, client.events({ after: first.at(-1) ?? 0 }));
    expect([...first, ...rest]).toEqual(all);
  });

  it('comes back by itself when its connection is cut, again and again', async () => {
    const proxy = await startProxy(Number(new URL(controller.access.url).port));
    const through = new Client({ ...controller.access, url: proxy.url });
    const seen: number[] = [];
    const over = new AbortController();
    const reading = (async () => {
      for await (const { seq } of through.events({ after: 0, signal: over.signal })) seen.push(seq);
    })();
    for (let round = 0; round < 3; round++) {
      await run(30);
      const length = (await history()).length;
      await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(length - 20));
      proxy.cut();
    }
    const all = await history();
    await eventually(() => expect(seen.length).toBe(all.length));
    expect(seen).toEqual(all);
    over.abort();
    await reading;
    proxy.close();
  });

  it('that nobody takes holds back nobody, and has everything when it is taken at last', async () => {
    const answer = await open('events/stream?after=0');
    answer.pause();
    // Far more than the connection and the tail hold.
    for (let round = 0; round < 4; round++) await run(1_200);
    const all = await history();
    expect(all.length).toBeGreaterThan(eventStreamLimits.tailChangesMax);
    const seqs: number[] = [];
    let text = '';
    for await (const piece of answer) {
      text += piece;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) seqs.push(JSON.parse(line.slice(6)).seq);
      if (seqs.length >= all.length) break;
    }
    expect(seqs).toEqual(all);
  });

  it('begins where Last-Event-ID says, also if the address says otherwise', async () => {
    await run(1);
    const answer = await open('events/stream?after=1', { 'last-event-id': '5' });
    const [piece] = (await once(answer, 'data')) as [Buffer];
    expect(piece.toString()).toMatch(/^retry: 1000\nid: 5@\d+\n\n/);
    answer.destroy();
  });

  it('is refused with a cursor of another history, also one that has come as far; a number alone can not be told', async () => {
    await run(1);
    const { next } = await client.eventPage({ cursor: 'now' });
    const other = await startController();
    const elsewhere = new Client(other.access);
    try {
      for (let count = 0; count < 20; count++) await elsewhere.register(plainSpec);
      const [number = ''] = next.split('@');
      const refused = {
        code: 'bad-cursor',
        message: `event ${number} is not the one that was read: the history is another one since`,
      };
      await expect(take(1, elsewhere.events({ after: next }))).rejects.toMatchObject(refused);
      await expect(elsewhere.eventPage({ cursor: next })).rejects.toMatchObject(refused);
      expect(await take(1, elsewhere.events({ after: number }))).toEqual([Number(number) + 1]);
      await run(1);
      expect(await take(1, client.events({ after: next }))).toEqual([Number(number) + 1]);
    } finally {
      await other.close();
    }
  });

  it.each(['x', '-1', '999999', '1@', '1@x', '999999@1'])(
    'is refused with a cursor that is none: %s',
    async (after) => {
      const call = callsTo(controller.access);
      expect((await call('GET', `events/stream?after=${after}`)).body.error.code).toBe('bad-cursor');
      await expect(take(1, client.events({ after }))).rejects.toMatchObject({ code: 'bad-cursor' });
    },
  );

  it('ends with its token', async () => {
    const { id, token } = await client.addToken({ role: 'read' });
    const answer = await open('events/stream', {}, token);
    answer.resume();
    const ended = once(answer, 'end');
    await client.revokeToken(id);
    await ended;
  });

  it('is not for workers', async () => {
    const { token } = await client.addToken({ role: 'worker' });
    const reader = new Client({ ...controller.access, token });
    await expect(take(1, reader.events())).rejects.toMatchObject({ code: 'role-not-allowed' });
  });
});

describe('a stream over a WebSocket', () => {
  const address = (query: string): string =>
    `${controller.access.url.replace(/^http/, 'ws')}/api/v1/events/stream${query}`;
  const headers = () => ({ headers: { authorization: `Bearer ${controller.access.token}` } });

  it('has the same events, and goes on from any cursor', async () => {
    await run(10);
    const all = await history('workflow=w1');
    const socket = new WebSocket(address(`?after=${all[4]}&workflow=w1`), headers());
    const seen: number[] = [];
    socket.on('message', (data) => {
      const { seq } = JSON.parse(String(data)) as { seq?: number };
      if (seq !== undefined) seen.push(seq);
    });
    await eventually(() => expect(seen.length).toBe(all.length - 5));
    expect(seen).toEqual(all.slice(5));
    socket.close();
  });

  it.each([
    ['without a token', '', {}, 401],
    ['with a filter that is none', '?stat=failed', undefined, 400],
  ])('is refused %s', async (_, query, options, status) => {
    const socket = new WebSocket(address(query), options ?? headers());
    socket.on('error', () => {});
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(answer.statusCode).toBe(status);
  });

  it('is closed with what is wrong when its cursor is none', async () => {
    const socket = new WebSocket(address('?after=99999'), headers());
    const [, reason] = (await once(socket, 'close')) as [number, Buffer];
    expect(reason.toString()).toContain('bad-cursor');
  });
});

async function open(path: string, headers: Record<string, string> = {}, token = controller.access.token) {
  const call = request(`${controller.access.url}/api/v1/${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  call.on('error', () => {});
  call.end();
  const [answer] = (await once(call, 'response')) as [import('node:http').IncomingMessage];
  return answer;
}

/** Passes bytes on, until it cuts all connections. */
async function startProxy(port: number): Promise<{ readonly url: string; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = tcp(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}
