/** What the surroundings do to a command: pipes that close, terminals that hang up, clocks that are set. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastJson, launcher, mark, type Place, place, processesOf, sleepers, until } from './drover.ts';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

const file = (name: string): string => join(here.path, name);

/** A line of shell, with `$D` for the launcher; its exit code and what it said. */
function shell(line: string): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], {
    cwd: here.path,
    env: { ...process.env, D: launcher },
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

describe('a run', () => {
  const tasks = `'echo {}; echo {} >> ran' ::: 1 2 3`;
  it.each([
    ['whose output nobody reads any more', `"$D" run ${tasks} | true; exit \${PIPESTATUS[0]}`],
    ['whose progress nobody reads any more', `"$D" run --json ${tasks} | head -1 > first; exit \${PIPESTATUS[0]}`],
    ['without standard output', `"$D" run ${tasks} >&-`],
    ['without standard error', `"$D" run ${tasks} 2>&-`],
    ['without standard input', `"$D" run ${tasks} <&-`],
    ['without any of them', `"$D" run ${tasks} <&- >&- 2>&-`],
  ])('%s runs all the same', async (_, line) => {
    expect(shell(line).code).toBe(0);
    expect(readFileSync(file('ran'), 'utf8').split('\n').sort().join('')).toBe('123');
    expect(await here.json(['show', 'w1', '--json'])).toMatchObject({ state: 'done' });
  });

  it('whose result finds no room says so with exit 4, and the result is still there', () => {
    const { code, stderr } = shell(`"$D" run ${tasks} > /dev/full`);
    expect([code, stderr]).toEqual([4, expect.stringContaining("the output can't be written: ENOSPC\n  make room")]);
    expect(shell('"$D" logs w1.2')).toMatchObject({ code: 0, stdout: '2\n' });
  });

  it.each(['SIGHUP', 'SIGTERM'] as const)(
    'that gets a %s ends its tasks and itself, and can be resumed',
    async (signal) => {
      const long = mark();
      const run = here.start(['run', '--json', '-j2', '-'], `[ -e go ] || sleep ${long}\necho done\n`);
      await until('the first is done', () => run.stdout().includes('"done":1'));
      run.child.kill(signal);
      const { code, stdout } = await run.ended;
      expect([code, lastJson(stdout)]).toEqual([130, expect.objectContaining({ state: 'halted', done: 1 })]);
      expect([sleepers(long), processesOf(here.path)]).toEqual([[], []]);
      writeFileSync(file('go'), '');
      expect((await here.run(['resume'])).code).toBe(0);
    },
  );

  it('whose terminal goes away ends its tasks and itself, and can be resumed', async () => {
    const long = mark();
    writeFileSync(file('tasks'), `touch begun; [ -e go ] || sleep ${long}\n`);
    const terminal = spawn('script', ['-qec', `"${launcher}" run tasks`, '/dev/null'], {
      cwd: here.path,
      stdio: 'ignore',
    });
    await until('the task runs', () => sleepers(long).length === 1);
    terminal.kill('SIGKILL');
    await until('nothing runs any more', () => sleepers(long).length === 0 && processesOf(here.path).length === 0);
    await until('the folder is free', () => !existsSync(file('.drover/access.json')));
    writeFileSync(file('go'), '');
    expect((await here.run(['resume'])).code).toBe(0);
  });
});

describe('a server and a worker', () => {
  it('that get a SIGHUP end with exit 0: a server leaves tasks to its worker, a worker ends them', async () => {
    const long = mark();
    const server = here.start(['server', '--json']);
    await until('the server is ready', () => server.stdout().includes('\n'));
    const worker = here.start(['worker', '-j1']);
    expect((await here.run(['submit', `sleep ${long}; true {}`, ':::', '1'])).code).toBe(0);
    await until('the task runs', () => sleepers(long).length === 1);
    server.child.kill('SIGHUP');
    expect((await server.ended).code).toBe(0);
    expect(sleepers(long)).toHaveLength(1);
    worker.child.kill('SIGHUP');
    expect((await worker.ended).code).toBe(0);
    expect(sleepers(long)).toEqual([]);
  });
});

describe('a wall clock that is set while a run goes on', () => {
  it('loses no worker, ends no task before its time, and delays none', async () => {
    const flaky = '[ $DROVER_ATTEMPT = 2 ]';
    const preload = `--import=${join(import.meta.dirname, 'jumping-clock.ts')}`;
    const env = { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${preload}`, JUMPS: file('jumps') };
    const begin = performance.now();
    const args = ['run', '--json', '-j2', '--timeout', '60s', '--retries', '1', '-'];
    const { code, stdout } = await here.run(args, { input: `sleep 3; echo slept\n${flaky}\necho quick\n`, env });
    expect([code, lastJson(stdout)]).toEqual([0, expect.objectContaining({ done: 3, attempts: 4 })]);
    expect(performance.now() - begin).toBeLessThan(25_000);
    const { history } = (await here.json(['show', 'w1.1', '--json'])) as { history: { wallMs: number }[] };
    expect(history).toHaveLength(1);
    expect(history[0]?.wallMs).toBeGreaterThanOrEqual(3_000);
    // Command, worker and spawner.
    const jumped = new Set(
      readFileSync(file('jumps'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    );
    expect(jumped.size).toBeGreaterThanOrEqual(3);
  });
});
