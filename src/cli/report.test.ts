/** `drover report`, at a real controller in this process. */
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { Report } from '../protocol/report.ts';
import type { EdgeSpec, TaskSpec } from '../protocol/spec.ts';
import { WorkerClient } from '../sdk/worker-client.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeAll(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterAll(async () => {
  for await (const { id } of bench.client.eachWorkflow({ where: 'state=running' })) await bench.client.cancel(id);
  await eventually(async () =>
    expect((await bench.client.workflows({ where: 'state=running' })).workflows).toEqual([]),
  );
  await controller.close();
});

async function said(...argv: string[]): Promise<[code: number, out: string, err: string]> {
  bench.renew();
  const code = await bench.drover(...argv);
  return [code, bench.env.stdout.text, bench.env.stderr.text];
}

/** What is told of a workflow, by the schema that is the contract. */
async function told(id: string): Promise<Report> {
  const [code, out] = await said('report', id, '--json');
  expect(code).toBe(0);
  const report: unknown = JSON.parse(out);
  expect([...Value.Errors(Report, report)]).toEqual([]);
  return report as Report;
}

const submitted = async (tasks: TaskSpec[], spec = {}): Promise<string> =>
  (await bench.client.submitWhole({ ...plainSpec, ...spec }, { tasks, edges: [] })).id;
const state = (id: string, wanted: string) =>
  eventually(async () => expect((await bench.client.workflow(id)).state).toBe(wanted));

describe('drover report', () => {
  it('says that there is no workflow yet', async () => {
    const [code, , err] = await said('report');
    expect([code, err]).toEqual([2, expect.stringContaining('there is no workflow here yet')]);
  });

  it('writes a page about the newest workflow, and says where', async () => {
    await submitted([{ command: 'a' }]);
    const id = await submitted([{ command: 'exit 3 no <b>' }, { command: 'b', template: 'last' }], { name: 'nightly' });
    await state(id, 'failed');
    const [code, out, err] = await said('report');
    expect([code, out]).toEqual([0, '']);
    expect(err).toMatch(new RegExp(`^drover: report-${id}.html tells of ${id}: 2 attempts, [\\d.]+ KiB\\n$`));
    const page = bench.env.files.get(`/me/report-${id}.html`) ?? '';
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain('<bdi>nightly</bdi>');
    expect(page).toContain('exit 3 no &lt;b&gt;');
    expect(page).toContain(`drover retry ${id} --cause exit:3`);
    expect(page).not.toContain('<b>no');
  });

  it('writes where it is told to, or to stdout', async () => {
    expect(await said('report', 'w1', '-o', 'x/r.html')).toEqual([0, '', expect.stringContaining('x/r.html')]);
    expect(bench.env.files.has('/me/x/r.html')).toBe(true);
    expect((await said('report', 'w1', '-o', '-'))[1]).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    await said('report', 'w1', '-o', 'r.json');
    expect(JSON.parse(bench.env.files.get('/me/r.json') ?? '')).toMatchObject({ kind: 'drover-report', schema: 1 });
  });

  it('replaces a report, and nothing else unless it is forced to', async () => {
    const [, page] = await said('report', 'w1', '-o', '-');
    const write = async (content: string, ...more: string[]): Promise<[number, string, string | undefined]> => {
      bench.renew();
      bench.env.files.set('/me/r.html', content);
      const code = await bench.drover('report', 'w1', '-o', 'r.html', ...more);
      return [code, bench.env.stderr.text, bench.env.files.get('/me/r.html')?.slice(0, 9)];
    };
    for (const content of [page, '', (await said('report', 'w1', '--json'))[1]]) {
      expect(await write(content)).toEqual([0, expect.any(String), '<!doctype']);
    }
    expect(await write('my thesis')).toEqual([
      2,
      expect.stringMatching(/no report of Drover[\s\S]*--force/),
      'my thesis',
    ]);
    expect(await write('my thesis', '--force')).toEqual([0, expect.any(String), '<!doctype']);
    expect(await said('report', 'w1', '-o', '/me')).toEqual([2, '', expect.stringContaining('is a directory')]);
  });

  it('opens it, where there is something to open it with', async () => {
    await said('report', 'w1', '--open');
    expect(bench.env.shellRuns).toEqual([
      [expect.stringContaining('xdg-open'), { DROVER_REPORT: '/me/report-w1.html' }],
    ]);
    const [code, , err] = await said('report', 'w1', '--open', '--json');
    expect([code, err]).toEqual([2, expect.stringContaining('--open shows a page in a file')]);
  });

  it('has a page of help with examples', async () => {
    expect((await said('report', '--help'))[1]).toContain('drover report w3 --open');
  });
});

