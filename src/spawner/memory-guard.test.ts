import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { claimMemoryCgroup, removeCgroup } from '../platform/node/memory-cgroup.ts';
import { Driver, type DriverOptions, isAlive, until } from './driver.testing.ts';

const megabyte = 1024 * 1024;
const place = claimMemoryCgroup();
const why = place === undefined ? ' (skipped: no memory cgroup may be made here)' : '';
const argument = (path: string): string => `--cgroups=${place?.version}:${path}`;

const drivers: Driver[] = [];
function drive(options: DriverOptions = {}): Driver {
  const driver = new Driver(options);
  drivers.push(driver);
  return driver;
}
afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.close();
});
afterAll(() => {
  if (place !== undefined) expect(removeCgroup(place.path)).toBe(true);
});

/** Takes so many megabytes, one after the other, then does what is asked. */
const take = (megabytes: number, then = ''): string =>
  `perl -e 'push @a, "x" x 1048576 for 1..${megabytes}; $| = 1; print "taken\\n"; ${then}'`;
const killed = { signal: 9, outOfMemory: 'task' } as const;
const limit = (megabytes: number) => ({ memoryBytes: megabytes * megabyte });

describe.each([
  { how: `a cgroup${why}`, args: place === undefined ? undefined : [argument(place.path)] },
  { how: 'looks at its processes', args: [] },
])('a task that is held to its memory by $how', ({ args }) => {
  const test = it.runIf(args !== undefined);
  let driver: Driver;
  beforeAll(() => {
    driver = new Driver({ args: args ?? [] });
  });
  afterAll(() => driver.close());

  test.each([
    ['one process', take(2_000, 'sleep 60')],
    ['one that reads into a line without end', 'tail /dev/zero'],
    ['a child whose parent would go on', `bash -c ${JSON.stringify(`${take(2_000)}; true`)}; sleep 60; exit 3`],
  ])('is killed when it grows beyond: %s', async (_, command) => {
    const { signalled, ...end } = await driver.run(command, limit(96));
    expect(end).toMatchObject({ outOfMemory: 'task' });
    expect(end.peakBytes).toBeGreaterThan(80 * megabyte);
    expect(signalled?.why ?? 'memory').toBe('memory');
  });

  test('is killed when its processes exceed it together, and none alone; all of them are', async () => {
    const child = `${take(40, 'sleep 60')} &`;
    const end = await driver.run(`${child} ${child} ${child} ${child} jobs -p; wait; exit 0`, limit(100));
    expect(end).toMatchObject({ outOfMemory: 'task' });
    const children = end.stdout.split('\n').filter((line) => /^\d+$/.test(line));
    expect([children.length, children.map(Number).filter(isAlive)]).toEqual([4, []]);
  });

  test('is killed when a daemon of it exceeds it', async () => {
    const daemon = take(2_000, 'sleep 60').replaceAll("'", "'\\''");
    const end = await driver.run(`setsid -f sh -c 'echo $$ > daemon; exec ${daemon}'; sleep 60`, limit(96));
    expect(end).toMatchObject(killed);
    expect(isAlive(Number(driver.text('daemon')))).toBe(false);
  });

  test('is not killed for pages that parent and children share', async () => {
    const forks = 'fork || last for 1..3; select undef, undef, undef, 0.7; wait for 1..3';
    const end = await driver.run(take(60, forks), limit(110));
    expect(end).toMatchObject({ exit: 0 });
    expect(end).not.toHaveProperty('outOfMemory');
  });

  test('is not killed for files that it reads and writes', async () => {
    const command = 'head -c 200000000 /dev/zero > large; for i in 1 2 3; do cat large | wc -c; sleep 0.1; done';
    const end = await driver.run(command, limit(60));
    expect([end.exit, end.outOfMemory]).toEqual([0, undefined]);
    expect(end.peakBytes).toBeLessThan(60 * megabyte);
  });

  test('tells its peak', async () => {
    const { exit, peakBytes } = await driver.run(take(150, 'select undef, undef, undef, 0.3'), limit(400));
    expect(exit).toBe(0);
    expect((peakBytes ?? 0) / megabyte).toBeGreaterThan(149);
    expect((peakBytes ?? 0) / megabyte).toBeLessThan(175);
  });

  test.each([
    ['exits as a killed one does', 'exit 137', { exit: 137 }],
    ['is killed by itself', 'kill -9 $$', { signal: 9 }],
    ['can not be started', '', {}],
  ])('and %s says so', async (_, command, how) => {
    if (command === '') {
      const key = driver.start('true', { ...limit(50), cwd: '/missing' });
      expect(await driver.failed(key)).toMatchObject({ code: 'cwd-missing' });
      return;
    }
    const end = await driver.run(command, limit(50));
    expect(end).toMatchObject(how);
    expect(end).not.toHaveProperty('outOfMemory');
  });

  test('and is cancelled meanwhile was cancelled', async () => {
    const key = await driver.startAndAwait(`trap '' TERM; echo on; ${take(40, 'sleep 60')}`, 'taken', limit(400));
    driver.kill(key, 'kill', 0, 'cancel');
    const end = await driver.ended(key);
    expect(end).toMatchObject({ signal: 9, signalled: { why: 'cancel', killed: true } });
    expect(end).not.toHaveProperty('outOfMemory');
  });

  test('leaves nothing behind, and others beside it alone', async () => {
    const beside = driver.start(take(300));
    await Promise.all([driver.run(take(300), limit(80)), driver.run('true', limit(80))]);
    expect(await driver.ended(beside)).toMatchObject({ exit: 0 });
  });
});

