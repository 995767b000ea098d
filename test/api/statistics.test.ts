/** Statistics and groups of failures, of a real controller in this process: live, by filters, and after a restart. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, ways } from '../../bench/failing.ts';
import type { TaskSpec } from '../../src/protocol/spec.ts';
import type { StatisticsView } from '../../src/protocol/views/statistics.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, newRemains, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

const remains = newRemains();
let controller: InProcessController;
let client: Client;

/** As many of each way, with words that differ: a scaled-down row l of the benchmarks. */
const each = 10;
const failing = ways.length * each;
const count = 10 * failing;

function commandOf(at: number): string {
  if (at % 10 !== 0) return `x ${at}`;
  const { how, stderr } = failureOf(at / 10);
  return `exit ${'exit' in how ? how.exit : 128 + how.signal} ${stderr}`;
}

const taskOf = (at: number): TaskSpec => ({
  command: commandOf(at),
  template: at % 2 === 0 ? 'even' : 'odd',
  tags: { third: String(at % 3), own: String(at) },
  ...(at % 4 === 0 ? { resources: { runtimeMs: 3_600_000 } } : {}),
});

beforeAll(async () => {
  controller = await startController({ remains });
  client = new Client(controller.access);
  const tasks = Array.from({ length: count }, (_, offset) => taskOf(offset + 1));
  await client.submitWhole(plainSpec, { tasks, edges: [] });
  await client.submitWhole(plainSpec, {
    tasks: [{ command: 'a' }, { command: 'b' }, { command: 'c', held: true }],
    edges: [{ parents: [1, 1], children: [2, 2], after: 'success' }],
  });
  await eventually(async () => expect((await client.workflow('w1')).endedAt).toBeDefined());
  await eventually(async () => expect((await client.workflow('w2')).counts.done).toBe(2));
});

afterAll(() => controller.close());

const names = ({ groups = [] }: StatisticsView): string[] => groups.map(({ name }) => name).sort();
const summed = ({ groups = [] }: StatisticsView): number =>
  groups.reduce((sum, { outcomes }) => sum + (outcomes.succeeded ?? 0) + (outcomes.exited ?? 0), 0);

describe('statistics of a workflow', () => {
  it('count tasks by state and attempts by outcome, and tell how long each waited and ran', async () => {
    const view = await client.statisticsOf('w1');
    expect(view).toMatchObject({
      workflow: 'w1',
      isPartial: false,
      states: { done: count - failing, failed: failing },
    });
    expect(view.outcomes).toEqual({ succeeded: count - failing, exited: failing });
    for (const values of [view.waitingMs, view.runningMs, view.totalMs]) expect(values?.count).toBe(count);
    expect(view.runtime?.attempts).toBe(count / 4);
    expect(view.recommended.runtimeMs).toBeGreaterThan(0);
    expect(view.eta).toBeUndefined();
  });

  it.each([
    ['template', ['even', 'odd']],
    ['tag:third', ['0', '1', '2']],
    ['worker', ['k1']],
  ])('by %s have a group for each, and all of them together are the whole', async (by, expected) => {
    const view = await client.statisticsOf('w1', { by });
    expect(names(view)).toEqual(expected);
    expect(summed(view)).toBe(count);
  });

  it('by host have the host of the worker', async () => {
    const [worker] = (await client.workers()).workers;
    expect(names(await client.statisticsOf('w1', { by: 'host' }))).toEqual([worker?.host]);
  });

  it('count tasks by state for each template, also those that have not run', async () => {
    const { groups = [] } = await client.statisticsOf('w1', { by: 'template' });
    const even = groups.find(({ name }) => name === 'even');
    expect(even?.states).toEqual({ done: count / 2 - failing, failed: failing });
    const { groups: waiting = [] } = await client.statisticsOf('w2', { by: 'tag:none' });
    expect(waiting.map(({ states }) => states)).toEqual([{ waiting: 1, done: 2 }]);
    expect(waiting.map(({ outcomes }) => outcomes)).toEqual([{ succeeded: 2 }]);
  });

  it('leave to `other` what a tag has too many values for, and other tags alone', async () => {
    const view = await client.statisticsOf('w1', { by: 'tag:own' });
    expect(names(view).length).toBe(65);
    expect(summed(view)).toBe(count);
  });

  it('have rates, whose intervals add up to what ended', async () => {
    const { rates } = await client.statisticsOf('w1', { interval: 'hour' });
    expect(rates?.done.reduce((sum, n) => sum + n)).toBe(count - failing);
    expect(rates?.failed.reduce((sum, n) => sum + n)).toBe(failing);
  });
});

