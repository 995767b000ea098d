/** A list that is edited and submitted again, and tasks whose result is there: as a user does it. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainSpec as spec } from '../controller/spec.ts';
import { until } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;
beforeEach(() => {
  herd = new Herd();
});
afterEach(() => herd.close());

const line = (n: number | string): string => `echo ${n} >> ran`;
const list = (...lines: readonly string[]): void => herd.write('tasks', `${lines.join('\n')}\n`);
/** What ran since this was last asked. */
function ran(): string[] {
  const lines = herd.lines('ran').sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  rmSync(herd.file('ran'), { force: true });
  return lines;
}

describe('an edited list', () => {
  it('runs exactly the line that was edited, in a run of its own each time', async () => {
    const lines = Array.from({ length: 20 }, (_, n) => line(n));
    list(...lines);
    expect((await herd.run('run', 'tasks')).code).toBe(0);
    expect(ran()).toHaveLength(20);
    lines[7] = line('edited');
    list(...lines);
    const { code, stderr } = await herd.run('run', '--update', 'w1', 'tasks');
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('unchanged since w1: 19; new or changed: 1; not done there: 0'),
    ]);
    expect(ran()).toEqual(['edited']);
    expect((await herd.run('run', '--update', 'w2', 'tasks')).code).toBe(0);
    expect(ran()).toEqual([]);
    expect(await herd.ok('show', 'w3')).toMatch(/w3\.8 +skipped/);
    expect(await herd.ok('show', 'w3.8')).toMatch(/skipped +done as w2\.8/);
  });

  it('at a server, by name: what failed is tried again, and all survives a kill of the server', async () => {
    let server = await herd.server();
    herd.start(['worker']);
    list(line(1), 'test -e there', line(3));
    const first = await herd.run('submit', '--update', 'nightly', 'tasks');
    expect(first).toMatchObject({ code: 0, stdout: 'w1\n', stderr: expect.stringContaining('all tasks are new') });
    expect((await herd.run('wait', 'w1')).code).toBe(1);
    expect(ran()).toEqual(['1', '3']);
    server.child.kill('SIGKILL');
    await server.ended;
    server = await herd.server();
    herd.write('there');
    list(line(0), line(1), 'test -e there', line(3));
    const again = await herd.run('submit', '--update', 'nightly', 'tasks');
    expect(again).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('unchanged since nightly: 2; new or changed: 1; not done there: 1'),
    });
    expect((await herd.run('wait', 'w2')).code).toBe(0);
    expect(ran()).toEqual(['0']);
  });

  it('is compared on where a server that was killed left off', async () => {
    let server = await herd.server();
    const worker = herd.start(['worker']);
    await until('the worker is there', () => worker.stderr().includes('connected'));
    const same = { command: 'true same' };
    const first = await herd.client.submitWhole(spec, { tasks: [same, { command: 'true other' }, same], edges: [] });
    expect((await herd.run('wait', first.id)).code).toBe(0);
    const { id } = await herd.client.register({ ...spec, like: first.id });
    const part = await herd.client.extend(id, { tasks: [same], edges: [] });
    expect(part).toEqual({ firstIndex: 1, count: 1, comparison: { unchanged: 1, again: 0, fresh: 0 } });
    server.child.kill('SIGKILL');
    await server.ended;
    server = await herd.server();
    // Of the lines that are alike the second stands for the second, and there is no third.
    const rest = await herd.client.extend(id, { tasks: [same, same, { command: 'true other' }], edges: [] });
    expect(rest).toEqual({ firstIndex: 2, count: 3, comparison: { unchanged: 2, again: 0, fresh: 1 } });
    const views = (await herd.client.tasksOf(id)).tasks.map(({ skipped }) => skipped);
    expect(views).toEqual(['done as w1.1', 'done as w1.3', undefined, 'done as w1.2']);
  });

  it('of an unknown workflow is refused', async () => {
    list(line(1));
    expect((await herd.run('run', 'tasks')).code).toBe(0);
    expect(await herd.run('run', '--update', 'w9', 'tasks')).toMatchObject({ code: 2 });
  });
});

describe('--skip-if-exists', () => {
  it('skips what is there, by value, by number and by index; below the directory of the tasks', async () => {
    mkdirSync(herd.file('out'));
    herd.write('out/b c.png');
    const values = [':::', 'a', 'b c', 'd'];
    const render = ['run', "printf x > out/{}.png; echo '{}' >> ran", '--skip-if-exists', 'out/{}.png', ...values];
    const { code, stderr } = await herd.run(...render);
    expect([code, stderr]).toEqual([0, expect.stringContaining('1 task skipped')]);
    expect(ran()).toEqual(['a', 'd']);
    expect(existsSync(herd.file('out/a.png'))).toBe(true);
    expect((await herd.run(...render)).code).toBe(0);
    expect(ran()).toEqual([]);
    herd.write('out/2');
    list(line(1), '# no task', line(2), line(3));
    expect((await herd.run('run', '--cwd', 'out', '--skip-if-exists', '{#}', 'tasks')).code).toBe(0);
    expect(herd.lines('out/ran').sort()).toEqual(['1', '3']);
    expect((await herd.run('run', line('{}'), '--array', '1-3', '--skip-if-exists', 'out/{}')).code).toBe(0);
    expect(ran()).toEqual(['1', '3']);
  });

  it('refuses a placeholder without a value', async () => {
    list(line(1));
    const { code, stderr } = await herd.run('run', '--skip-if-exists', 'out/{}', 'tasks');
    expect([code, stderr]).toEqual([2, expect.stringContaining('{} has no value')]);
  });
});
