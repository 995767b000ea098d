/** Tasks that ask for too little, and what becomes of it: on the real program, with real memory. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastJson } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;

beforeEach(() => {
  herd = new Herd();
});

afterEach(() => herd.close());

/** 300 MB, touched, for as long as it takes to be looked at. */
const hog = `${process.execPath} -e 'const b = Buffer.alloc(250e6, 1); setTimeout(() => b.length, 300)'`;
const flow = `name: hog
templates:
  hog:
    command: ${JSON.stringify(hog)}
    resources: { memory: 100MB }
tasks:
  - template: hog
`;

describe('a task that needs 300 MB and asks for 100', () => {
  it('B31, B32, B33: is done after its memory has grown, and asks for enough the next time', {
    timeout: 120_000,
  }, async () => {
    await herd.server();
    await herd.worker('-j', '2');
    herd.write('flow.yaml', flow);
    const first = await herd.run('run', 'flow.yaml', '--json');
    expect([first.code, lastJson(first.stdout)]).toMatchObject([0, { id: 'w1', state: 'done', attempts: 4 }]);
    const { rows } = await herd.client.taskResources('w1.1');
    expect(rows.map(({ kind, resources: { memoryBytes } }) => [kind, memoryBytes])).toEqual([
      ['requested', 100e6],
      ['validated', 100e6],
      ['adjusted', 150e6],
      ['adjusted', 225e6],
      ['adjusted', 337.5e6],
    ]);
    expect(rows.map(({ active }) => active)).toEqual([false, false, false, false, true]);
    expect(rows.every(({ resources: { cpus = 1, runtimeMs } }) => cpus === 1 && runtimeMs === undefined)).toBe(true);
    expect(await herd.ok('resources', 'w1')).toMatch(/hog +1 +1 cpu, 100 MB .* 338 MB +3 /);
    await herd.ok('resources', 'w1', '--write-yaml', 'requests.yaml');
    expect(readFileSync(join(herd.path, 'requests.yaml'), 'utf8')).toMatch(/templates:\n {2}hog:\n {4}memory: 3\d\dMB/);

    const learnt = await herd.run('run', 'flow.yaml', '--fresh', '--learn', '--json');
    expect([learnt.code, lastJson(learnt.stdout)]).toMatchObject([0, { id: 'w2', attempts: 1 }]);
    expect(learnt.stderr).toContain('tasks ask for what those of w1 have used');
    const told = await herd.run('run', 'flow.yaml', '--fresh', '--resources', 'requests.yaml', '--json');
    expect(lastJson(told.stdout)).toMatchObject({ id: 'w3', attempts: 1 });
  });

  it('learns as a line of a list, too, by the name of the workflow', { timeout: 60_000 }, async () => {
    herd.write('hogs.txt', `${hog}\n`);
    const asks = ['run', 'hogs.txt', '--memory', '300MB', '--json', '--name', 'hogs'];
    expect(lastJson((await herd.run(...asks)).stdout)).toMatchObject({ id: 'w1', done: 1 });
    const learnt = await herd.run(...asks, '--learn');
    expect([lastJson(learnt.stdout), learnt.stderr]).toMatchObject([
      { id: 'w2', done: 1 },
      expect.stringContaining('tasks ask for what those of w1 have used'),
    ]);
    const nameless = await herd.run('run', 'hogs.txt', '--learn');
    expect([nameless.code, nameless.stderr]).toMatchObject([
      2,
      expect.stringContaining('give all of them the same --name'),
    ]);
  });

  it('is told what is wrong with a file of requests', async () => {
    herd.write('flow.yaml', flow);
    herd.write('bad.yaml', 'templates: { hog: { memory: 12 parsecs } }\n');
    const { code, stderr } = await herd.run('run', 'flow.yaml', '--resources', 'bad.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain("bad.yaml:1:29: templates.hog.memory: '12 parsecs' is no size");
    expect((await herd.run('run', 'flow.yaml', '--resources', 'none.yaml')).stderr).toContain(
      'no such file: none.yaml',
    );
  });
});

describe('tasks of 1.5, 3 and 0.5 processors on a worker of 4', () => {
  it('never take more than 4, and the large ones start before the small ones end', { timeout: 120_000 }, async () => {
    await herd.server();
    await herd.worker('-j', '4');
    // Each tells of itself while it runs: what two clocks say of when tasks start and end is not exact enough.
    const entry = (name: string, cpus: number, count: number): string =>
      `  - { name: ${name}, command: 'echo "${name} ${cpus}" >> moments; sleep 0.2; echo "${name} -${cpus}" >> moments; : {i}', args: { i: { from: 1, to: ${count} } }, resources: { cpus: ${cpus} } }\n`;
    herd.write(
      'flow.yaml',
      `name: mix\ntasks:\n${entry('small', 0.5, 40)}${entry('middle', 1.5, 8)}${entry('large', 3, 4)}`,
    );
    const { code, stdout } = await herd.run('run', 'flow.yaml', '--json');
    expect([code, lastJson(stdout)]).toMatchObject([0, { done: 52 }]);
    const lines = readFileSync(join(herd.path, 'moments'), 'utf8').trimEnd().split('\n');
    const moments = lines.map((line) => {
      const [name = '', cpus] = line.split(' ');
      return { name, cpus: Number(cpus), isStart: Number(cpus) > 0 };
    });
    expect(moments).toHaveLength(2 * 52);
    let taken = 0;
    let most = 0;
    for (const { cpus } of moments) {
      taken += cpus;
      most = Math.max(most, taken);
    }
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(3);
    const lastLarge = moments.findLastIndex(({ name, isStart }) => isStart && name === 'large');
    const lastSmall = moments.findLastIndex(({ name, isStart }) => !isStart && name === 'small');
    expect(lastLarge).toBeLessThan(lastSmall);
  });
});