describe('statistics of a scope', () => {
  it('without a filter are those of all workflows', async () => {
    const view = await client.statistics();
    expect(view.states).toEqual({ waiting: 1, done: count - failing + 2, failed: failing });
    expect(view.outcomes).toEqual({ succeeded: count - failing + 2, exited: failing });
  });

  it('with a filter are of the tasks that match, and say how many were looked at', async () => {
    const view = await client.statistics({ where: 'state=failed&workflow=w1', by: 'template' });
    expect(view.sample).toEqual({ candidates: failing, looked: failing, matched: failing });
    expect(view.states).toEqual({ failed: failing });
    expect(view.outcomes).toEqual({ exited: failing });
    expect(names(view)).toEqual(['even']);
    const byRow = await client.statisticsOf('w1', { where: 'command~x 11' });
    expect(byRow.sample).toMatchObject({ candidates: count, looked: count, matched: byRow.states.done });
  });

  it('with a filter have rates', async () => {
    const { rates } = await client.statistics({ where: 'state=done,failed', interval: 'hour' });
    expect(rates?.done.reduce((sum, n) => sum + n)).toBe(count - failing + 2);
    expect(rates?.failed.reduce((sum, n) => sum + n)).toBe(failing);
  });

  it('by all tags have a group for each, of which a task may be in several', async () => {
    const { groups = [] } = await client.statistics({ by: 'tag' });
    const thirds = groups.filter(({ name }) => name.startsWith('third='));
    expect(thirds.map(({ name }) => name).sort()).toEqual(['third=0', 'third=1', 'third=2']);
    expect(summed({ groups: thirds } as unknown as StatisticsView)).toBe(count);
    expect(groups.find(({ name }) => name === '')).toMatchObject({
      ...{ states: { waiting: 1, done: 2 }, outcomes: { succeeded: 2 }, runningMs: { count: 2 } },
    });
    const sampled = await client.statistics({ by: 'tag', where: 'index=1,2&workflow=w1' });
    expect(names(sampled)).toEqual(['own=1', 'own=2', 'third=1', 'third=2']);
  });

  it('of a few workflows add up', async () => {
    const { outcomes, sample } = await client.statistics({ where: 'workflow=w1,w2' });
    expect(sample).toBeUndefined();
    expect(outcomes.succeeded).toBe(count - failing + 2);
  });

  it.each([{ by: 'colour' }, { where: 'colour=red' }, { interval: 'day' as never }])(
    '%j is refused',
    async (options) => {
      await expect(client.statistics(options)).rejects.toMatchObject({ code: expect.stringMatching(/^bad-/) });
    },
  );
});

describe('when the rest will have ended', () => {
  let own: InProcessController;
  let asking: Client;
  const etas = async (where: string) => [
    (await asking.statisticsOf('w1')).eta,
    (await asking.statistics()).eta,
    (await asking.statistics({ where })).eta,
  ];

  beforeAll(async () => {
    own = await startController();
    asking = new Client(own.access);
    const tasks = [{ command: 'a' }, { command: 'hang' }, { command: 'b', held: true as const }];
    await asking.submitWhole(plainSpec, { tasks, edges: [] });
    await eventually(async () => expect((await asking.workflow('w1')).counts).toMatchObject({ done: 1, running: 1 }));
  });

  afterAll(() => own.close());

  it('is told while something runs, also of a filter', async () => {
    for (const eta of await etas('index=1,2,3')) {
      expect(eta).toMatchObject({ remaining: 2 });
      expect(eta?.remainingMs).toBeGreaterThan(0);
    }
    // Of what matches one has ended, and the one that is held has not.
    expect((await asking.statistics({ where: 'command=a,b' })).eta).toMatchObject({ remaining: 1 });
    expect((await asking.statistics({ where: 'state=done' })).eta).toBeUndefined();
  });

  it('is told no more when what is left only waits', async () => {
    await asking.cancelTask('w1.2');
    await eventually(async () => expect((await asking.workflow('w1')).counts.cancelled).toBe(1));
    expect(await etas('index=1,2,3')).toEqual([undefined, undefined, undefined]);
  });
});

