/** Work stealing, and what is known of attempts: A4–A8, A19–A23, A37–A42, A51–A53. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from './bench.ts';

let bench: Bench;
let k: string;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  k = await bench.worker();
});

afterEach(() => bench.stop());

const command = { command: 'x' };
const info = async (task: string, field = '') => (await bench.call('GET', `tasks/${task}/execution_info${field}`)).body;

describe('work stealing', () => {
  it('A19: the available tasks come with their id, termination time and requested resources only', async () => {
    const w = await bench.submit([{ command: 'secret', resources: { memoryBytes: 5 } }, command]);
    const { body } = await bench.call('GET', 'tasks/available');
    expect(body.tasks).toEqual([
      { id: `${w}.1`, maxTerminationMs: 1_000, requestedResources: { memoryBytes: 5 } },
      { id: `${w}.2`, maxTerminationMs: 1_000 },
    ]);
    const more = await bench.call('GET', 'tasks/available?limit=1&fields=id,command,priority');
    expect(more.body.tasks).toEqual([{ id: `${w}.1`, command: 'secret', priority: 0 }]);
  });

  it('A20, A51: one PATCH with the state and the worker claims a task, and does nothing else', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    const body = { state: 'running', execution_info: { worker: k } };
    expect(await bench.call('PATCH', `tasks/${w}.1`, body)).toMatchObject({ status: 200, body: { state: 'running' } });
    expect(await bench.states(w)).toEqual(['running', 'waiting']);
  });

  it('A21: of many claims exactly one succeeds, and one of a task that was cancelled fails', async () => {
    const w = await bench.submit([command, command]);
    const others = await Promise.all(Array.from({ length: 10 }, () => bench.worker(1)));
    const answers = await Promise.all(others.map((worker) => bench.claim(worker, `${w}.1`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const lost = answers.filter(({ status }) => status !== 200);
    expect(new Set(lost.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(['409 task-not-available']),
    );
    await bench.call('POST', `tasks/${w}.2/cancel`);
    expect((await bench.claim(k, `${w}.2`)).body.error.details.state).toBe('cancelled');
  });

  it('A22: after its claim a worker tells when it began', async () => {
    const w = await bench.submit([command]);
    const started = '2026-01-31T12:00:00.123Z';
    const tell = (worker: string) =>
      bench.call('POST', `tasks/${w}.1/execution_info/time_started`, { worker, time_started: started });
    expect((await tell(k)).status).toBe(403);
    await bench.claim(k, `${w}.1`);
    expect(await tell(k)).toMatchObject({ status: 200, body: { time_started: started } });
    expect((await info(`${w}.1`)).time_started).toBe(started);
    expect((await tell(await bench.worker())).status).toBe(403);
  });

  it('A23: after a claim that failed the list no longer has that task, and another can be claimed', async () => {
    const w = await bench.submit([command, command]);
    await bench.claim(k, `${w}.1`);
    const other = await bench.worker();
    expect((await bench.claim(other, `${w}.1`)).status).toBe(409);
    expect(await bench.available()).toEqual([`${w}.2`]);
    expect((await bench.claim(other, `${w}.2`)).status).toBe(200);
  });

  it('A52, A53: a claim makes an attempt, with a number and a record of its own', async () => {
    const w = await bench.submit([command], { maxAttempts: 2 });
    await bench.claim(k, `${w}.1`);
    expect(await bench.task(`${w}.1`)).toMatchObject({ attempts: 1, history: [{ id: `${w}.1#1`, worker: k }] });
    await bench.end(k, `${w}.1`, { exit_status: 1 });
    expect((await bench.task(`${w}.1`)).history).toHaveLength(1);
    await bench.call('POST', `workers/${k}/claims`, { waitMs: 20_000 });
    expect(await bench.task(`${w}.1`)).toMatchObject({ attempts: 2, history: [{ number: 1 }, { number: 2 }] });
  });
});

describe('the virtual resources', () => {
  it('A4, A39: current_history has one execution_info for each attempt', async () => {
    const w = await bench.submit([command], { maxAttempts: 2 });
    expect((await bench.call('GET', `tasks/${w}.1/current_history`)).body).toEqual({ history: [] });
    await bench.run(k, `${w}.1`, { exit_status: 4 });
    await bench.call('POST', `workers/${k}/claims`, { waitMs: 20_000 });
    const { history } = (await bench.call('GET', `tasks/${w}.1/current_history`)).body;
    expect(history).toMatchObject([
      { attempt: 1, worker: k, exit_status: 4, outcome: 'exited' },
      { attempt: 2, worker: k },
    ]);
  });

  it('A5: (wish) statistics are what a workflow counts; virtual resources for them come with the statistics', async () => {
    const w = await bench.submit([command, command]);
    await bench.run(k, `${w}.1`);
    expect((await bench.call('GET', `workflows/${w}`)).body.counts).toMatchObject({ total: 2, done: 1, pending: 1 });
  });

  it('A6, A42: worker, exit_status, time_started and time_terminated are there to be read; they are written by claim and end', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    await bench.end(k, `${w}.1`, { exit_status: 0, time_terminated: '2099-01-01T00:00:00.000Z' });
    expect(await info(`${w}.1`, '/worker')).toEqual({ attempt: 1, worker: k });
    expect(await info(`${w}.1`, '/exit_status')).toEqual({ attempt: 1, exit_status: 0 });
    expect(await info(`${w}.1`, '/time_terminated')).toEqual({
      attempt: 1,
      time_terminated: '2099-01-01T00:00:00.000Z',
    });
    expect(await info(`${w}.1`, '/time_started')).toMatchObject({ time_started: expect.any(String) });
    expect((await bench.call('POST', `tasks/${w}.1/execution_info/worker`, { worker: 'k9' })).status).toBe(404);
  });

  it('A7, A8, A41: usage is read as lists, to which reports append, by POST or by PATCH', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    const at = '2026-01-31T12:00:00.000Z';
    for (const [name, method, place] of [
      ['memory_usage', 'POST', 'execution_info/'],
      ['cpu_utilization', 'PATCH', 'execution_info/'],
      ['gpu_usage', 'POST', ''],
    ] as const) {
      const url = `tasks/${w}.1/${place}report_${name}`;
      expect((await bench.call(method, url, { worker: k, value: 5, at })).body).toEqual({ attempt: 1, kept: 1 });
      await bench.call(method, url, { samples: [{ value: 7, at: Date.parse(at) + 1 }] });
      expect((await info(`${w}.1`, `/${name}`))[name]).toEqual([
        { at, value: 5 },
        { at: '2026-01-31T12:00:00.001Z', value: 7 },
      ]);
      expect((await bench.call('PUT', `tasks/${w}.1/execution_info/${name}`, [])).status).toBe(404);
      expect((await bench.call(method, url, { value: -1 })).status).toBe(400);
      expect((await bench.call(method, url, {})).status).toBe(400);
    }
  });

  it('A37, A38: reports are taken at any rate and in any order, and change no state', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    const before = await bench.task(`${w}.1`);
    const report = (value: number) => bench.call('POST', `tasks/${w}.1/report_memory_usage`, { value });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, value) => report(value)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await info(`${w}.1`)).memory_usage).toHaveLength(100);
    expect(await bench.task(`${w}.1`)).toEqual(before);
  });

  it('A37: past a limit reports are thinned, never refused', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    for (let at = 0; at < 12; at++) {
      const samples = Array.from({ length: 100 }, (_, offset) => ({ value: 100 * at + offset }));
      expect((await bench.call('POST', `tasks/${w}.1/report_cpu_utilization`, { samples })).status).toBe(200);
    }
    const kept: { value: number }[] = (await info(`${w}.1`)).cpu_utilization;
    expect(kept.length).toBeLessThan(520);
    expect(kept.at(-1)?.value).toBe(1_199);
  });

  it('A40: reports need not know of the history: they go to the last attempt, and a late one to that which it names', async () => {
    const w = await bench.submit([command], { maxAttempts: 2 });
    const report = (body: object) => bench.call('POST', `tasks/${w}.1/report_gpu_usage`, body);
    expect(await report({ value: 1 })).toMatchObject({ status: 404, body: { error: { code: 'attempt-unknown' } } });
    await bench.run(k, `${w}.1`, { exit_status: 1 });
    await bench.call('POST', `workers/${k}/claims`, { waitMs: 20_000 });
    await report({ value: 2 });
    await report({ value: 1, attempt: 1, worker: k });
    const { history } = (await bench.call('GET', `tasks/${w}.1/current_history`)).body;
    expect(history.map(({ gpu_usage }: { gpu_usage: { value: number }[] }) => gpu_usage[0]?.value)).toEqual([1, 2]);
    expect((await report({ value: 1, worker: await bench.worker() })).status).toBe(403);
    expect((await report({ value: 1, attempt: 3 })).status).toBe(404);
  });

  it('A37, A40: reports outlive the controller', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    await bench.call('POST', `tasks/${w}.1/report_memory_usage`, { value: 3 });
    await bench.restart();
    expect((await info(`${w}.1`)).memory_usage).toMatchObject([{ value: 3 }]);
  });
});
