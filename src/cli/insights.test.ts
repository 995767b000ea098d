/** `drover stats`, `drover failures`, `drover why`, and what is done to tasks that failed alike, at a real controller in this process. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeAll(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
  await bench.client.submitWhole(plainSpec, { tasks: [{ command: 'a' }], edges: [] });
  const tasks = [
    ...['exit 3 no /a/1', 'exit 3 no /a/2', 'exit 3 other', 'exit 137', 'b'].map((command) => ({ command })),
    { command: 'c', held: true as const, template: 'last' },
  ];
  await bench.client.submitWhole(plainSpec, { tasks, edges: [] });
  const tagged = [{ model: 'x', part: '1' }, { model: 'y' }].map((tags) => ({
    command: 'd',
    held: true as const,
    tags,
  }));
  await bench.client.submitWhole(plainSpec, { tasks: tagged, edges: [] });
  await eventually(async () => expect((await bench.client.tasks({ where: 'state=failed' })).tasks.length).toBe(4));
});

afterAll(() => controller.close());

async function said(...argv: string[]): Promise<[code: number, out: string, err: string]> {
  bench.renew();
  const code = await bench.drover(...argv);
  return [code, bench.env.stdout.text, bench.env.stderr.text];
}

describe('drover stats', () => {
  it('sums up a workflow in plain characters where there is no terminal', async () => {
    const [code, out] = await said('stats', 'w2', '--by', 'template');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^w2: 6 tasks \(1 waiting, 1 done, 4 failed\)\nattempts +1 succeeded, 4 exited with an error\n/,
    );
    expect(out).toMatch(/^rate +[_.:=+*# -]*#/m);
    expect(out).toMatch(/^running( +[\d.]+ m?s){5}$/m);
    expect(out).toMatch(/^TEMPLATE +ENDED +FAILED +LEFT/m);
    expect(out).toMatch(/^- +5 +4 /m);
    expect(out).toMatch(/^last +0 +1$/m);
    expect(out).not.toMatch(/[▁▂▃▄▅▆▇█]/);
  });

  it('draws blocks on a terminal that has them', async () => {
    bench.renew();
    Object.assign(bench.env.stdout, { isTerminal: true, columns: 60 });
    bench.env.variables = { LANG: 'C.UTF-8' };
    await bench.drover('stats', '--interval', 'hour');
    expect(bench.env.stdout.text).toMatch(/^rate +█/m);
  });

  it('takes a filter, and gives JSON', async () => {
    await said('stats', '--where', 'cause=exit:3', '--json');
    expect(bench.lastJson()).toMatchObject({ where: 'cause=exit:3', states: { failed: 3 }, sample: { matched: 3 } });
  });

  it('groups by all tags, or by one', async () => {
    const [, all] = await said('stats', 'w3', '--by', 'tag');
    expect(all).toMatch(/^TAG +ENDED/m);
    for (const tag of ['model=x', 'model=y', 'part=1']) expect(all).toMatch(new RegExp(`^${tag} +0 +1$`, 'm'));
    const [, one] = await said('stats', 'w3', '--by', 'tag:model');
    expect(one).toMatch(/^TAG:MODEL +ENDED/m);
    expect(one).toMatch(/^x +0 +1$/m);
  });

  it('refuses groups that there are not, with those that there are', async () => {
    const [code, , err] = await said('stats', '--by', 'colour');
    expect([code, err]).toEqual([2, expect.stringContaining('template, worker, host, tag or tag:NAME')]);
  });

  it('has a page of help with examples', async () => {
    expect((await said('stats', '--help'))[1]).toContain('drover stats w3 --by template');
    expect((await said('failures', '--help'))[1]).toContain('drover failures w3 --by host');
  });
});

describe('drover failures', () => {
  it('tells of the newest workflow that has some, the largest group first', async () => {
    const [code, out] = await said('failures');
    expect(code).toBe(0);
    const [host] = (await bench.client.workers()).workers.map((worker) => worker.host);
    const [first, second, third] = out.split('\n\n');
    expect(first).toMatch(/^2 tasks: exit 3 {2}\[[0-9a-f]{4}\]\n/);
    expect(first).toContain(`  on      ${host} (2)\n  such as w2.1  exit 3 no /a/1\n          | no /a/1\n`);
    expect(first).toMatch(/\n {2}rerun {3}drover retry w2 --cause exit:3 --fingerprint [0-9a-f]{4}$/);
    expect([second, third].join()).toContain('1 task: exit 137\n');
  });

  it('names the folder in the commands that it prints, where that was named', async () => {
    const [, out] = await said('failures', 'w2', '--dir', "it's here");
    const { cwd } = bench.env;
    expect(out).toContain(`drover retry w2 --cause exit:137 --dir '${cwd}/it'\\''s here'\n`);
    bench.renew();
    bench.env.variables.DROVER_DIR = 'elsewhere';
    await bench.drover('failures', 'w2');
    expect(bench.env.stdout.text).toContain('drover retry w2 --cause exit:137\n');
  });

  it('cuts everything but commands to the width of a terminal', async () => {
    bench.renew();
    Object.assign(bench.env.stdout, { isTerminal: true, columns: 20 });
    await bench.drover('failures', 'w2');
    const { lines } = bench.env.stdout;
    expect(lines).toContain('  rerun   drover retry w2 --cause exit:137');
    expect(lines.filter((line) => !line.startsWith('  rerun')).every((line) => line.length <= 20)).toBe(true);
  });

  it('says so where nothing failed', async () => {
    expect(await said('failures', 'w1')).toEqual([0, '', 'drover: nothing failed in w1\n']);
    await said('failures', 'w1', '--json');
    expect(bench.lastJson()).toEqual({ workflow: 'w1', groups: [] });
  });
});

describe('tasks that failed alike', () => {
  it('are tried again, and no others, by the very command that their group names', async () => {
    await said('failures', 'w2', '--by', 'host', '--json');
    const { groups } = bench.lastJson() as { groups: { count: number; rerun: string }[] };
    for (const { count, rerun } of groups) {
      const [, ...words] = rerun.split(' ');
      const text = `${count} ${count === 1 ? 'task' : 'tasks'} would be tried again\n`;
      expect(await said(...words, '--dry-run')).toEqual([0, text, '']);
    }
    expect(await said('retry', 'w2', '--cause', 'exit:137')).toEqual([0, '1 task was tried again\n', '']);
    await eventually(async () => expect((await bench.client.task('w2.4')).attempts).toBe(2));
    expect((await bench.client.task('w2.1')).attempts).toBe(1);
  });

  it('are cancelled alike, unless they have ended', async () => {
    expect(await said('cancel', 'w2', '--cause', 'exit:3')).toEqual([0, 'no task matches\n', '']);
  });

  it('may be of several causes, and a cause is nothing but a cause', async () => {
    const dry = (cause: string) => said('retry', 'w2', '--dry-run', '--cause', cause);
    expect(await dry('exit:3,signal:9')).toEqual([0, expect.stringMatching(/^\d tasks? would be tried again\n$/), '']);
    expect(await dry('exit:3&index=1')).toEqual([2, '', expect.stringContaining("'exit:3&index=1'")]);
  });

  it.each([
    [['retry', '--cause', 'exit:3'], 'name it'],
    [['retry', 'w2.1', '--cause', 'exit:3'], 'w2.1 is a task'],
    [['retry', 'w2', '--cause', 'boredom'], "'boredom' is not a cause of failures"],
    [['retry', 'w2', '--fingerprint', 'xyz'], "'xyz' is not a fingerprint"],
    [['cancel', 'w2', '--host', ''], 'It is empty'],
  ])('drover %j is refused', async (argv, text) => {
    const [code, , err] = await said(...argv);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
  });
});

describe('drover why', () => {
  it('tells what a task waits for, and how one ended', async () => {
    expect(await said('why', 'w2.6')).toEqual([0, 'w2.6 is waiting:\n  it is held\n    drover release w2.6\n', '']);
    expect(await said('why', 'w1.1')).toEqual([0, 'w1.1 is done:\n  it has ended well\n', '']);
    const failed = 'w2.1 is failed:\n  it failed: exit 3\n    drover logs w2.1 --stderr\n    drover retry w2.1\n';
    expect(await said('why', 'w2.1')).toEqual([0, failed, '']);
    await said('why', 'w2.6', '--json');
    expect(bench.lastJson()).toEqual({
      ...{ task: 'w2.6', state: 'waiting' },
      reasons: [{ kind: 'held', text: 'it is held', advice: ['drover release w2.6'] }],
    });
  });

  it('tells what the tasks of a workflow wait for', async () => {
    const text =
      'w2 is running: 1 task not ended\n\n1 task: held\n  such as w2.6:\n    it is held\n      drover release w2.6\n';
    expect(await said('why', 'w2')).toEqual([0, text, '']);
    await said('why', 'w1', '--json');
    expect(bench.lastJson()).toMatchObject({ workflow: 'w1', state: 'done', unended: 0, groups: [] });
  });

  it('names the folder in the commands that it prints, where that was named', async () => {
    const command = `drover release w2.6 --dir '${bench.env.cwd}/my herd'`;
    expect((await said('why', 'w2.6', '--dir', 'my herd'))[1]).toContain(`\n    ${command}\n`);
    expect((await said('why', 'w2', '--dir', 'my herd'))[1]).toContain(`\n      ${command}\n`);
    await said('why', 'w2.6', '--dir', 'my herd', '--json');
    expect(bench.lastJson()).toMatchObject({ reasons: [{ advice: [command] }] });
  });

  it.each([
    ['w9', 'there is no workflow w9'],
    ['w2.99', 'there is no task w2.99'],
    ['w2.1#1', 'name its task: w2.1'],
    ['k1', 'names no workflow or task'],
  ])('of %s is refused', async (id, text) => {
    const [code, , err] = await said('why', id);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
  });

  it('has a page of help with examples', async () => {
    expect((await said('why', '--help'))[1]).toContain('drover why w3.7 --json');
  });
});
