/** What tasks ask for and get, over HTTP, at a real controller in this process; workers are played request by request. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { Bench } from '../conformance/seed-a/bench.ts';

const MB = 1_000_000;

let bench: Bench;
let client: Client;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  client = new Client(bench.access);
});

afterEach(() => bench.stop());

const hungry = { command: 'x', resources: { memoryBytes: 100 * MB, runtimeMs: 60_000 } };
const outOfMemory = { resource: 'memory', cpu_ms: 70, peak_bytes: 99 * MB };

describe('the resources of a task', () => {
  it('B32: are the requested and the validated ones, and a row for each time that they were raised', async () => {
    const w = await bench.submit([hungry]);
    const k = await bench.worker();
    const before = await client.taskResources(`${w}.1`);
    expect(before.rows.map(({ kind, active }) => [kind, active])).toEqual([
      ['requested', false],
      ['validated', true],
    ]);
    await bench.run(k, `${w}.1`, outOfMemory);
    await bench.run(k, `${w}.1`, { ...outOfMemory, resource: 'runtime' });
    await bench.run(k, `${w}.1`, outOfMemory);
    await bench.run(k, `${w}.1`, { exit_status: 0, cpu_ms: 1, peak_bytes: 200 * MB });
    const { task, rows } = await client.taskResources(`${w}.1`);
    expect(task).toBe(`${w}.1`);
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    const ended = (number: number) =>
      expect.objectContaining({ attempt: `${w}.1#${number}`, cpuMs: expect.any(Number) });
    const queue = 'default';
    expect(rows).toEqual([
      { kind: 'requested', active: false, resources: hungry.resources, why: [], at, attempts: [] },
      {
        ...{ kind: 'validated', active: false, resources: { queue, cpus: 1, ...hungry.resources } },
        ...{ why: ['queue default: default', 'cpus 1: default'], at, attempts: [ended(1)] },
      },
      {
        ...{ kind: 'adjusted', number: 1, active: false, resource: 'memory', attempt: `${w}.1#1`, at },
        ...{ resources: { queue, cpus: 1, memoryBytes: 150 * MB, runtimeMs: 60_000 }, attempts: [ended(2)] },
        why: ['memory 100 MB → 150 MB (×1.5)'],
      },
      {
        ...{ kind: 'adjusted', number: 2, active: false, resource: 'runtime', attempt: `${w}.1#2`, at },
        ...{ resources: { queue, cpus: 1, memoryBytes: 150 * MB, runtimeMs: 90_000 }, attempts: [ended(3)] },
        why: ['runtime 1m 0s → 1m 30s (×1.5)'],
      },
      {
        ...{ kind: 'adjusted', number: 3, active: true, resource: 'memory', attempt: `${w}.1#3`, at },
        ...{ resources: { queue, cpus: 1, memoryBytes: 225 * MB, runtimeMs: 90_000 }, attempts: [ended(4)] },
        why: ['memory 150 MB → 225 MB (×1.5)'],
      },
    ]);
    expect(rows[1]?.attempts).toMatchObject([
      { outcome: { kind: 'resource', resource: 'memory' }, peakBytes: 99 * MB },
    ]);
  });

  it('B38: each attempt has those that it ran with', async () => {
    const w = await bench.submit([hungry, { command: 'plain' }]);
    const k = await bench.worker();
    for (const report of [outOfMemory, outOfMemory, { exit_status: 0 }]) await bench.run(k, `${w}.1`, report);
    await bench.run(k, `${w}.2`, { exit_status: 0 });
    const amounts = [100 * MB, 150 * MB, 225 * MB];
    const { history, resources } = await client.task(`${w}.1`);
    expect(history.map((attempt) => attempt.resources?.memoryBytes)).toEqual(amounts);
    expect(resources?.memoryBytes).toBe(225 * MB);
    const { attempts } = await client.attempts({ fields: ['id', 'resources'] });
    expect(attempts.map((attempt) => attempt.resources?.memoryBytes)).toEqual([...amounts, undefined]);
    expect(attempts.at(-1)).toEqual({ id: `${w}.2#1` });
  });

  it('B39: of all tasks of a workflow are one question, page by page', async () => {
    const tasks = Array.from({ length: 7 }, (_, at) => (at % 2 === 0 ? hungry : { command: 'plain' }));
    const w = await bench.submit(tasks, { resources: { cpus: 2, memoryBytes: 5 * MB } });
    const k = await bench.worker();
    await bench.run(k, `${w}.3`, outOfMemory);
    const page = await client.workflowResources(w, { limit: 3 });
    expect([page.tasks.map(({ task }) => task), typeof page.next]).toEqual([[`${w}.1`, `${w}.2`, `${w}.3`], 'string']);
    const all = [];
    for await (const one of client.eachResources(w, { limit: 3 })) all.push(one);
    expect(all.map(({ rows }) => rows.length)).toEqual([2, 2, 3, 2, 2, 2, 2]);
    for (const { rows } of all) expect(rows.filter(({ active }) => active)).toHaveLength(1);
    expect(all[1]?.rows[1]).toMatchObject({
      resources: { queue: 'default', cpus: 2, memoryBytes: 5 * MB },
      why: ['queue default: default', 'cpus 2: from the workflow', `memoryBytes ${5 * MB}: from the workflow`],
    });
    const some = await client.workflowResources(w, { where: 'attempts>0' });
    expect(some.tasks.map(({ task }) => task)).toEqual([`${w}.3`]);
  });

  it('B33: that succeeded are what a user asks for next time: a retry keeps them', async () => {
    const w = await bench.submit([{ ...hungry, maxResourceRetries: 1 }]);
    const k = await bench.worker();
    await bench.run(k, `${w}.1`, outOfMemory);
    await bench.run(k, `${w}.1`, outOfMemory);
    const failed = await client.task(`${w}.1`);
    expect(failed).toMatchObject({ state: 'failed', reason: 'resources' });
    expect(failed.shortfall).toEqual({
      resource: 'memory',
      resources: { queue: 'default', cpus: 1, memoryBytes: 225 * MB, runtimeMs: 60_000 },
      why: 'memory 150 MB → 225 MB (×1.5): it may not be raised any more',
    });
    const { groups } = await client.failures(w);
    expect(groups).toMatchObject([
      { cause: 'memory', title: expect.stringContaining('memory 150 MB → 225 MB'), count: 1 },
    ]);
    await client.retryTask(`${w}.1`);
    expect((await client.task(`${w}.1`)).resources?.memoryBytes).toBe(150 * MB);
    await bench.run(k, `${w}.1`, outOfMemory);
    expect((await client.task(`${w}.1`)).resources?.memoryBytes).toBe(225 * MB);
    const { rows } = await client.taskResources(`${w}.1`);
    expect(rows.map(({ kind, number }) => [kind, number])).toEqual([
      ['requested', undefined],
      ['validated', undefined],
      ['adjusted', 1],
      ['adjusted', 2],
    ]);
  });

  it('B37: that were raised are kept by a restart and by a resume', async () => {
    const w = await bench.submit([hungry]);
    const k = await bench.worker();
    await bench.run(k, `${w}.1`, outOfMemory);
    await bench.restart();
    client = new Client(bench.access);
    expect((await client.task(`${w}.1`)).resources?.memoryBytes).toBe(150 * MB);
    await client.halt(w, 'drain');
    await bench.eventually('it is halted', async () => (await client.workflow(w)).state === 'halted');
    await client.resume(w, 'cold');
    await bench.eventually('it goes on', async () => (await bench.run(k, `${w}.1`, outOfMemory)).status === 200);
    expect((await client.task(`${w}.1`)).resources?.memoryBytes).toBe(225 * MB);
  });

  it('B35: are in the history, with the attempt that ran out', async () => {
    const w = await bench.submit([hungry]);
    await bench.run(await bench.worker(), `${w}.1`, outOfMemory);
    const { events } = await client.eventPage({ where: 'type=need-adjusted' });
    expect(events).toMatchObject([{ task: `${w}.1`, attempt: `${w}.1#1`, resource: 'memory', number: 1 }]);
  });

  it('are of a task that there is', async () => {
    await expect(client.taskResources('w9.1')).rejects.toMatchObject({ code: 'workflow-unknown' });
    await expect(client.workflowResources('w9')).rejects.toMatchObject({ code: 'workflow-unknown' });
  });
});
