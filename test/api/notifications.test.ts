/** Notifications, from the history to a webhook that listens, through failures and restarts. */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Notifications, startNotifications } from '../../src/api/notifications/notifications.ts';
import * as secrets from '../../src/platform/node/secrets.ts';
import { makeWebhooks } from '../../src/platform/node/webhooks.ts';
import type { Notification } from '../../src/protocol/spec.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, newRemains, type Remains, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: what it should be is what the tests say.
  readonly json: any;
}

let received: Received[] = [];
/** What the next calls are answered with; 200 when there is none. */
let answers: number[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  received.push({ path: request.url ?? '', headers: request.headers, body, json: JSON.parse(body) });
  response.writeHead(answers.shift() ?? 200).end('an answer that nobody reads');
});
let url = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => receiver.closeAllConnections());

let remains: Remains;
let controller: InProcessController;
let notifications: Notifications | undefined;
let client: Client;

async function start(hasWorker = true): Promise<void> {
  controller = await startController({ remains, hasWorker });
  client = new Client(controller.access);
}

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function startTelling(): Promise<void> {
  const webhooks = makeWebhooks({ mayReachLoopback: true });
  const { shell } = controller;
  notifications = await startNotifications({ shell, webhooks, log, version: '1.2.3', sign: secrets.sign });
}

beforeEach(async () => {
  [received, answers] = [[], []];
  remains = newRemains();
  await start();
});

afterEach(async () => {
  await notifications?.close();
  notifications = undefined;
  await controller.close();
});

async function submit(commands: readonly string[], notify: Notification[]): Promise<string> {
  const tasks = commands.map((command) => ({ command }));
  return (await client.submitWhole({ ...plainSpec, notify }, { tasks, edges: [] })).id;
}

const untilEnded = (id: string) => eventually(async () => expect((await client.workflow(id)).endedAt).toBeDefined());
const untilReceived = (count: number) => eventually(() => expect(received.length).toBeGreaterThanOrEqual(count));

