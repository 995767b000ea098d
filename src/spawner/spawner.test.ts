import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uptimeMs } from '../platform/node/clock.ts';
import { Driver, isAlive, until } from './driver.testing.ts';

const MIB = 1024 * 1024;

describe('a spawner', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = new Driver();
  });
  afterAll(() => driver.close());

  it('says first that it is ready, and how it starts processes', async () => {
    expect(await driver.ready()).toMatchObject({ pid: driver.process.pid, launcher: 'posix_spawn' });
    expect(driver.messages[0]?.t).toBe('ready');
  });

  it.each([0, 1, 2, 77, 126, 127, 128, 137, 255])('reports exit code %i exactly', async (code) => {
    expect(await driver.run(`exit ${code}`)).toMatchObject({ exit: code });
  });

  it.each([1, 2, 6, 9, 11, 13, 15, 34, 64])('reports death by signal %i exactly', async (signal) => {
    const ended = await driver.run(`kill -${signal} $$`);
    expect(ended.signal).toBe(signal);
    expect(ended).not.toHaveProperty('exit');
    expect(ended).not.toHaveProperty('signalled');
  });

  it('reports 127 for a program that is not there and 126 for one that is no program, with the words of the shell', async () => {
    expect(await driver.run('no-such-program')).toMatchObject({
      exit: 127,
      stderr: 'bash: line 1: no-such-program: command not found\n',
    });
    expect(await driver.run('/etc')).toMatchObject({ exit: 126, stderr: 'bash: line 1: /etc: Is a directory\n' });
  });

  it('invariant 1: answers a thousand quick tasks with one start and one end each, in this order', async () => {
    const keys = Array.from({ length: 1_000 }, (_, i) =>
      driver.describe(i % 2 ? '/bin/true' : ':', {
        stdout: { path: driver.path('many'), mode: 'truncate' },
        stderr: { path: driver.path('many'), mode: 'truncate' },
      }),
    );
    for (let i = 0; i < keys.length; i += 50) driver.send(...keys.slice(i, i + 50));
    await Promise.all(keys.map((task) => driver.ended(task.key)));
    for (const { key } of keys) {
      expect(driver.messages.filter((m) => 'key' in m && m.key === key).map((m) => m.t)).toEqual(['started', 'ended']);
    }
    expect(driver.messages.filter((m) => m.t === 'ended' && m.exit !== 0 && m.key >= (keys[0]?.key ?? 0))).toEqual([]);
  });

  it('gives each task a session of its own, default signals and no stdin', async () => {
    const { stdout } = await driver.run(
      'echo $$ $(ps -o sid= -p $$); grep -E "^Sig(Blk|Ign)" /proc/self/status; readlink /proc/self/fd/0',
    );
    const [first, ...rest] = stdout.split('\n');
    const [pid, session] = (first ?? '').split(' ');
    expect(session).toBe(pid);
    expect(rest.slice(0, 3)).toEqual(['SigBlk:\t0000000000000000', 'SigIgn:\t0000000000000000', '/dev/null']);
  });

  it('measures CPU time of the task and of what it waited for', async () => {
    const ended = await driver.run('bash -c "for ((i = 0; i < 200000; i++)); do :; done"; sleep 0.2');
    expect(ended.cpuMs).toBeGreaterThan(50);
    expect(ended.wallMs).toBeGreaterThanOrEqual(200 + ended.cpuMs / 2);
  });

  it('measures the peak memory of a process that holds 50 MB for a second', async () => {
    // `tail` keeps the last line, which is all of it, until its input ends.
    const ended = await driver.run('{ head -c 50000000 /dev/zero; sleep 1; } | tail -n 1 > /dev/null');
    expect(ended.peakBytes).toBeGreaterThan(40 * MIB);
    expect(ended.peakBytes).toBeLessThan(120 * MIB);
  });

  it('measures a short peak that is larger than the spawner itself, though it was never sampled', async () => {
    const ended = await driver.run('dd if=/dev/zero of=/dev/null bs=400M count=1 status=none');
    expect(ended.peakBytes).toBeGreaterThan(390 * MIB);
    expect(ended.peakBytes).toBeLessThan(450 * MIB);
  });

  it('does not take its own size for the peak of a short task', async () => {
    const ended = await driver.run('/bin/true');
    expect(ended.peakBytes ?? 0).toBeLessThan(10 * MIB);
  });
});

