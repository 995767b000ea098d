/** `drover server` and the commands around it, as real processes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessFile } from '../../src/platform/node/access-file.ts';
import { Client } from '../../src/sdk/client.ts';
import { pause } from '../../src/sdk/pause.ts';
import { lastJson, mark, type Place, place, type Running, sleepers, until } from './drover.ts';

let here: Place;
let started: Running[];
const stateHome = process.env.XDG_STATE_HOME;

beforeEach(() => {
  here = place();
  started = [];
  // Where workers with an access file of elsewhere keep their things.
  process.env.XDG_STATE_HOME = file('state');
});

afterEach(async () => {
  if (stateHome === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = stateHome;
  // Gently: a worker takes its tasks along.
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
  endDetached();
  here.remove();
});

const file = (name: string): string => join(here.path, name);
const readOr = (name: string, otherwise: string): string => {
  try {
    return readFileSync(file(name), 'utf8');
  } catch {
    return otherwise;
  }
};

/** A server that was detached is nobody's child. */
function endDetached(): void {
  const { pid } = JSON.parse(readOr('.drover/access.json', '{}')) as { pid?: number };
  if (pid !== undefined && isServer(pid)) process.kill(pid, 'SIGKILL');
}

function isServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(here.path);
  } catch {
    return false;
  }
}

function start(...args: string[]): Running {
  const running = here.start(args);
  started.push(running);
  return running;
}

interface Served extends Running {
  readonly url: string;
}

async function startServer(...args: string[]): Promise<Served> {
  const running = start('server', '--json', ...args);
  await until('the server is ready', () => running.stdout().includes('\n') || running.child.exitCode !== null);
  return { ...running, url: String(lastJson(running.stdout()).url) };
}

/** Resolves when the controller has it. */
async function startWorker(...args: string[]): Promise<Running> {
  const before = Number((await here.json(['server', 'status', '--json'])).workers);
  const running = start('worker', ...args);
  for (;;) {
    const { workers } = await here.json(['server', 'status', '--json']);
    if (Number(workers) > before) return running;
    if (running.child.exitCode !== null) throw new Error(`the worker ended: ${running.stderr()}`);
  }
}

const access = (): AccessFile => JSON.parse(readFileSync(file('.drover/access.json'), 'utf8')) as AccessFile;

/** A copy as on another machine, in a folder of its own. */
function copyAccess(change: Partial<AccessFile> = {}): { folder: string; path: string } {
  const folder = file('elsewhere');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'access.json');
  writeFileSync(path, JSON.stringify({ ...access(), ...change }));
  return { folder, path };
}

