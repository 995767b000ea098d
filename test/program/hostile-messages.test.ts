/** What is not of the protocol between workers and a real server: the link that brings it ends, and nothing else. */
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { controlPath, outputPath, workerProtocolVersion } from '../../src/protocol/worker.ts';
import { type Place, place, until } from './drover.ts';
import { startVictim, type Victim } from './hostile.ts';

let here: Place;
let victim: Victim;
beforeAll(async () => {
  here = place();
  victim = await startVictim(here);
});
afterAll(async () => {
  await victim.stop();
  here.remove();
});

/** Far below what the frames sent here add up to; how soon garbage is collected depends on what else the machine does. */
const peakBytesMax = 500 * 1024 * 1024;
const opened = (socket: WebSocket): Promise<unknown> => new Promise((done) => socket.once('open', done));
const closed = (socket: WebSocket): Promise<number> => new Promise((done) => socket.once('close', done));

let instances = 0;
const heartbeat = (change: object = {}) => {
  const instance = `hostile-${++instances}`;
  const worker = { shard: instance, lock: instance, instance, host: 'h', pid: 1 };
  return { t: 'heartbeat', version: workerProtocolVersion, beat: 1, worker, slots: 1, ...change };
};
const frame = (...messages: object[]): string => JSON.stringify(messages);

describe.each([controlPath, outputPath])('on %s, a frame', (path) => {
  it.each<[string, () => string | Uint8Array, RegExp]>([
    ['that is not JSON', () => 'hello', /a frame is not JSON/],
    ['that is empty', () => '', /a frame is not JSON/],
    ['of the wrong shape', () => frame({ t: 'heartbeat', slots: -1 }), /a frame is malformed at/],
    ['of an unknown type', () => frame({ t: 'surprise' }), /a frame is malformed at/],
    ['that is no list', () => '{"t":"goodbye"}', /a frame is malformed at/],
    ['of bytes', () => new Uint8Array([0, 255, 1, 254]), /a frame is not JSON/],
    ['nested a million deep', () => '['.repeat(1_000_000) + ']'.repeat(1_000_000), /a frame is malformed at/],
    ['of 300 KB of nothing', () => `["${'x'.repeat(300_000)}"]`, /a frame is malformed at/],
    ['of a million messages', () => `[${'0,'.repeat(1_000_000)}0]`, /a frame has more than 1024 messages/],
    ['of 100 MB', () => `["${'x'.repeat(100_000_000)}"]`, /a link broke/],
    [
      'that comes before the first heartbeat',
      () => frame({ t: 'accepted', attempts: [1] }),
      /before its first heartbeat/,
    ],
  ])('%s ends its link, with a line in the log', async (_, content, line) => {
    const before = victim.log().length;
    const socket = victim.webSocket(path);
    await opened(socket);
    const ended = closed(socket);
    socket.send(content());
    await ended;
    await until('a line in the log', () => line.test(victim.log().slice(before)));
    expect(victim.peakBytes()).toBeLessThan(peakBytesMax);
  });
});

describe('a worker', () => {
  it.each([
    ['of another version of the protocol', heartbeat({ version: 99 })],
    ['that is so old that its heartbeats have another shape', { ...heartbeat({ version: 99 }), beat: undefined }],
  ])('%s is refused with both versions', async (_, beat) => {
    const socket = victim.webSocket(controlPath);
    await opened(socket);
    const said = new Promise<string>((done) => socket.once('message', (data) => done(String(data))));
    const ended = closed(socket);
    socket.send(frame(beat));
    const message = `the worker speaks protocol 99, the controller ${workerProtocolVersion}`;
    const { instance } = beat.worker;
    expect(JSON.parse(await said)).toEqual([{ t: 'refused', instance, code: 'protocol-version', message }]);
    await ended;
    await until('a line in the log', () => victim.log().includes('refused'));
  });

  it('built for another version ends with exit 3, and says which versions and what to do', async () => {
    const root = join(import.meta.dirname, '..', '..');
    const other = join(here.path, 'other');
    cpSync(join(root, '.bundle'), join(other, '.bundle'), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(other, 'node_modules'));
    cpSync(join(root, 'package.json'), join(other, 'package.json'));
    const changed: string[] = [];
    for (const name of readdirSync(join(other, '.bundle')).filter((one) => one.endsWith('.js'))) {
      const path = join(other, '.bundle', name);
      const before = readFileSync(path, 'utf8');
      const after = before.replace(/(workerProtocolVersion ?= ?)\d+/, '$199');
      if (after !== before) changed.push(name);
      writeFileSync(path, after);
    }
    expect(changed).not.toEqual([]);
    const cli = join(other, '.bundle', 'cli.js');
    const { code, stderr } = await here.run(['worker'], { program: [process.execPath, cli] });
    expect(code).toBe(3);
    expect(stderr).toContain(`the worker speaks protocol 99, the controller ${workerProtocolVersion}`);
    expect(stderr).toContain('run the same version of Drover on both sides');
  });
});

describe('a client of the links', () => {
  it('that trickles fragments, says nothing, never reads or floods keeps nobody from working', async () => {
    const silent = Array.from({ length: 200 }, (_, n) => victim.webSocket(n % 2 === 0 ? controlPath : outputPath));
    await Promise.all(silent.map(opened));
    const [trickler, deaf, flooder] = silent as [WebSocket, WebSocket, WebSocket];
    const trickle = setInterval(() => trickler.send('[', { fin: false }), 1);
    deaf.pause();
    const beat = frame(heartbeat());
    const flood = setInterval(() => {
      for (let n = 0; n < 500; n++) {
        deaf.send(beat);
        flooder.send(frame(...Array.from({ length: 50 }, () => ({ t: 'output-hello', instance: 'nobody' }))));
      }
    }, 20);
    try {
      expect(await victim.works()).toBe(true);
      expect(await victim.works()).toBe(true);
    } finally {
      clearInterval(trickle);
      clearInterval(flood);
    }
    expect(victim.peakBytes()).toBeLessThan(peakBytesMax);
    // Who answers no ping is dropped.
    await until('the deaf one is dropped', () => deaf.readyState === WebSocket.CLOSED || isGone(deaf));
  });
});

/** A socket that is not read does not hear of its end: it fails to write. */
function isGone(socket: WebSocket): boolean {
  socket.ping();
  return socket.readyState !== WebSocket.OPEN;
}

describe('an upgrade', () => {
  const upgrade = (path: string, headers: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`;
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const withToken = (): string => `Authorization: Bearer ${victim.access.tokens.worker}\r\n`;

  it.each<[string, () => string, number, string]>([
    ['to a wrong path', () => upgrade('/worker/v9/control', key + withToken()), 404, 'bad-input'],
    ['without a token', () => upgrade(controlPath, key), 401, 'not-authorised'],
    ['with a wrong token', () => upgrade(controlPath, `${key}Authorization: Bearer no\r\n`), 401, 'not-authorised'],
    ['without a key', () => upgrade(controlPath, withToken()), 400, 'bad-input'],
    [
      'of a version that is not spoken',
      () => upgrade(controlPath, key.replace('13', '7') + withToken()),
      400,
      'bad-input',
    ],
  ])('%s is refused with a code, and the connection closed', async (_, request, status, code) => {
    const answer = await victim.raw(request()).closed;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      error: { code, message: expect.any(String), hint: expect.any(String) },
    });
  });

  it('of which half comes is waited for beside all the others', async () => {
    for (let n = 0; n < 100; n++) victim.raw(upgrade(controlPath, key + withToken()).slice(0, 60 + n));
    expect(await victim.works()).toBe(true);
  });
});
