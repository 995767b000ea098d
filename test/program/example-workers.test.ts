/** The workers of examples/, which speak plain HTTP, at a real server. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mark, type Running, sleepers, until } from './drover.ts';
import { Herd } from './herd.ts';

const example = (name: string): string => resolve(import.meta.dirname, '..', '..', 'examples', name);

const workers = {
  'worker.sh': ['bash', example('worker.sh')],
  'worker.py': ['python3', example('worker.py'), '2'],
} as const;

/** One that is free now; a server that is restarted comes back at the same address. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Longer than a lease, its margin, and the wait before the next attempt. */
const lossMs = 120_000;

let herd: Herd;
let server: Running;
let listen: string;

beforeEach(async () => {
  herd = new Herd();
  listen = `127.0.0.1:${await freePort()}`;
  server = await herd.server('--preset', 'interactive', '--listen', listen);
});

afterEach(() => herd.close());

async function submit(...lines: string[]): Promise<string> {
  herd.write('tasks', lines.map((line) => `${line}\n`).join(''));
  return (JSON.parse(await herd.ok('submit', '--json', 'tasks')) as { id: string }).id;
}

describe.each(Object.entries(workers))('%s', (_, program) => {
  const start = (): Running => herd.script(program);

  it('A22: claims tasks, runs them as they are to be run, sends output and ends', async () => {
    start();
    const id = await submit(
      'echo out; echo err >&2',
      'echo "$DROVER_TASK_ID $PWD $(ps -o pgid= $$ | tr -d " ")" = $$',
      'exit 3',
      'kill -9 $$',
    );
    await herd.untilSome('all have ended', async () => (await herd.client.workflow(id)).state === 'failed');
    const kinds = await Promise.all([1, 2, 3, 4].map(async (n) => (await herd.task(`${id}.${n}`)).outcome));
    expect(kinds).toEqual([
      { kind: 'succeeded' },
      { kind: 'succeeded' },
      { kind: 'exited', code: 3 },
      { kind: 'signalled', signal: 9 },
    ]);
    expect(await herd.ok('logs', `${id}.1`)).toBe('out\n');
    expect(await herd.ok('logs', '--stderr', `${id}.1`)).toBe('err\n');
    const [task, cwd, group, , pid] = (await herd.ok('logs', `${id}.2`)).trim().split(' ');
    expect([task, cwd, group]).toEqual([`${id}.2`, herd.path, pid]);
    expect(await herd.ok('workers')).toContain('http');
  });

  it('A30, A35, A36: ends what is cancelled by TERM, and by KILL when that does not help', async () => {
    start();
    const [meek, stubborn] = [mark(), mark()];
    const id = await submit(`exec sleep ${meek}`, `trap "" TERM; sleep ${stubborn}; sleep ${stubborn}`);
    for (const [index, duration] of [
      [1, meek],
      [2, stubborn],
    ] as const) {
      await until('it runs', () => sleepers(duration).length > 0);
      await herd.client.cancelTask(`${id}.${index}`);
      await herd.untilTask(`${id}.${index}`, 'cancelled');
      expect(sleepers(duration)).toEqual([]);
    }
    expect((await herd.task(`${id}.1`)).outcome).toEqual({ kind: 'cancelled', signal: 15 });
    expect((await herd.task(`${id}.2`)).outcome).toEqual({ kind: 'cancelled' });
  });

  it('that is killed takes what it ran along; the task is lost, and tried by another', {
    timeout: lossMs,
  }, async () => {
    const first = start();
    const duration = mark();
    const id = await submit(`[ -e ${herd.file('again')} ] || { touch ${herd.file('again')}; sleep ${duration}; }`);
    await until('it runs', () => sleepers(duration).length > 0);
    process.kill(first.pid, 'SIGKILL');
    await until('it is dead', () => sleepers(duration).length === 0);
    expect(await herd.task(`${id}.1`)).toMatchObject({ state: 'running', history: [{ state: 'running' }] });
    start();
    const { history } = await herd.untilTask(`${id}.1`, 'done', lossMs);
    expect(history.map(({ worker, outcome }) => [worker, outcome?.kind])).toEqual([
      ['k1', 'lost'],
      ['k2', 'succeeded'],
    ]);
  });

  it('goes on when the server is restarted', async () => {
    start();
    const id = await submit(
      `echo before; until [ -e ${herd.file('go')} ]; do sleep 0.1; done; echo after`,
      'echo next',
    );
    await herd.untilTask(`${id}.1`, 'running');
    server.child.kill('SIGKILL');
    await server.ended;
    herd.write('go');
    server = await herd.server('--preset', 'interactive', '--listen', listen);
    await herd.untilTask(`${id}.2`, 'done', 40_000);
    await herd.untilTask(`${id}.1`, 'done', 40_000);
    expect(await herd.ok('logs', `${id}.1`)).toBe('before\nafter\n');
    expect((await herd.task(`${id}.1`)).attempts).toBe(1);
    expect((await herd.workers()).map(({ id: worker }) => worker)).toEqual(['k1']);
  });

  it('works over TLS, with the certificate of the access file', async () => {
    server.child.kill('SIGTERM');
    await server.ended;
    server = await herd.server('--preset', 'interactive', '--listen', '0.0.0.0');
    const { url } = JSON.parse(readFileSync(herd.file('.drover/access.json'), 'utf8')) as { url: string };
    const here = `https://127.0.0.1:${new URL(url).port}`;
    herd.script(program, { DROVER_URL: here });
    const id = await submit('echo hello');
    expect((await herd.run('wait', id)).code).toBe(0);
  });

  it('leaves when it is told to end, and what it ran is free at once', async () => {
    const worker = start();
    const duration = mark();
    const id = await submit(`sleep ${duration}`);
    await until('it runs', () => sleepers(duration).length > 0);
    worker.child.kill('SIGTERM');
    await worker.ended;
    await herd.untilTask(`${id}.1`, 'queued');
    await until('it is dead', () => sleepers(duration).length === 0);
    expect(await herd.workers()).toMatchObject([{ id: 'k1', state: 'gone', reason: 'it ended by itself' }]);
  });
});