describe('a server', () => {
  it('with a worker runs what is submitted, and what is run beside it', async () => {
    const server = await startServer();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const worker = await startWorker('-j', '2');
    expect(await here.json(['server', 'status', '--json'])).toMatchObject({
      pid: server.pid,
      url: server.url,
      workers: 1,
      slots: 2,
      loopDelayMs: { p50: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) },
    });
    expect((await here.run(['server', 'status'])).stdout).toMatch(
      /^lag +p50 [\d.]+ ms, p99 [\d.]+ ms, max [\d.]+ ms in/m,
    );
    const submitted = await here.run(['submit', 'echo', ':::', 'a', 'b']);
    expect(submitted).toEqual({ code: 0, stdout: 'w1\n', stderr: '' });
    expect(await here.run(['wait', 'w1'])).toMatchObject({ code: 0, stdout: 'a\nb\n' });
    expect(await here.run(['run', 'echo', ':::', 'c'])).toMatchObject({ code: 0, stdout: 'c\n' });
    expect(await here.run(['run', '--server', 'echo', ':::', 'd'])).toMatchObject({ code: 0, stdout: 'd\n' });
    expect((await here.run(['workers'])).stdout).toMatch(/^k1 +native +healthy +default +2 /m);
    worker.child.kill('SIGINT');
    expect(await worker.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('the worker ends') });
    expect((await here.json(['workers', '--all', '--json'])).state).toBe('gone');
    server.child.kill('SIGINT');
    expect((await server.ended).code).toBe(0);
    expect((await here.run(['server', 'status'])).code).toBe(3);
  });

  it('tells how late its event loop was, and begins anew for who measures', async () => {
    await startServer();
    const { url, tokens } = access();
    const client = new Client({ url, token: tokens.admin });
    const before = (await client.server()).loopDelayMs?.overMs ?? 0;
    await pause(300);
    const grown = (await client.server()).loopDelayMs?.overMs ?? 0;
    expect(grown).toBeGreaterThanOrEqual(before + 299);
    const anew = (await client.restartLoopDelay()).loopDelayMs?.overMs ?? grown;
    expect(anew).toBeLessThan(grown);
  });

  it('tries again what failed', async () => {
    await startServer();
    await startWorker('-j', '2');
    const submitted = await here.run(['submit', '[ -e mended ] && true {}', ':::', '1', '2']);
    expect(submitted.code).toBe(0);
    expect((await here.run(['wait', '--json', 'w1'])).code).toBe(1);
    writeFileSync(file('mended'), '');
    expect((await here.run(['retry', 'w1.2'])).stdout).toBe('w1.2 will be tried again\n');
    expect(lastJson((await here.run(['wait', '--json', 'w1'])).stdout)).toMatchObject({ done: 1, failed: 1 });
    expect((await here.run(['retry', 'w1', '--failed'])).stdout).toBe('w1: 1 failed task will be tried again\n');
    expect((await here.run(['wait', 'w1'])).code).toBe(0);
  });

  it.each(['stop', 'kill -9'])('that ends by %s leaves tasks running, and the next one adopts them', async (how) => {
    const server = await startServer();
    await startWorker('-j', '1');
    await here.run(['submit', 'echo x >> begun; until [ -e go ]; do sleep 0.02; done; echo end {}', ':::', '1']);
    await until('the task runs', () => readOr('begun', '') !== '');
    if (how === 'stop') expect((await here.run(['server', 'stop'])).code).toBe(0);
    else server.child.kill('SIGKILL');
    expect((await server.ended).code).toBe(how === 'stop' ? 0 : null);
    const next = await startServer();
    expect(next.url).not.toBe('undefined');
    const waiting = here.run(['wait', 'w1']);
    writeFileSync(file('go'), '');
    expect(await waiting).toMatchObject({ code: 0, stdout: 'end 1\n' });
    expect(readOr('begun', '')).toBe('x\n');
    expect(await here.json(['show', 'w1.1', '--json'])).toMatchObject({ attempts: 1, state: 'done' });
  });

  it('may be restarted under those who wait for it', async () => {
    const server = await startServer();
    await startWorker('-j', '1');
    await here.run(['submit', 'until [ -e go ]; do sleep 0.02; done; echo end {}', ':::', '1']);
    const waiting = start('wait', 'w1');
    const running = start('run', '--server', 'echo after {}', ':::', '2');
    await until('both wait', () => [waiting, running].every(({ stderr }) => stderr().includes('1 task')));
    server.child.kill('SIGKILL');
    await until('both miss it', () => [waiting, running].every(({ stderr }) => stderr().includes('waiting for it')));
    await startServer();
    writeFileSync(file('go'), '');
    expect(await waiting.ended).toMatchObject({
      code: 0,
      stdout: 'end 1\n',
      stderr: expect.stringContaining('is back'),
    });
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'after 2\n' });
  });

  it('may be away for longer than its workers keep their tasks: they wait, and serve the next one', async () => {
    const server = await startServer('--preset', 'interactive');
    const worker = await startWorker('-j', '1');
    const long = mark();
    await here.run(['submit', `[ -e seen ] || { touch seen; sleep ${long}; }; echo end {}`, ':::', '1']);
    await until('the task runs', () => sleepers(long).length === 1);
    server.child.kill('SIGKILL');
    await until('its task is dead', () => sleepers(long).length === 0);
    await until('it says so', () => worker.stderr().includes('what ran here was killed'));
    expect(worker.child.exitCode).toBeNull();
    await startServer('--preset', 'interactive');
    expect(await here.run(['wait', 'w1'])).toMatchObject({ code: 0, stdout: 'end 1\n' });
    expect(worker.stderr().match(/connected to the controller at http/g)).toHaveLength(2);
  });

  it('goes on when the one that waits is interrupted', async () => {
    await startServer();
    await startWorker('-j', '1');
    const long = mark();
    await here.run(['submit', `sleep ${long}; true {}`, ':::', '1']);
    await until('the task runs', () => sleepers(long).length === 1);
    const waiting = start('wait', 'w1');
    await until('it waits', () => waiting.stderr().includes('w1: 1 task'));
    waiting.child.kill('SIGINT');
    expect(await waiting.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('w1 goes on') });
    expect(sleepers(long)).toHaveLength(1);
  });

  it('in the background is there when the command returns, and gone when stop does', async () => {
    const { code, stdout } = await here.run(['server', '--detach', '--json']);
    expect(code).toBe(0);
    const { pid, url } = lastJson(stdout);
    expect(await here.json(['server', 'status', '--json'])).toMatchObject({ pid, url });
    expect((await here.run(['server', 'stop'])).stdout).toBe(`the server (pid ${pid}) has stopped\n`);
    // At once: a start waits for the end of the one before it.
    expect((await here.run(['server', '--detach'])).code).toBe(0);
    expect((await here.run(['server', 'stop'])).code).toBe(0);
    await until('the process ended', () => !isServer(Number(pid)));
  });
});

