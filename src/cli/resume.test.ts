/** `drover resume`, at a real controller in this process. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterEach(() => controller.close());

it('repeats what failed in the newest workflow that is not done', async () => {
  await bench.drover('run', '{}', ':::', 'ok', 'fail');
  await bench.drover('run', '{}', ':::', 'ok');
  bench.renew();
  expect(await bench.drover('resume', '--json')).toBe(0);
  expect(bench.lastJson()).toMatchObject({ id: 'w1', state: 'done', done: 2, failed: 0, run: 2, attempts: 1 });
  expect(bench.opened.at(-1)).toEqual({ slots: 4, goesOn: true });
});

it('says how much of it ran', async () => {
  await bench.drover('run', '{}', ':::', 'ok', 'fail');
  bench.renew();
  await bench.drover('resume', 'w1');
  expect(bench.env.stderr.text).toMatch(
    /^w1: 1 of 2 tasks to run\nw1 done: 2 tasks, 1 of them in this run, in \d+ ms\n/,
  );
});

it('goes on with what Ctrl-C had stopped', async () => {
  const run = bench.drover('run', '{}', ':::', 'ok', 'hang');
  await eventually(async () => expect(await bench.client.task('w1.2')).toMatchObject({ state: 'running' }));
  bench.env.raise('SIGTERM');
  expect(await run).toBe(130);
  bench.renew();
  const resumed = bench.drover('resume');
  await eventually(async () =>
    expect(await bench.client.task('w1.2')).toMatchObject({ state: 'running', attempts: 2 }),
  );
  bench.env.raise('SIGTERM');
  expect(await resumed).toBe(130);
  expect(bench.env.stderr.text).toContain('w1 halted: 1 of 2 tasks done, 1 left');
});

it('has nothing to do for what is done', async () => {
  await bench.drover('run', 'ok', ':::', '1');
  expect(await bench.drover('resume', 'w1')).toBe(0);
  expect(controller.requests).not.toContain('POST /api/v1/workflows/w1/resume');
  expect(await bench.client.workflow('w1')).toMatchObject({ run: 1, attemptsEnded: 1 });
});

it('says when there is nothing to resume, and refuses a task', async () => {
  expect(await bench.drover('resume', '--json')).toBe(2);
  expect(bench.lastJson()).toMatchObject({ error: { code: 'nothing-to-resume' } });
  expect(await bench.drover('resume', 'w1.2')).toBe(2);
  expect(bench.env.stderr.text).toContain('drover: w1.2 is a task\n  name its workflow: w1\n');
});
