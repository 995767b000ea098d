import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStat } from '../platform/node/process-tree.ts';
import { Driver, isAlive, until } from './driver.testing.ts';

describe('a kill', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = new Driver();
  });
  afterAll(() => driver.close());

  it('terminates a task that heeds SIGTERM', async () => {
    const key = await driver.startAndAwait('echo up; sleep 1000', 'up');
    driver.kill(key, 'term-kill', 10_000, 'timeout');
    expect(await driver.ended(key)).toMatchObject({ signal: 15, signalled: { why: 'timeout', killed: false } });
  });

  it('lets a task that traps SIGTERM finish within its grace', async () => {
    const key = await driver.startAndAwait(
      'trap "sleep 0.1; echo cleaned; exit 9" TERM; echo up; while :; do sleep 0.01; done',
      'up',
    );
    driver.kill(key, 'term-kill', 10_000);
    expect(await driver.ended(key)).toMatchObject({ exit: 9, signalled: { killed: false } });
    expect(driver.stdout(key)).toContain('cleaned');
  });

  it('kills a task that ignores SIGTERM when its grace is over', async () => {
    const key = await driver.startAndAwait('trap "" TERM; echo up; while :; do sleep 0.05; done', 'up');
    const began = performance.now();
    driver.kill(key, 'term-kill', 300, 'timeout');
    expect(await driver.ended(key)).toMatchObject({ signal: 9, signalled: { why: 'timeout', killed: true } });
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
  });

  it('gives the grace to the children of a main process that heeded SIGTERM at once', async () => {
    const child = '(trap "sleep 0.6; echo cleaned; exit" TERM; echo up; while :; do sleep 0.01; done) & wait';
    const key = await driver.startAndAwait(child, 'up');
    driver.kill(key, 'term-kill', 10_000);
    expect(await driver.ended(key)).toMatchObject({ signal: 15 });
    expect(driver.stdout(key)).toContain('cleaned');
  });

  it('can be brought forward by a second one, and keeps the reason of the first', async () => {
    const key = await driver.startAndAwait('trap "" TERM; echo up; while :; do sleep 0.05; done', 'up');
    driver.kill(key, 'term-kill', 60_000, 'first');
    driver.kill(key, 'kill', 0, 'second');
    expect(await driver.ended(key)).toMatchObject({ signal: 9, signalled: { why: 'first', killed: true } });
  });

  it('wakes a stopped task to terminate it', async () => {
    const key = await driver.startAndAwait('trap "echo woken; exit 8" TERM; echo up; kill -STOP $$; sleep 1000', 'up');
    const { pid } = await driver.started(key);
    await until(() => driver.stdout(key).includes('up') && !isRunning(pid), 'the task to stop');
    driver.kill(key, 'term');
    expect(await driver.ended(key)).toMatchObject({ exit: 8 });
    expect(driver.stdout(key)).toContain('woken');
  });

  it('reaches a daemon whose parent has gone, so that nothing waits for the grace', async () => {
    const command =
      'setsid -f env -i bash -c "echo daemon=\\$\\$; exec sleep 1000"; until grep -q daemon "$OUT"; do sleep 0.01; done; echo up; sleep 1000';
    const task = driver.describe(command);
    driver.send({ ...task, vars: [`OUT=${task.stdout.path}`] });
    await until(() => driver.stdout(task.key).includes('up\n'), 'the daemon to be up');
    const daemon = driver.number(task.key, 'daemon');
    driver.kill(task.key, 'term-kill', 60_000);
    await driver.ended(task.key);
    expect(isAlive(daemon)).toBe(false);
  });

  it.each(['term-kill', 'kill'] as const)('with %s reaches the whole tree', async (how) => {
    const command =
      'sleep 1000 & echo one=$!; bash -c "sleep 1000 & echo two=\\$!; wait" & ' +
      'setsid env -i sleep 1000 & echo three=$!; (setsid sleep 1000 & echo four=$!); ' +
      '(setsid env -i bash -c "sleep 1000 & echo five=\\$!" &); set -m; sleep 1000 & echo six=$!; ' +
      'until [ "$(wc -l < "$OUT")" -ge 6 ]; do sleep 0.01; done; echo up; wait';
    const task = driver.describe(command);
    driver.send({ ...task, vars: [`OUT=${task.stdout.path}`] });
    await until(() => driver.stdout(task.key).includes('up\n'), 'the tree to be up');
    const pids = ['one', 'two', 'three', 'four', 'five', 'six'].map((name) => driver.number(task.key, name));
    expect(pids.every(isAlive)).toBe(true);
    driver.kill(task.key, how, 2_000);
    await driver.ended(task.key);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('ends a task that forks as fast as it can', async () => {
    // A duration that no other process on this machine sleeps for.
    const sleeper = `sleep 86400.${process.pid}`;
    const spin = `spin() { while :; do (:) & ${sleeper} & sleep 0.001; done; }`;
    const bomb = `${spin}; trap "" TERM; spin & spin & echo up; wait`;
    const key = await driver.startAndAwait(bomb, 'up');
    const { pid } = await driver.started(key);
    driver.kill(key, 'kill');
    expect(await driver.ended(key)).toMatchObject({ signal: 9 });
    expect(isAlive(pid)).toBe(false);
    const left = await driver.run(`pgrep -c -x -f '${sleeper}'`);
    expect(left.stdout).toBe('0\n');
  });

  it('of an unknown task is ignored', async () => {
    driver.kill(999_999, 'kill');
    expect(await driver.run('exit 0')).toMatchObject({ exit: 0 });
  });

  it('of a task that has ended its main process does not pass for the cause of the end', async () => {
    const key = await driver.startAndAwait('(trap "" TERM; echo up; sleep 1000) & sleep 0.1; exit 6', 'up');
    const { pid } = await driver.started(key);
    await until(() => !isAlive(pid), 'the main process to end');
    driver.kill(key, 'kill');
    const ended = await driver.ended(key);
    expect(ended.exit).toBe(6);
    expect(ended).not.toHaveProperty('signalled');
  });
});

function isRunning(pid: number): boolean {
  return readStat(pid)?.state !== 'T';
}