describe('what is told', () => {
  it('of a workflow without tasks is that there are none', async () => {
    const id = await submitted([]);
    await state(id, 'done');
    const report = await told(id);
    expect(report).toMatchObject({ isLive: false, attempts: { total: 0 }, slowest: [], workers: [], tasks: {} });
    expect(report.timeline).toBeUndefined();
    expect((await said('report', id, '-o', '-'))[1]).toContain('0 tasks');
  });

  it('of one that was cancelled before anything ran is that, too', async () => {
    const id = await submitted([{ command: 'a', held: true }]);
    await bench.client.cancel(id);
    await state(id, 'cancelled');
    expect(await told(id)).toMatchObject({ workflow: { counts: { cancelled: 1 } }, attempts: { total: 0 } });
    expect((await said('report', id, '-o', '-'))[1]).toContain('1 cancelled');
  });

  it('has every task once, and those that ended without a start by how they did', async () => {
    const held: TaskSpec[] = [{ command: 'b', held: true }, {}];
    const hanging = new Array<TaskSpec>(6).fill({ command: 'hang' });
    const tasks = [{ command: 'a' }, { command: 'late', until: 1 }, ...held, ...hanging];
    // A barrier is no task to people, though it is cancelled with the rest.
    const edges: EdgeSpec[] = [{ parents: [3, 3], children: [4, 4], after: 'success' }];
    const { id } = await bench.client.submitWhole(plainSpec, { tasks, edges });
    const running = { done: 1, failed: 1, running: 4, pending: 3 };
    await eventually(async () => expect((await bench.client.workflow(id)).counts).toMatchObject(running));
    await eventually(async () => expect((await told(id)).starts).toMatchObject({ started: 5, waiting: 3, failed: 1 }));
    // They may have been sent to the worker, which has no room for them; its slots are not to become free before they are gone.
    for (const index of [9, 10]) await bench.client.cancelTask(`${id}.${index}`);
    await eventually(async () => expect((await bench.client.workflow(id)).counts.cancelled).toBe(2));
    await bench.client.cancel(id);
    await state(id, 'failed');
    const { starts, timeline, workflow } = await told(id);
    expect(starts).toEqual({ started: 5, waiting: 0, cancelled: 3, failed: 1 });
    expect([workflow.counts.total, workflow.counts.cancelled]).toEqual([9, 7]);
    expect(timeline?.series.waiting.at(-1)).toBe(0);
    const [, page] = await said('report', id, '-o', '-');
    expect(page).toContain('not started: 3 cancelled, 1 failed');
    expect(page).toContain('3 cancelled before, 1 failed before');
  });

  it('of one that runs is what is so far', async () => {
    const id = await submitted([{ command: 'a' }, { command: 'hang' }, { command: 'b', held: true }]);
    await eventually(async () => {
      const { tasks } = await bench.client.tasksOf(id, { fields: ['state'] });
      expect(tasks.map((task) => task.state)).toEqual(['done', 'running', 'waiting']);
    });
    const report = await told(id);
    expect(report.isLive).toBe(true);
    expect(report.timeline?.bars?.map(({ tone }) => tone).sort()).toEqual(['running', 'succeeded']);
    expect(report.timeline?.series.waiting.at(-1)).toBe(1);
    const [, page] = await said('report', id, '-o', '-');
    expect(page).toContain(`${id} is running: this is what is so far, as of `);
  });

  it('has how tasks run, and of variables only how many there are', async () => {
    const env = { API_TOKEN: 'hush-hush', HOME: '/me' };
    const commandLine = 'drover run x';
    const id = await submitted([{ command: 'a' }], { env, args: { ref: 'hg38' }, maxAttempts: 4, commandLine });
    await state(id, 'done');
    const [, text] = await said('report', id, '--json');
    expect(text).not.toMatch(/hush|API_TOKEN/);
    expect((await told(id)).surroundings).toEqual({
      ...{ cwd: '/', shell: '/bin/sh', args: { ref: 'hg38' }, maxAttempts: 4, terminationMs: 1_000, failFast: false },
      ...{ variables: 2, commandLine },
    });
    const [, page] = await said('report', id, '-o', '-');
    expect(page).toContain('2 variables of the submitter');
    expect(page).not.toMatch(/hush|API_TOKEN/);
  });

  it('has templates, retries and the path through what waited', async () => {
    const tasks: TaskSpec[] = [
      { command: 'a', template: 'first' },
      { command: 'exit 1', template: 'first', name: 'often', maxAttempts: 2 },
      { command: 'c', template: 'last' },
    ];
    const edges: EdgeSpec[] = [{ parents: [1, 2], children: [3, 3], after: 'any' }];
    const { id } = await bench.client.submitWhole(plainSpec, { tasks, edges });
    await state(id, 'failed');
    const report = await told(id);
    expect(report.templates.map(({ name }) => name).sort()).toEqual(['first', 'last']);
    expect(report.retried).toEqual([{ task: `${id}.2`, attempts: 2 }]);
    expect(report.attempts).toMatchObject({ total: 4, retries: 1 });
    expect(report.path?.steps.map(({ attempt }) => attempt)).toEqual([`${id}.2#2`, `${id}.3#1`]);
    expect(report.tasks[`${id}.2`]).toEqual({ name: 'often', command: 'exit 1', template: 'first', state: 'failed' });
    const [, page] = await said('report', id, '-o', '-');
    for (const text of ['Critical path', 'Retries', 'often', 'Usage against request']) expect(page).toContain(text);
  });

  it('has what the slowest attempts used over time, where that was recorded', async () => {
    const worker = await WorkerClient.register(controller.access, { name: 'other', capacity: { queue: 'other' } });
    const id = await submitted([{ command: 'a', resources: { queue: 'other' } }]);
    const [claim] = await worker.claim({ waitMs: 5_000 });
    if (claim === undefined) throw new Error('it was given nothing');
    for (const value of [1_000, 3_000, 2_000]) await worker.reportUsage(claim, 'memory_usage', { value });
    for (const value of [0.25, 0.5]) await worker.reportUsage(claim, 'gpu_usage', { value });
    await worker.end(claim, { exit_status: 0 });
    await state(id, 'done');
    const [slow] = (await told(id)).slowest;
    expect(slow?.memory?.map(({ value }) => value)).toEqual([1_000, 3_000, 2_000]);
    expect(slow?.cpus).toBeUndefined();
    expect(slow?.gpus?.map(({ value }) => value)).toEqual([0.25, 0.5]);
    const [, page] = await said('report', id, '-o', '-');
    expect(page).toMatch(/<svg class="spark"[^>]*aria-label="at most 2.9 KiB">/);
    expect(page).toContain('<th class="">GPUs</th>');
    expect(page).not.toContain('<th class="">processors</th>');
  });
});
