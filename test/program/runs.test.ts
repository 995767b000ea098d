/** Runs of one workflow, one after the other: halted, taken over, reset; with real processes. */
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastJson, until } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;

beforeEach(() => {
  herd = new Herd();
});

afterEach(() => herd.close());

const count = 200;
const quick = 60;
const numbers = Array.from({ length: count }, (_, at) => String(at + 1));
/** The first ones end by themselves, the others when they are let go. */
const task = `echo {} $$ >> begun; [ {} -le ${quick} ] || until [ -e go ]; do sleep 0.05; done; echo {} >> ended`;

describe('a workflow of 200 tasks', () => {
  it('is halted in the middle, outlives its server and is resumed hot: nothing is done twice', {
    timeout: 60_000,
  }, async () => {
    const server = await herd.server();
    await herd.worker('-j', '4');
    await herd.ok('submit', task, ':::', ...numbers);
    await until('the quick ones are done, and four others run', () => herd.lines('begun').length === quick + 4);
    await until('the quick ones are done', () => herd.lines('ended').length === quick);
    const begunAs = (): (readonly [index: string, pid: string])[] =>
      herd.lines('begun').map((line) => line.split(' ') as [string, string]);
    const running = begunAs().filter(([index]) => Number(index) > quick);
    expect(running).toHaveLength(4);
    expect(await herd.ok('halt', 'w1', '--no-wait')).toBe(
      'w1 is halting, with 4 running tasks: 60 of 200 tasks done\n',
    );
    await herd.ok('server', 'stop');
    await server.ended;
    await herd.server();
    const resumed = herd.start(['resume', 'w1', '--hot', '--json']);
    await herd.untilSome('the second run goes on', async () => {
      const { run, state } = await herd.client.workflow('w1');
      return run === 2 && state === 'running';
    });
    for (const [, pid] of running) expect(existsSync(`/proc/${pid}`)).toBe(true);
    expect(herd.lines('begun')).toHaveLength(quick + 4);
    herd.write('go');
    const { code, stdout } = await resumed.ended;
    expect([code, lastJson(stdout)]).toMatchObject([0, { id: 'w1', run: 2, state: 'done', done: count }]);
    expect(begunAs()).toEqual(expect.arrayContaining(running));
    expect(
      begunAs()
        .map(([index]) => index)
        .toSorted(),
    ).toEqual(numbers.toSorted());
    expect(herd.lines('ended').toSorted()).toEqual(numbers.toSorted());
    const ran = await Array.fromAsync(herd.client.eachAttempt({ where: 'workflow=w1&outcome!=never-started' }));
    expect(ran).toHaveLength(count);
    expect(ran.every(({ outcome }) => outcome?.kind === 'succeeded')).toBe(true);
  });

  it('is resumed by one of several who try at the same time, and the others are told why not', {
    timeout: 60_000,
  }, async () => {
    await herd.server();
    await herd.worker('-j', '2');
    await herd.ok('submit', 'until [ -e go ]; do sleep 0.05; done; echo {} >> ended', ':::', ...numbers.slice(0, 20));
    await herd.untilTask('w1.1', 'running');
    expect(await herd.ok('halt', 'w1', '--kill')).toBe(
      "w1 is halted: 0 of 20 tasks done; 'drover resume w1' goes on with it\n",
    );
    const several = Array.from({ length: 5 }, () => herd.start(['resume', 'w1', '--json']));
    const isRefused = ({ child }: (typeof several)[number]): boolean => child.exitCode === 2;
    await until('all but one are told', () => several.filter(isRefused).length === 4);
    herd.write('go');
    const ends = await Promise.all(several.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code).toSorted()).toEqual([0, 2, 2, 2, 2]);
    for (const { code, stdout, stderr } of ends) {
      if (code === 0) continue;
      expect(lastJson(stdout)).toMatchObject({ error: { code: 'run-is-live' } });
      expect(stderr).toMatch(
        /^drover: w1 is \w+: can't resume it, it has a live run\n {2}follow it with 'drover wait'/,
      );
    }
    expect(await herd.client.workflow('w1')).toMatchObject({ state: 'done', run: 2 });
    expect(herd.lines('ended')).toHaveLength(20);
  });

  it('is resumed cold when what was left has ended, or was killed', { timeout: 60_000 }, async () => {
    await herd.server();
    await herd.worker('-j', '2');
    await herd.ok('submit', 'echo {} >> begun; until [ -e go.{} ]; do sleep 0.05; done', ':::', 'a', 'b', 'c');
    await until('two run', () => herd.lines('begun').length === 2);
    await herd.ok('halt', 'w1', '--no-wait');
    await herd.ok('halt', 'w1', '--no-wait');
    const waiting = herd.start(['resume', 'w1', '--cold']);
    await until('it waits', () => waiting.stderr().includes('waiting for 2 running tasks of the last run to end'));
    herd.write('go.a');
    await herd.untilTask('w1.1', 'done');
    expect(await herd.client.workflow('w1')).toMatchObject({ state: 'halting', run: 1 });
    for (const name of ['go.b', 'go.c']) herd.write(name);
    expect((await waiting.ended).code).toBe(0);
    expect(await herd.client.workflow('w1')).toMatchObject({ state: 'done', run: 2 });
    expect(herd.lines('begun')).toEqual(expect.arrayContaining(['a', 'b', 'c']));
    expect(herd.lines('begun')).toHaveLength(3);

    await herd.ok('submit', 'echo {} >> held; until [ -e go.on ]; do sleep 0.05; done', ':::', 'd');
    await until('it runs', () => herd.lines('held').length === 1);
    await herd.ok('halt', 'w2', '--no-wait');
    const killing = herd.start(['resume', 'w2', '--cold', '--kill']);
    await until('it runs again', () => herd.lines('held').length === 2);
    herd.write('go.on');
    expect((await killing.ended).code).toBe(0);
  });

  it('begins anew by a reset, done tasks only with --all, and not while it runs', { timeout: 60_000 }, async () => {
    await herd.server();
    await herd.worker('-j', '2');
    await herd.ok('submit', 'echo {} >> ran; test -e {}', ':::', 'ran', 'missing');
    expect((await herd.run('wait', 'w1')).code).toBe(1);
    expect(await herd.ok('reset', 'w1')).toBe("w1: 1 task will begin anew; 'drover resume w1' runs it\n");
    herd.write('missing');
    await herd.ok('resume', 'w1');
    expect(herd.lines('ran').toSorted()).toEqual(['missing', 'missing', 'ran']);
    expect(await herd.ok('reset', 'w1')).toContain('all of it is done');
    expect(lastJson(await herd.ok('reset', 'w1', '--all', '--json'))).toMatchObject({ state: 'halted', reset: 2 });
    await herd.ok('resume', 'w1');
    expect(herd.lines('ran')).toHaveLength(5);
    await herd.ok('submit', 'until [ -e go ]; do sleep 0.05; done; true {}', ':::', 'x');
    await herd.untilTask('w2.1', 'running');
    const { code, stderr } = await herd.run('reset', 'w2', '--all');
    expect([code, stderr]).toEqual([2, expect.stringContaining("w2 is running: can't reset it, it has a live run")]);
    herd.write('go');
  });
});
