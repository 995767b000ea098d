import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DroverError } from '../model/errors.ts';
import { outputHeaders } from '../protocol/views/output.ts';
import { Client } from './client.ts';
import type { Access } from './transport.ts';

let server: Server | undefined;

async function serve(listener: RequestListener): Promise<Client> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return new Client({ url: urlOf(started), token: 'secret' });
}

function urlOf(started: Server | undefined): string {
  const address = started?.address();
  if (address === null || typeof address !== 'object') throw new Error('nobody listens');
  return `http://127.0.0.1:${address.port}`;
}

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  server = undefined;
});

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => undefined).catch((error) => error);

it('sends the token and the query, and reads the view', async () => {
  const client = await serve(({ url, headers }, response) => {
    response.end(JSON.stringify({ tasks: [], url, authorization: headers.authorization }));
  });
  expect(
    await client.tasksOf('w1', { where: 'state=failed,running&index>3', fields: ['id', 'state'], limit: 10 }),
  ).toEqual({
    tasks: [],
    url: '/api/v1/workflows/w1/tasks?where=state%3Dfailed%2Crunning%26index%3E3&limit=10&fields=id%2Cstate',
    authorization: 'Bearer secret',
  });
});

it('rethrows an error of the controller with its code, hint and details', async () => {
  const client = await serve((_, response) => {
    response.statusCode = 404;
    response.end(
      JSON.stringify({ error: { code: 'workflow-unknown', message: 'w9?', hint: 'look', details: { id: 'w9' } } }),
    );
  });
  const error = await failureOf(client.workflow('w9'));
  expect(error).toBeInstanceOf(DroverError);
  expect(error).toMatchObject({
    code: 'workflow-unknown',
    message: 'w9?',
    hint: 'look',
    details: { id: 'w9' },
    exitCode: 2,
  });
});

it('takes a code that it does not know from a newer controller', async () => {
  const client = await serve((_, response) => {
    response.statusCode = 409;
    response.end(JSON.stringify({ error: { code: 'too-new', message: 'no', hint: 'h' } }));
  });
  expect(await failureOf(client.cancel('w1'))).toMatchObject({
    code: 'bad-input',
    message: 'no',
    details: { code: 'too-new' },
  });
});

it('says so when something else answers', async () => {
  const client = await serve((_, response) => {
    response.statusCode = 500;
    response.end('<html>');
  });
  expect(await failureOf(client.server())).toMatchObject({ code: 'controller-unreachable', exitCode: 3 });
});

it('repeats a read whose connection failed, and not a change', async () => {
  let requests = 0;
  const client = await serve((request, response) => {
    requests += 1;
    if (requests <= 2) request.socket.destroy();
    else response.end('{"version":"1"}');
  });
  expect(await failureOf(client.cancel('w1'))).toMatchObject({ code: 'controller-unreachable', exitCode: 3 });
  expect(requests).toBe(1);
  expect(await client.workflow('w1')).toEqual({ version: '1' });
  expect(requests).toBe(3);
});

it('asks only once whether a controller is there', async () => {
  let requests = 0;
  const client = await serve((request) => {
    requests += 1;
    request.socket.destroy();
  });
  expect(await failureOf(client.server())).toMatchObject({ code: 'controller-unreachable' });
  expect(requests).toBe(1);
});

it('names the address and the reason when nobody listens', async () => {
  const client = await serve(() => undefined);
  const started = server as Server;
  const { host } = new URL(urlOf(started));
  await new Promise((resolve) => started.close(resolve));
  const error = await failureOf(client.close('w1'));
  expect(error).toMatchObject({ code: 'controller-unreachable' });
  expect(String(error)).toContain(host);
  expect(String(error)).toContain('ECONNREFUSED');
});

/** Serves `pieces` one by one, each where the last one ended; the attempt ends with the last. */
function outputOf(pieces: readonly string[], seen: string[]): RequestListener {
  return ({ url = '' }, response) => {
    seen.push(url);
    const offset = Number(new URL(url, 'http://x').searchParams.get('offset'));
    const start = pieces.findIndex((_, i) => pieces.slice(0, i).join('').length === offset);
    const piece = pieces[start] ?? '';
    response.setHeader(outputHeaders.nextOffset, offset + piece.length);
    response.setHeader(outputHeaders.attempt, 2);
    response.setHeader(outputHeaders.isComplete, String(start === pieces.length - 1));
    response.end(piece);
  };
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

it('reads output piece by piece to its end, all of one attempt', async () => {
  const seen: string[] = [];
  const client = await serve(outputOf(['ab', 'cde', 'f'], seen));
  expect(await textOf(client.output('w1.1', { stream: 'stderr' }))).toBe('abcdef');
  expect(seen).toEqual([
    '/api/v1/tasks/w1.1/output?stream=stderr&offset=0',
    '/api/v1/tasks/w1.1/output?stream=stderr&attempt=2&offset=2',
    '/api/v1/tasks/w1.1/output?stream=stderr&attempt=2&offset=5',
  ]);
});

it('stops at what is there now unless it follows', async () => {
  let reads = 0;
  const client = await serve((_, response) => {
    reads += 1;
    response.setHeader(outputHeaders.nextOffset, reads < 3 ? 3 : 4);
    response.setHeader(outputHeaders.isComplete, String(reads === 3));
    response.end(['abc', '', 'd'][reads - 1]);
  });
  expect(await textOf(client.output('w1.1', { stream: 'stdout' }))).toBe('abc');
  reads = 0;
  expect(await textOf(client.output('w1.1', { stream: 'stdout', follow: true }))).toBe('abcd');
});

describe('with patience', () => {
  const patienceFor = (addresses: () => readonly Access[], ms = 10_000) => {
    const heard: string[] = [];
    return { heard, ms, addresses, onAway: () => heard.push('away'), onBack: () => heard.push('back') };
  };
  const nowhere = { url: 'http://127.0.0.1:1', token: 'secret' };

  it('a read finds a controller that has come back elsewhere, and says so once', async () => {
    const addresses: Access[] = [nowhere];
    const patience = patienceFor(() => addresses);
    const reading = new Client(nowhere, patience).workflow('w1');
    await vi.waitFor(() => expect(patience.heard).toEqual(['away']));
    await serve((_, response) => response.end('{"id":"w1"}'));
    addresses.push({ url: urlOf(server), token: 'secret' });
    expect(await reading).toEqual({ id: 'w1' });
    expect(patience.heard).toEqual(['away', 'back']);
  });

  it('a read waits for one that is stopping to be back', async () => {
    const patience = patienceFor(() => [{ url: urlOf(server), token: 'secret' }]);
    let asked = 0;
    await serve((_, response) => {
      asked += 1;
      response.statusCode = asked === 1 ? 503 : 200;
      response.end('{"error":{"code":"controller-stopping","message":"m","hint":"h"}}');
    });
    await new Client({ url: urlOf(server), token: 'secret' }, patience).workflow('w1');
    expect(asked).toBe(2);
  });

  it('a read gives up in the end', async () => {
    const client = new Client(
      nowhere,
      patienceFor(() => [], 150),
    );
    expect(await failureOf(client.workflow('w1'))).toMatchObject({ code: 'controller-unreachable' });
  });
});