describe('failures', () => {
  it('are grouped by cause and by what was written, and each group is found by its filter', async () => {
    const { groups, more } = await client.failures('w1');
    expect(more).toBeUndefined();
    expect(groups.map((group) => group.count)).toEqual(ways.map(() => each));
    for (const { where } of groups) {
      const { tasks } = await client.tasks({ where, limit: 1_000 });
      expect(tasks.length).toBe(each);
      const way = new Set(tasks.map(({ index }) => (index / 10) % ways.length));
      expect(way.size).toBe(1);
    }
  });

  it('have examples, their last lines, hosts, and the command that tries them again', async () => {
    const { groups } = await client.failures('w1');
    const disk = groups.find(({ pattern }) => pattern?.startsWith('disk quota'));
    expect(disk).toMatchObject({ cause: 'exit:2', title: 'exit 2', pattern: 'disk quota exceeded after # GB' });
    expect(disk?.lastLines).toMatch(/^disk quota exceeded after [\d.]+ GB$/);
    expect(disk?.hosts).toEqual([{ host: expect.any(String), count: each }]);
    expect(disk?.rerun).toBe(`drover retry w1 --cause exit:2 --fingerprint ${disk?.fingerprint}`);
    // Where a cause has one group only it needs no more to be named.
    expect(groups.find(({ cause }) => cause === 'exit:127')?.rerun).toBe('drover retry w1 --cause exit:127');
    const silent = groups.find(({ cause, fingerprint }) => cause === 'exit:137' && fingerprint === undefined);
    expect(silent?.rerun).toBe('drover retry w1 --cause exit:137 --fingerprint none');
  });

  it('told apart by host name the host', async () => {
    const { groups } = await client.failures('w1', { by: 'host' });
    expect(groups.length).toBe(ways.length);
    for (const { where, rerun } of groups) expect([where, rerun].join()).toMatch(/&host=.*,.* --host /);
  });

  it('of a workflow without any are none, and of none are refused', async () => {
    expect(await client.failures('w2')).toEqual({ groups: [] });
    await expect(client.failures('w99')).rejects.toMatchObject({ code: 'workflow-unknown' });
  });

  it('are a field of attempts, too', async () => {
    const { attempts } = await client.attempts({ where: 'cause=exit:127', limit: 1_000 });
    expect(attempts.length).toBe(each);
    await expect(client.tasks({ where: 'cause=bored' })).rejects.toMatchObject({ code: 'bad-filter' });
  });
});

describe('after a restart', () => {
  const restart = async (): Promise<void> => {
    // Its worker has to be known to be dead, or the next one would be refused.
    for (const { id } of (await client.workers()).workers) await client.stopWorker(id, true);
    await eventually(async () => expect((await client.workers()).workers).toEqual([]));
    await controller.close();
    controller = await startController({ remains });
    client = new Client(controller.access);
  };
  const known = async () => ({
    groups: (await client.failures('w1')).groups,
    byTag: await client.statisticsOf('w1', { by: 'tag:third', waitMs: 30_000, interval: 'hour' }),
    all: await client.statistics({ by: 'host', waitMs: 30_000, interval: 'hour' }),
  });
  const withoutTimes = ({ eta: _, rates, waitingMs: __, totalMs: ___, groups, ...view }: StatisticsView) => ({
    ...view,
    done: rates?.done.reduce((sum, n) => sum + n),
    groups: groups?.map(({ waitingMs: ____, totalMs: _____, ...group }) => group),
  });

  it('all is as it was, once it was read; before that the answer says that it is partial', async () => {
    const before = await known();
    await restart();
    expect((await client.statisticsOf('w1')).isPartial).toBe(true);
    const after = await known();
    expect(after.groups).toEqual(before.groups);
    expect(withoutTimes(after.byTag)).toEqual(withoutTimes(before.byTag));
    expect(withoutTimes(after.all)).toEqual(withoutTimes(before.all));
    // Of a task that waited for nothing but its workflow it is known when it was queued.
    expect(after.byTag.waitingMs?.count).toBe(count);
  });

  it('what ends while that is being read is counted once', async () => {
    const { outcomes } = await client.statistics({ waitMs: 30_000 });
    const where = (await client.failures('w1')).groups[0]?.where ?? '';
    await restart();
    const reading = client.statistics({ waitMs: 30_000 });
    expect((await client.steerTasks('retry', { where })).changed).toBe(each);
    await eventually(async () => expect((await client.workflow('w1')).endedAt).toBeDefined());
    await reading;
    const after = await client.statistics({ waitMs: 30_000 });
    expect(after).toMatchObject({ isPartial: false, outcomes: { ...outcomes, exited: failing + each } });
    expect((await client.failures('w1')).groups.map((one) => one.count)).toEqual(ways.map(() => each));
    expect((await client.statisticsOf('w1')).states).toEqual({ done: count - failing, failed: failing });
  });

  it('a filter by cause waits until failures are known, and misses none', async () => {
    await restart();
    const { count: found } = await client.tasks({ where: 'cause=exit:127', count: true });
    expect(found).toEqual({ matched: each, isExact: true });
  });

  it('tags of tasks that had not run are known when they do', async () => {
    const own = newRemains();
    const before = await startController({ remains: own, hasWorker: false });
    const tasks = ['x', 'y', 'y'].map((model) => ({ command: model, tags: { model } }));
    await new Client(before.access).submitWhole(plainSpec, { tasks, edges: [] });
    await before.close();
    const after = await startController({ remains: own });
    const later = new Client(after.access);
    await eventually(async () => expect((await later.workflow('w1')).counts.done).toBe(3));
    const { groups = [], isPartial } = await later.statisticsOf('w1', { by: 'tag:model', waitMs: 30_000 });
    expect(isPartial).toBe(false);
    expect(groups.map(({ name, outcomes }) => [name, outcomes.succeeded])).toEqual([
      ['y', 2],
      ['x', 1],
    ]);
    await after.close();
  });
});
