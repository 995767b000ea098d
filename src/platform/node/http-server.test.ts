import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpLimits } from '../../model/limits.ts';
import { makeHttpServer } from './http-server.ts';

let server: Server;
let dropped: number;

beforeEach(async () => {
  dropped = 0;
  const limits = { ...httpLimits, connectionsMax: 16, headersMsMax: 150, requestMsMax: 200, checkMs: 20 };
  const onDropped = (): void => void dropped++;
  server = makeHttpServer(
    (request, response) => request.resume().on('end', () => response.end('ok')),
    undefined,
    onDropped,
    limits,
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** What came until the server closed the connection. */
function visit(text: string): Promise<string> {
  return new Promise((done) => {
    let said = '';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (data) => {
      said += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => done(said));
  });
}

describe('the server', () => {
  it.each([
    ['says nothing', ''],
    ['begins a request', 'GET / HTTP/1.1\r\nHo'],
    ['begins a body', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx'],
  ])('sends away who %s and no more', async (_, text) => {
    expect(await visit(text)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('drops who comes when there are as many as may be, and says so', async () => {
    const visits = Array.from({ length: 20 }, () => visit('GET / HTTP/1.1\r\nHo'));
    const said = await Promise.all(visits);
    expect([said.filter((text) => text === '').length, dropped]).toEqual([4, 4]);
  });
});