describe('what outlives its main process', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = new Driver();
  });
  afterAll(() => driver.close());

  it('invariant 2: may finish by itself, with its output counted to the task', async () => {
    const ended = await driver.run('exec > >(sleep 0.05; tee copy); echo through tee; exit 5');
    expect(ended).toMatchObject({ exit: 5, stdout: 'through tee\n', out: { bytes: 12 } });
    expect(ended).not.toHaveProperty('leftovers');
    expect(driver.text('copy')).toBe('through tee\n');
  });

  it('invariant 3: is terminated after its grace, and the exit code stays that of the main process', async () => {
    const ended = await driver.run('sleep 1000 & echo child=$!; exit 3');
    expect(ended).toMatchObject({ exit: 3, leftovers: 1 });
    expect(ended).not.toHaveProperty('signalled');
    expect(isAlive(driver.number(ended.key, 'child'))).toBe(false);
  });

  it('is killed when it ignores SIGTERM', async () => {
    const ended = await driver.run(
      '(trap "" TERM; echo child=$BASHPID; while :; do sleep 0.05; done) & sleep 0.1; exit 4',
    );
    expect(ended.exit).toBe(4);
    expect(ended.leftovers).toBeGreaterThanOrEqual(1);
    expect(isAlive(driver.number(ended.key, 'child'))).toBe(false);
  });

  it.each([
    ['a daemon with a session of its own', 'setsid sleep 1000 & echo child=$!; exit 0'],
    ['a daemon with a session of its own and no environment', 'setsid env -i sleep 1000 & echo child=$!; exit 0'],
    ['a daemon forked twice', '(setsid env -i bash -c "sleep 1000 & echo child=\\$!" & ); sleep 0.2; exit 0'],
  ])('is found even as %s', async (_, command) => {
    const ended = await driver.run(command);
    expect(ended).toMatchObject({ exit: 0, leftovers: 1 });
    expect(isAlive(driver.number(ended.key, 'child'))).toBe(false);
  });

  it('is not confused with another task that goes on', async () => {
    const other = await driver.startAndAwait('sleep 1000 & echo child=$!; echo up; wait', 'up');
    const ended = await driver.run('sleep 1000 & setsid sleep 1000 & exit 0');
    expect(ended).toMatchObject({ exit: 0, leftovers: 2 });
    expect(isAlive(driver.number(other, 'child'))).toBe(true);
    driver.kill(other, 'kill');
    await driver.ended(other);
  });

  it('is a stray when it could be of two tasks, and dies with the last of them', async () => {
    const first = await driver.startAndAwait('echo up; until [ -e end-first ]; do sleep 0.02; done', 'up');
    const daemon =
      'setsid env -i bash -c "sleep 1000 & echo child=\\$!"; echo up; until [ -e end-second ]; do sleep 0.02; done';
    // Its parents are usually gone before the sampler first looks, at 50 ms; if not, the task is known and it dies sooner.
    const second = await driver.startAndAwait(daemon, 'up');
    const child = driver.number(second, 'child');
    await driver.run('touch end-second');
    await driver.ended(second);
    await driver.run('touch end-first');
    await driver.ended(first);
    expect(isAlive(child)).toBe(false);
  });
});

describe('a stop', () => {
  it('terminates, then kills, reports every end and exits with 0', async () => {
    const driver = new Driver();
    const mild = await driver.startAndAwait('echo up; sleep 1000', 'up');
    const stubborn = await driver.startAndAwait('trap "" TERM; echo up; while :; do sleep 0.05; done', 'up', {
      scratch: driver.path('scratch'),
    });
    driver.send({ t: 'stop', graceMs: 200 });
    expect(await driver.ended(mild)).toMatchObject({ signal: 15, signalled: { why: 'stop', killed: false } });
    expect(await driver.ended(stubborn)).toMatchObject({ signal: 9, signalled: { why: 'stop', killed: true } });
    expect(await driver.exited()).toEqual({ code: 0, signal: null });
    expect(existsSync(driver.path('scratch'))).toBe(false);
    await driver.close();
  });

  it('refuses starts that come after it, as something to try elsewhere', async () => {
    const driver = new Driver();
    await driver.startAndAwait('trap "" TERM; echo up; while :; do sleep 0.05; done', 'up');
    driver.send({ t: 'stop', graceMs: 300 });
    expect(await driver.failed(driver.start('true'))).toMatchObject({ code: 'other', permanent: false });
    await driver.close();
  });
});

describe('a deadline', () => {
  it('is the last that was set, and without one there is no limit', async () => {
    const driver = new Driver();
    const key = await driver.startAndAwait('echo up; sleep 1', 'up');
    driver.send({ t: 'renew', ms: 50 }, { t: 'renew', ms: 60_000 });
    expect(await driver.ended(key)).toMatchObject({ exit: 0 });
    await driver.close();
  });
});

describe('the end of the spawner', () => {
  const everyKind =
    'sleep 1000 & echo plain=$!; setsid env -i sleep 1001 & echo cleared=$!; ' +
    '(setsid env -i bash -c "sleep 1002 & echo twice=\\$!" &); trap "" TERM HUP INT; ' +
    'until [ "$(wc -l < $OUT)" -ge 3 ]; do sleep 0.01; done; echo up; while :; do sleep 0.05; done';

  it.each([
    ['its stdin ends', (driver: Driver) => driver.process.stdin?.end()],
    ['SIGTERM', (driver: Driver) => driver.process.kill('SIGTERM')],
    ['SIGINT', (driver: Driver) => driver.process.kill('SIGINT')],
    ['SIGHUP', (driver: Driver) => driver.process.kill('SIGHUP')],
    [
      'nobody reads its output',
      (driver: Driver) => {
        driver.process.stdout?.destroy();
        driver.start('true');
      },
    ],
    ['its deadline passes', (driver: Driver) => driver.send({ t: 'renew', ms: 100 })],
    [
      'its deadline has passed when it reads of it',
      (driver: Driver) => driver.send({ t: 'renew', ms: 60_000, sentAt: uptimeMs() - 60_000 }),
    ],
    ['a message is malformed', (driver: Driver) => driver.process.stdin?.write('{}\n')],
  ])('kills everything below it at once: %s', async (_, end) => {
    const driver = new Driver();
    const keys: number[] = [];
    for (let i = 0; i < 3; i++) {
      const task = driver.describe(everyKind);
      driver.send({ ...task, vars: [`OUT=${task.stdout.path}`] });
      keys.push(task.key);
    }
    await until(() => keys.every((key) => driver.stdout(key).includes('up\n')), 'all tasks to be up');
    const pids = keys.flatMap((key) => ['plain', 'cleared', 'twice'].map((name) => driver.number(key, name)));
    expect(pids.every(isAlive)).toBe(true);
    const began = performance.now();
    end(driver);
    await driver.exited();
    // Milliseconds, where nothing else is to be done; by themselves they would go on for much longer than this.
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(pids.filter(isAlive)).toEqual([]);
    await driver.close();
  });
});
