import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastJson, mark, type Place, place, processesOf, sleepers, spawnersOf, until, workersOf } from './drover.ts';

const quickstart = resolve(import.meta.dirname, '..', '..', 'examples', 'quickstart.tasks');

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

describe('the first commands', () => {
  it('the quickstart estimates pi', async () => {
    const { code, stdout } = await here.run(['run', quickstart]);
    expect(stdout).toMatch(/pi ≈ 3\.1/);
    expect(code).toBe(0);
  });

  it('a thousand lines from standard input all run, and the last line of --json says so', async () => {
    const input = Array.from({ length: 1000 }, (_, i) => `echo ${i + 1}\n`).join('');
    const { code, stdout } = await here.run(['run', '-', '--json'], { input });
    expect(code).toBe(0);
    expect(lastJson(stdout)).toMatchObject({ state: 'done', total: 1000, done: 1000, failed: 0, cancelled: 0 });
  });

  it('a failed task makes exit code 1, and a resume repeats that one only', async () => {
    const first = await here.run(['run', '--json', 'echo {} >> ran; test {} -ne 7', ':::', '1', '2', '7', '9']);
    expect(first.code).toBe(1);
    expect(lastJson(first.stdout)).toMatchObject({ id: 'w1', state: 'failed', done: 3, failed: 1 });
    const again = await here.run(['resume', '--json']);
    expect(again.code).toBe(1);
    expect(lastJson(again.stdout)).toMatchObject({ id: 'w1', run: 2, attempts: 1, done: 3, failed: 1 });
    const ran = readFileSync(join(here.path, 'ran'), 'utf8').trim().split('\n').sort();
    expect(ran).toEqual(['1', '2', '7', '7', '9']);
  });
});

/** A task, a child of it in a session of its own with a cleared environment, and one in the background. */
const family = (long: string): string => `setsid env -i sleep ${long} & sleep ${long} & sleep ${long}; true {}`;

describe('nothing is left alive', () => {
  it('after two Ctrl-C, within two seconds', async () => {
    const long = mark();
    const run = here.start(['run', '-j2', family(long), ':::', '1', '2']);
    await until('all tasks run', () => sleepers(long).length === 6);
    process.kill(run.pid, 'SIGINT');
    await until('the first Ctrl-C is understood', () => run.stderr().includes('Ctrl-C again'));
    expect(sleepers(long)).toHaveLength(6);
    process.kill(run.pid, 'SIGINT');
    await until('nothing is alive', () => sleepers(long).length === 0, 2_000);
    expect((await run.ended).code).toBe(130);
    await until('no process of it is left', () => processesOf(here.path).length === 0, 2_000);
  });

  it.each([
    ['worker', workersOf],
    ['spawner', spawnersOf],
  ] as const)('after kill -9 of the %s, within two seconds; and the tasks are run again', async (_, processes) => {
    const long = mark();
    // The first time it hangs; the second time it finds the file and is done.
    const task = `if [ -e seen{} ]; then echo again {}; else touch seen{}; ${family(long)}; fi`;
    const run = here.start(['run', '-j2', '--json', task, ':::', '1', '2']);
    await until('all tasks run', () => sleepers(long).length === 6);
    for (const pid of processes(here.path)) process.kill(pid, 'SIGKILL');
    await until('nothing is alive', () => sleepers(long).length === 0, 2_000);
    const { code, stdout } = await run.ended;
    expect(lastJson(stdout)).toMatchObject({ state: 'done', done: 2, attempts: 4 });
    expect(code).toBe(0);
    await until('no process of it is left', () => processesOf(here.path).length === 0, 2_000);
  });

  it('after kill -9 of the command itself, once its worker has given it up', async () => {
    const long = mark();
    const run = here.start(['run', family(long), ':::', '1']);
    await until('the task runs', () => sleepers(long).length === 3);
    process.kill(run.pid, 'SIGKILL');
    await until(
      'the worker has given up',
      () => sleepers(long).length === 0 && processesOf(here.path).length === 0,
      20_000,
    );
  });
});

describe('a run that was interrupted', () => {
  it('by one Ctrl-C lets running tasks finish, launches no other, and is resumed with nothing run twice', async () => {
    const run = here.start([
      'run',
      '-j2',
      '--json',
      'echo {} >> ran; while [ ! -e go ]; do sleep 0.05; done',
      ':::',
      ...'123456',
    ]);
    await until('two tasks run', () => existsSync(join(here.path, 'ran')) && lines('ran').length === 2);
    process.kill(run.pid, 'SIGINT');
    await until('the Ctrl-C is understood', () => run.stderr().includes('Ctrl-C again'));
    writeFileSync(join(here.path, 'go'), '');
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(lastJson(stdout)).toMatchObject({ state: 'halted', done: 2 });
    expect(await here.json(['resume', '--json'])).toMatchObject({ state: 'done', done: 6, attempts: 4 });
    expect(lines('ran').sort()).toEqual([...'123456']);
  });

  it('by kill -9 of the controller is adopted by a resume: what runs goes on, nothing is run twice', async () => {
    const run = here.start([
      'run',
      '-j2',
      'echo {} >> ran; while [ ! -e go ]; do sleep 0.05; done; echo {} >> ended',
      ':::',
      ...'1234',
    ]);
    await until('two tasks run', () => existsSync(join(here.path, 'ran')) && lines('ran').length === 2);
    process.kill(run.pid, 'SIGKILL');
    await run.ended;
    const resumed = here.start(['resume', '--json', '-j2']);
    await until('it goes on', () => resumed.stdout().includes('"running":2'));
    writeFileSync(join(here.path, 'go'), '');
    const { code, stdout } = await resumed.ended;
    expect(lastJson(stdout)).toMatchObject({ state: 'done', done: 4, attempts: 4 });
    expect(code).toBe(0);
    expect(lines('ran').sort()).toEqual([...'1234']);
    expect(lines('ended').sort()).toEqual([...'1234']);
    await until('no process of it is left', () => processesOf(here.path).length === 0, 2_000);
  });

  const lines = (name: string): string[] => readFileSync(join(here.path, name), 'utf8').trim().split('\n');
});
