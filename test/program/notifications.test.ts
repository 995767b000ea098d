import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Place, place, until } from './drover.ts';
import { Herd } from './herd.ts';

const received: { readonly event: string; readonly workflow: { readonly id: string; readonly state: string } }[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  received.push(JSON.parse(body));
  response.writeHead(isOpen ? 204 : 503).end();
});
let isOpen = true;
let url = '';
let here: Place;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
});
afterAll(() => receiver.close());
beforeEach(() => {
  here = place();
  received.length = 0;
  isOpen = true;
});
afterEach(() => here.remove());

it('a run tells its webhook, and its command, before it ends', async () => {
  const words = ['run', '--notify-url', url, '--notify-on', 'end,first-failure'];
  const command = ['--notify-command', 'echo "$DROVER_EVENT $DROVER_STATE" >> told'];
  const { code } = await here.run([...words, ...command, 'exit {}', ':::', '0', '1']);
  expect(code).toBe(1);
  expect(received.map(({ event }) => event).sort()).toEqual(['end', 'first-failure']);
  expect(received.find(({ event }) => event === 'end')?.workflow).toMatchObject({ id: 'w1', state: 'failed' });
  expect((await here.run([], { program: ['cat', 'told'] })).stdout).toContain('end failed\n');
});

it('a server that is killed before its webhook is taken tells it after its restart', async () => {
  const herd = new Herd();
  try {
    isOpen = false;
    const server = await herd.server();
    await herd.worker('-j', '1');
    const id = (await herd.ok('submit', '--notify-url', url, 'true {}', ':::', '1')).trim();
    await until('the first try', () => received.length > 0);
    server.child.kill('SIGKILL');
    await server.ended;
    isOpen = true;
    received.length = 0;
    await herd.server();
    await until('it is told', () => received.some(({ workflow }) => workflow.id === id));
    await herd.untilSome('that it was told is known', async () => {
      const [first] = (await herd.client.notifications(id)).notifications;
      return first?.notices[0]?.state === 'delivered';
    });
  } finally {
    await herd.close();
  }
});