/** Around a spawner: as scarce as a machine, and as merciless. */
function smallMachine(megabytes: number): { readonly path: string; readonly wrapper: readonly [string, ...string[]] } {
  const path = join(place?.path ?? '', `small-${megabytes}`);
  mkdirSync(path);
  writeFileSync(
    join(path, place?.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'),
    String(megabytes * megabyte),
  );
  if (place?.version === 2) writeFileSync(join(path, 'cgroup.subtree_control'), '+memory');
  return { path, wrapper: ['sh', '-c', `echo $$ > ${path}/cgroup.procs; exec "$@"`, 'sh'] };
}

describe.runIf(place?.version === 1)(`a machine that runs out of memory${why}`, () => {
  it('is told from a task that does, and from a KILL that somebody sent', async () => {
    const driver = drive({ wrapper: smallMachine(500).wrapper });
    const sent = await driver.run('kill -9 $$');
    expect([sent.signal, sent.outOfMemory]).toEqual([9, undefined]);
    const end = await driver.run(`exec ${take(2_000)}`);
    expect(end).toMatchObject({ signal: 9, outOfMemory: 'machine' });
    const exited = await driver.run('exit 137');
    expect([exited.exit, exited.outOfMemory]).toEqual([137, undefined]);
  });

  it('is told from a task that does also by the cgroup of the task', async () => {
    const { path, wrapper } = smallMachine(501);
    const driver = drive({ wrapper, args: [argument(path)] });
    expect(await driver.run(`exec ${take(2_000)}`, limit(4_000))).toMatchObject({ signal: 9, outOfMemory: 'machine' });
    expect(await driver.run(`exec ${take(2_000)}`, limit(100))).toMatchObject(killed);
  });
});

it.runIf(place !== undefined)(`a spawner that dies takes its cgroups along${why}`, async () => {
  const path = join(place?.path ?? '', '1');
  const driver = drive({ args: [argument(place?.path ?? '')] });
  expect(await driver.startAndAwait('echo on; sleep 60', 'on', limit(50))).toBe(1);
  await until(() => !removeCgroup(path), 'the cgroup is in use');
  driver.process.kill('SIGTERM');
  await driver.exited();
  expect(removeCgroup(path)).toBe(true);
});
