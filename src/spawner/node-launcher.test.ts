import { closeSync, openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Driver, isAlive } from './driver.testing.ts';

describe('a spawner without koffi', () => {
  let driver: Driver;
  let lockFd: number;
  beforeAll(() => {
    lockFd = openSync('/etc/hostname', 'r');
    driver = new Driver({ args: ['--launcher=node'], lockFd });
  });
  afterAll(async () => {
    closeSync(lockFd);
    await driver.close();
  });

  it('says what is lost', async () => {
    const ready = await driver.ready();
    expect(ready.launcher).toBe('node');
    expect(ready.note).toContain('CPU time');
  });

  it('runs tasks and reports their ends exactly', async () => {
    expect(await driver.run('echo out; echo err >&2; exit 3')).toMatchObject({
      exit: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(await driver.run('kill -11 $$')).toMatchObject({ signal: 11 });
    expect(await driver.run('no-such-program')).toMatchObject({ exit: 127 });
    expect(await driver.run('echo $A$B $PWD', { vars: ['A=1', 'B=2', 'A=3'] })).toMatchObject({
      stdout: `32 ${driver.directory}\n`,
    });
  });

  it('works out why a start failed', async () => {
    expect(await driver.failed(driver.start('true', { cwd: '/no/such' }))).toMatchObject({ code: 'cwd-missing' });
    expect(await driver.failed(driver.start('true', { shell: '/no/such' }))).toMatchObject({ code: 'shell-missing' });
    expect(await driver.failed(driver.start(`true #${'x'.repeat(7_000_000)}`))).toMatchObject({ code: 'too-long' });
  });

  it('keeps the lock that it inherited out of tasks', async () => {
    expect((await driver.run('[ -e /proc/$$/fd/2 ] && [ ! -e /proc/$$/fd/3 ]')).exit).toBe(0);
  });

  it('ends what outlives its main process', async () => {
    const ended = await driver.run('sleep 1000 & echo child=$!; exit 5');
    expect(ended).toMatchObject({ exit: 5, leftovers: 1 });
    expect(isAlive(driver.number(ended.key, 'child'))).toBe(false);
  });

  it('kills a tree, with the daemons that carry its tag', async () => {
    const key = await driver.startAndAwait(
      'trap "" TERM; (setsid sleep 1000 & echo child=$!); echo up; while :; do sleep 0.05; done',
      'up',
    );
    driver.kill(key, 'term-kill', 100);
    expect(await driver.ended(key)).toMatchObject({ signal: 9, signalled: { killed: true } });
    expect(isAlive(driver.number(key, 'child'))).toBe(false);
  });

  it('kills everything when its stdin ends', async () => {
    const other = new Driver({ args: ['--launcher=node'] });
    const key = await other.startAndAwait(
      'sleep 1000 & echo one=$!; setsid sleep 1000 & echo two=$!; echo up; wait',
      'up',
    );
    const pids = ['one', 'two'].map((name) => other.number(key, name));
    other.process.stdin?.end();
    await other.exited();
    expect(pids.filter(isAlive)).toEqual([]);
    await other.close();
  });
});