describe('a notification', () => {
  it('of the end is posted, signed, and says what has ended', async () => {
    await startTelling();
    const secret = randomUUID();
    const id = await submit(['a', 'fail b'], [{ on: 'end', webhook: `${url}/hook?key=1`, secret }]);
    await untilReceived(1);
    const [{ path, headers, body, json }] = received as [Received];
    expect(path).toBe('/hook?key=1');
    expect(json).toMatchObject({ event: 'end', on: 'end', workflow: { id, state: 'failed', counts: { failed: 1 } } });
    expect(headers).toMatchObject({
      'x-drover-event': 'end',
      'x-drover-delivery': 'n1',
      'content-type': 'application/json',
    });
    const signature = createHmac('sha256', secret).update(`${headers['x-drover-timestamp']}.${body}`).digest('hex');
    expect(headers['x-drover-signature']).toBe(`sha256=${signature}`);
    expect(body).not.toContain(secret);
  });

  it('of failures comes when there are so many, once for each run', async () => {
    await startTelling();
    const on: Notification['on'][] = [
      'first-failure',
      { failed: 2 },
      { failed: '50%' },
      { failed: '100%' },
      { failed: 9 },
    ];
    const notify = on.map((when): Notification => ({ on: when, webhook: url }));
    const id = await submit(['fail 1', 'fail 2', 'fail 3', 'ok'], notify);
    await untilEnded(id);
    await untilReceived(3);
    expect(received.map(({ json }) => json.on)).toEqual(
      expect.arrayContaining(['first-failure', { failed: 2 }, { failed: '50%' }]),
    );
    await eventually(async () => {
      const { notifications: all } = await client.notifications(id);
      expect(all.map(({ notices }) => notices.map(({ state }) => state))).toEqual([
        ...[['delivered'], ['delivered'], ['delivered'], [], []],
      ]);
    });
  });

  it('is tried again until it is taken', async () => {
    await startTelling();
    answers = [500, 302];
    const id = await submit(['a'], [{ on: 'end', webhook: url }]);
    await eventually(async () => {
      const { notifications: all } = await client.notifications(id);
      expect(all[0]?.notices).toMatchObject([{ state: 'delivered', tries: 3 }]);
    });
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['x-drover-delivery']))).toEqual(new Set(['n1']));
  });

  it('comes while another receiver keeps many waiting', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const nowhere = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const both = {
        failFast: false,
        notify: Array.from({ length: 16 }, () => ({ on: 'end' as const, webhook: nowhere })),
      };
      for (let count = 0; count < 3; count++) {
        await untilEnded(
          (await client.submitWhole({ ...plainSpec, ...both }, { tasks: [{ command: 'a' }], edges: [] })).id,
        );
      }
      await untilEnded(await submit(['a'], [{ on: 'end', webhook: url }]));
      await startTelling();
      await untilReceived(1);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it('is given up where nobody is any more', async () => {
    await startTelling();
    answers = [410];
    const id = await submit(['a'], [{ on: 'end', webhook: url }]);
    await eventually(async () => {
      const [first] = (await client.notifications(id)).notifications;
      expect(first?.notices).toMatchObject([{ state: 'given-up', tries: 1, error: 'it answered with 410' }]);
    });
  });

  it('that could not be told survives a restart, and is told then', async () => {
    await startTelling();
    answers = [503];
    const id = await submit(['a'], [{ on: 'end', webhook: url }]);
    await eventually(async () => {
      const [first] = (await client.notifications(id)).notifications;
      expect(first?.notices).toMatchObject([{ state: 'pending', tries: 1 }]);
    });
    await notifications?.close();
    await controller.close();
    await start(false);
    await startTelling();
    await untilReceived(2);
    expect(received.map(({ json }) => json.workflow.id)).toEqual([id, id]);
  });

  it('of what happened while nobody looked is told after a restart, and not again after the next', async () => {
    const id = await submit(
      ['fail a'],
      [
        { on: 'end', webhook: url },
        { on: 'first-failure', webhook: url },
      ],
    );
    await untilEnded(id);
    await controller.close();
    await start(false);
    await startTelling();
    await untilReceived(2);
    await eventually(async () => {
      const { notifications: all } = await client.notifications(id);
      expect(all.flatMap(({ notices }) => notices.map(({ state }) => state))).toEqual(['delivered', 'delivered']);
    });
    await notifications?.close();
    await controller.close();
    await start(false);
    await startTelling();
    await notifications?.close();
    expect(received.map(({ json }) => json.event).sort()).toEqual(['end', 'first-failure']);
  });

  it('shows neither its secret nor its path', async () => {
    const id = await submit(['a'], [{ on: 'end', webhook: `${url}/T0/B0/key`, secret: 'geheim' }]);
    const shown = JSON.stringify([
      await client.notifications(id),
      await client.workflow(id),
      await client.task(`${id}.1`),
    ]);
    expect(shown).toContain(`"webhook":"${url}"`);
    expect(shown).not.toMatch(/geheim|B0/);
    await untilEnded(id);
  });

  it.each([
    ['ftp://example.org/', 'notify'],
    ['http://user:pass@example.org/', 'has a password'],
    ['http://', 'notify'],
    ['http://169.254.169.254/latest', '169.254.169.254 is not an address that webhooks may reach'],
    ['http://[fe80::1]/', 'fe80::1 is not an address that webhooks may reach'],
  ])('is refused to %s', async (webhook, message) => {
    const submitting = submit(['a'], [{ on: 'end', webhook }]);
    await expect(submitting).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(message) });
  });

  it.each(['0%', '101%', '%', 'many'])('is refused at %s of failures', async (failed) => {
    const submitting = submit(['a'], [{ on: { failed }, webhook: url }]);
    await expect(submitting).rejects.toMatchObject({ code: 'bad-input' });
  });
});
