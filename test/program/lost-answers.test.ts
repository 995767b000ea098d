/** Submissions whose answers are lost, since the server is killed or the connection breaks: each is made once. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessFile } from '../../src/platform/node/access-file.ts';
import { Client } from '../../src/sdk/client.ts';
import { submit } from '../../src/sdk/submission.ts';
import { plainSpec as spec } from '../controller/spec.ts';
import type { Running } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;
let server: Running;
let port: number;
let tokens: AccessFile['tokens'];
let proxy: Server;
/** Called with each answer of the server before it is passed on; what it returns true for is lost, with the connection. */
let loses: (answer: Buffer) => boolean;
let sockets: Set<Socket>;

beforeEach(async () => {
  herd = new Herd();
  server = await herd.server();
  tokens = herd.access.tokens;
  port = Number(new URL(herd.access.url).port);
  loses = () => false;
  sockets = new Set();
  proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => [client, upstream].map((each) => each.destroy()));
    }
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => (loses(data) ? client.resetAndDestroy() : client.write(data)));
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await herd.close();
});

function clientBehindProxy(): Client {
  const { admin: token } = tokens;
  const access = { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, token };
  return new Client(access, { ms: 30_000, addresses: () => [access], onAway: () => {}, onBack: () => {} });
}

describe('an answer that is lost', () => {
  it('with a server that is killed between its commit and the answer: the submission is there once', async () => {
    let kills = 0;
    const restarts: Promise<unknown>[] = [];
    loses = (answer) => {
      // What it answers is durable: now it dies, and nobody heard of it.
      if (kills >= 3 || !answer.toString().startsWith('HTTP/1.1 200')) return false;
      kills += 1;
      server.child.kill('SIGKILL');
      const again = async () => {
        await server.ended;
        server = await herd.server('--listen', `127.0.0.1:${port}`);
      };
      restarts.push(again());
      return true;
    };
    const batch = { tasks: [{ command: 'true' }, { command: 'true' }], edges: [] };
    const client = clientBehindProxy();
    const { id } = await client.register({ ...spec, open: false });
    expect(await client.extend(id, batch)).toEqual({ firstIndex: 1, count: 2 });
    await client.close(id);
    expect((await client.submitWhole(spec, batch)).id).toBe('w2');
    await Promise.all(restarts);
    expect(kills).toBe(3);
    const { workflows } = await herd.client.workflows();
    expect(workflows.map((view) => [view.id, view.counts.total])).toEqual([
      ['w2', 2],
      ['w1', 2],
    ]);
  });

  it('every second time: a stream of many batches has each of its tasks once', async () => {
    let answers = 0;
    loses = (answer) => answer.toString().startsWith('HTTP/1.1 200') && ++answers % 2 === 1;
    const items = Array.from({ length: 10_000 }, (_, n) => ({ command: `echo ${n}` }));
    const { id, counts } = await submit(clientBehindProxy(), { spec, items });
    expect(answers).toBeGreaterThan(8);
    expect([id, counts.total]).toEqual(['w1', 10_000]);
    expect((await herd.client.workflows()).workflows).toHaveLength(1);
    const { tasks } = await herd.client.tasksOf('w1', { where: 'index>7999', limit: 2 });
    expect(tasks.map(({ command }) => command)).toEqual(['echo 7999', 'echo 8000']);
  });
});