describe('without a server', () => {
  it.each([
    ['server', 'status'],
    ['server', 'stop'],
    ['workers'],
    ['wait', 'w1'],
    ['retry', '--where', 'state=failed'],
    ['submit', 'true', '--array', '1'],
    ['run', '--server', 'true', '--array', '1'],
  ])('%s %s exits 3 and says what to start', async (...args) => {
    const { code, stdout, stderr } = await here.run(args);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe(
      `drover: no controller runs for ${file('.drover')}\n  start one with 'drover server --detach'\n`,
    );
  });
});

describe('what can not be', () => {
  it.each([[[]], [['--detach']]])('a second server in the same folder (%j)', async (how) => {
    const server = await startServer();
    const { code, stderr } = await here.run(['server', ...how]);
    expect(code).toBe(4);
    expect(stderr).toContain(`drover: ${file('.drover')} is in use by process ${server.pid} on `);
    expect(stderr).toContain('--dir');
    expect((await here.run(['server', 'status'])).code).toBe(0);
  });

  it.each([[[]], [['--detach']]])('a port that another one has (%j)', async (how) => {
    const { url } = await startServer();
    const address = new URL(url).host;
    const { code, stderr } = await here.run(['server', '--dir', 'other', '--listen', address, ...how]);
    expect(code).toBe(4);
    expect(stderr).toBe(
      `drover: can't listen on ${address}: another program listens there\n  choose another address or port with --listen\n`,
    );
  });

  it('an address that is none', async () => {
    const { code, stderr } = await here.run(['server', '--listen', 'a:b:c']);
    expect([code, stderr]).toEqual([2, expect.stringContaining("'a:b:c' is not an address to listen on")]);
  });

  it('a worker with a wrong token: it says so, and what to do', async () => {
    await startServer();
    const { path } = copyAccess({ tokens: { admin: 'no', worker: 'no' } });
    const { code, stderr } = await start('worker', '--access', path).ended;
    expect(code).toBe(3);
    expect(stderr).toContain(`drover: the controller refuses the token of ${path}\n`);
    expect(stderr).toContain('  copy the access file from the machine of the controller again\n');
    expect(await here.json(['server', 'status', '--json'])).toMatchObject({ workers: 0 });
  });

  it('a worker or a client with a file that is no access file', async () => {
    writeFileSync(file('x.json'), '{}');
    const { code, stderr } = await here.run(['worker', '--access', 'x.json']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('x.json is not an access file')]);
    await startServer();
    const { folder } = copyAccess({ tokens: { admin: 'no', worker: 'no' } });
    const refused = await here.run(['submit', '--dir', folder, 'true', '--array', '1']);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('use the access file')]);
  });
});

describe('off loopback', () => {
  it('all goes over TLS, with the certificate of the access file', async () => {
    const { url } = await startServer('--listen', '0.0.0.0:0');
    expect(url).toMatch(/^https:/);
    // A name that means nothing to this machine: other addresses of the file do.
    const { folder, path } = copyAccess({ url: `https://nowhere.invalid:${new URL(url).port}` });
    start('worker', '-j', '1', '--access', path);
    const submitted = await here.run(['submit', '--dir', folder, 'echo over TLS {}', ':::', '1']);
    expect(submitted).toMatchObject({ code: 0, stdout: 'w1\n' });
    expect(await here.run(['wait', '--dir', folder, 'w1'])).toMatchObject({ code: 0, stdout: 'over TLS 1\n' });
  });

  it('another certificate is not trusted', async () => {
    const { url } = await startServer('--listen', '0.0.0.0:0');
    await here.run(['server', '--detach', '--dir', 'other', '--listen', '0.0.0.0:0']);
    const other = JSON.parse(readFileSync(file('other/access.json'), 'utf8')) as AccessFile;
    await here.run(['server', 'stop', '--dir', 'other']);
    const reachable = `https://127.0.0.1:${new URL(url).port}`;
    const { folder } = copyAccess({ url: reachable, certificate: other.certificate ?? '' });
    const { code, stderr } = await here.run(['submit', '--dir', folder, 'true', '--array', '1']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('who answers does not have the certificate')]);
  });
});
