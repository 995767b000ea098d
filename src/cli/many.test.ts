/** Commands on all tasks that match, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
  const tasks = [{ command: 'a' }, { command: 'fail b' }, { command: 'c', held: true as const }];
  await bench.client.submitWhole(plainSpec, { tasks, edges: [] });
  const ended = async () => (await bench.client.tasks({ where: 'state=done,failed' })).tasks.length;
  await eventually(async () => expect(await ended()).toBe(2));
});

afterEach(() => controller.close());

async function said(...argv: string[]): Promise<[code: number, out: string, err: string]> {
  bench.renew();
  const code = await bench.drover(...argv);
  return [code, bench.env.stdout.text, bench.env.stderr.text];
}

describe('with a filter', () => {
  it.each([
    [['cancel', '--where', 'held=true'], '1 task was cancelled\n'],
    [['cancel', '--where', 'held=true', '--dry-run'], '1 task would be cancelled\n'],
    [['retry', '--where', 'state=failed'], '1 task was tried again\n'],
    [['release', '--where', 'workflow=w1'], '1 task was released; 2 need no change\n'],
    [['hold', '--where', 'workflow=w1'], '0 tasks were held; 1 needs no change; not possible for 1 done, 1 failed\n'],
    [['priority', '7', '--where', 'held=true'], '1 task was given that priority\n'],
    [['hold', '--where', 'exit=99'], 'no task matches\n'],
  ])('drover %j', async (argv, text) => {
    expect(await said(...argv)).toEqual([0, text, '']);
  });

  it('tells the numbers as JSON', async () => {
    await said('hold', '--where', 'workflow=w1', '--dry-run', '--json');
    expect(bench.lastJson()).toEqual({
      matched: 3,
      changed: 0,
      unchanged: 1,
      refused: { done: 1, failed: 1 },
      dryRun: true,
    });
  });

  it('refuses a field that is none, with the nearest', async () => {
    const [code, , err] = await said('cancel', '--where', 'stat=done');
    expect(code).toBe(2);
    expect(err).toContain('did you mean state');
  });
});

describe('with names', () => {
  it('holds, prioritises and releases tasks, and says how they are', async () => {
    expect(await said('hold', 'w1.3')).toEqual([0, 'w1.3 is waiting, held\n', '']);
    expect(await said('priority', '5', 'w1.3')).toEqual([0, 'w1.3 is waiting, held, priority 5\n', '']);
    expect(await said('priority', '--', '-5', 'w1.3')).toEqual([0, 'w1.3 is waiting, held, priority -5\n', '']);
    const [code, out] = await said('release', 'w1.3');
    expect([code, out]).toEqual([0, expect.stringMatching(/^w1\.3 is (queued|launched|running|done), priority -5\n$/)]);
  });

  it('goes on after one that is refused, and ends with its code', async () => {
    const [code, out, err] = await said('hold', 'w1.1', 'w1.3');
    expect([code, out]).toEqual([2, 'w1.3 is waiting, held\n']);
    expect(err).toContain('w1.1 is done');
  });
});

it.each([
  [['hold']],
  [['cancel']],
  [['retry']],
  [['hold', 'w1']],
  [['hold', 'w1.3', '--where', 'held=true']],
  [['hold', 'w1.3', '--dry-run']],
  [['cancel', '--where', '']],
  [['priority', '1.5', 'w1.3']],
  [['priority', '1001', 'w1.3']],
])('drover %j is refused as usage', async (argv) => {
  const [code, out, err] = await said(...argv);
  expect([code, out]).toEqual([2, '']);
  expect(err).not.toBe('');
});

it('drover retry without a task shows how failed ones are named', async () => {
  expect((await said('retry'))[2]).toContain("drover retry --where 'state=failed'");
  expect((await said('cancel'))[2]).toContain("drover cancel --where 'state=queued'");
});

describe('lists', () => {
  it.each([
    [['show', 'w1', '--where', 'exit=1', '--json'], 'w1.2'],
    [['show', 'w1', '--where', 'attempts=1', '--limit', '1', '--json'], 'w1.1'],
  ])('drover %j has the tasks that match', async (argv, id) => {
    expect((await said(...argv))[0]).toBe(0);
    expect(bench.lastJson().tasks.map((task: { id: string }) => task.id)).toEqual([id]);
  });

  it('of workflows and workers have those that match', async () => {
    expect((await said('ls', '--where', 'state=done'))[2]).toContain('no workflow');
    expect((await said('ls', '--where', 'failed=1'))[1]).toContain('w1');
    expect((await said('workers', '--where', 'host=nowhere'))[2]).toContain('no worker');
  });
});
