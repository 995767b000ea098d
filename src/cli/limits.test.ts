/** `drover limit`, `drover concurrency`, and what `drover show` tells of resources, at a real controller in this process. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeAll(async () => {
  controller = await startController();
});

afterAll(() => controller.close());

beforeEach(() => {
  bench = new CliBench(controller.access);
});

const held = { command: 'x', held: true as const };

describe('limit', () => {
  it('sets, shows, lists and lifts', async () => {
    const { stdout, stderr } = bench.env;
    expect(await bench.drover('limit')).toBe(0);
    expect(stderr.text).toContain('no limit is set');
    expect(await bench.drover('limit', 'licences', '2.5')).toBe(0);
    expect(stdout.lines).toEqual(['LIMIT     MAX  IN USE  WAITING', 'licences  2.5  0']);
    await bench.drover('limit', 'licences', '--json');
    expect(bench.lastJson()).toEqual({ name: 'licences', max: 2.5, used: 0, waiting: 0 });
    expect(await bench.drover('limit', 'licences', 'none')).toBe(0);
    expect(stdout.lines.at(-1)).toBe('licences  none  0');
    expect(await bench.drover('limit', 'licences', 'none')).toBe(2);
    expect(stderr.text).toContain("there is no limit 'licences'");
  });

  it.each(['-1', 'x', '1e3', ''])('refuses %j', async (max) => {
    expect(await bench.drover('limit', 'licences', '--', max)).toBe(2);
  });
});

describe('concurrency', () => {
  it('sets and shows what a workflow may run at a time', async () => {
    const { id } = await bench.client.submitWhole(plainSpec, { tasks: [held], edges: [] });
    const { stdout } = bench.env;
    await bench.drover('concurrency', id);
    expect(stdout.lines.at(-1)).toBe(`${id}: no limit`);
    expect(await bench.drover('concurrency', id, '5', '--template', 'a=b=2', '--tag', 'model=x=0')).toBe(0);
    expect(stdout.lines.slice(-3)).toEqual([`${id}: 5 at a time`, 'template a=b: 2 at a time', 'tag model=x: paused']);
    await bench.drover('concurrency', id, 'none', '--template', 'a=b=none', '--json');
    expect(bench.lastJson()).toEqual({ id, tags: { 'model=x': 0 }, grouped: 0 });
    await bench.client.cancel(id);
  });

  it.each([
    [['w1.1', '3'], 'is a task'],
    [['w1', 'x'], 'a whole number'],
    [['w1', '--tag', 'model=3'], 'NAME=VALUE=N'],
    [['w1', '--template', '=3'], 'NAME=N'],
  ])('refuses %j', async (words, why) => {
    expect(await bench.drover('concurrency', ...words)).toBe(2);
    expect(bench.env.stderr.text).toContain(why);
  });
});

it('run and submit say how often resources may be raised', async () => {
  await bench.drover('run', '--resource-retries', '2', 'x', ':::', '1');
  const [newest] = (await bench.client.workflows({ limit: 1 })).workflows;
  const { spec } = await controller.definitionOf(Number(newest?.id.slice(1)) as never);
  expect(spec?.maxResourceRetries).toBe(2);
});

it('show tells what a task asks for', async () => {
  const task = {
    ...held,
    resources: { cpus: 2, memoryBytes: 337_500_000, runtimeMs: 60_000, limits: { licences: 1 } },
  };
  const { id } = await bench.client.submitWhole(plainSpec, { tasks: [task], edges: [] });
  await bench.drover('show', `${id}.1`);
  expect(bench.env.stdout.lines).toContain('resources 2 cpus, 338 MB of memory, 1m 0s of time, 1 of licences');
  await bench.client.cancel(id);
});
