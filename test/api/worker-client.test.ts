/** A worker over HTTP by the client's methods, against a real controller: what each answers is what its schema says. */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClaimView, ExecutionInfo, HeartbeatAnswer, LeaseTerms, StopList } from '../../src/protocol/http-worker.ts';
import { TaskView } from '../../src/protocol/views/tasks.ts';
import { Client } from '../../src/sdk/client.ts';
import { WorkerClient } from '../../src/sdk/worker-client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;
let worker: WorkerClient;

beforeAll(async () => {
  controller = await startController({ hasWorker: false });
  client = new Client(controller.access);
  worker = await WorkerClient.register(controller.access, { name: 'by hand', slots: 2 });
});

afterAll(() => controller.close());

const submit = async (...commands: string[]): Promise<string> =>
  (await client.submitWhole(plainSpec, { tasks: commands.map((command) => ({ command })), edges: [] })).id;

function expectAs(schema: TSchema, answer: unknown): void {
  expect([...Value.Errors(schema, answer)]).toEqual([]);
}

async function textOf(task: string): Promise<string> {
  let text = '';
  for await (const piece of client.output(task, { stream: 'stdout' })) text += new TextDecoder().decode(piece);
  return text;
}

it('claims, sends output, reports and ends, and the task is done', async () => {
  expectAs(LeaseTerms, worker.terms);
  const id = await submit('a');
  const [claim] = await worker.claim({ max: 5, waitMs: 1_000 });
  if (claim === undefined) throw new Error('nothing was claimed');
  expectAs(ClaimView, claim);
  expect(await worker.claims()).toEqual([claim]);
  await worker.started(claim);
  expectAs(HeartbeatAnswer, await worker.heartbeat([claim.attempt]));
  const hello = new TextEncoder().encode('hello');
  expect(await worker.putOutput(claim, 'stdout', 0, hello)).toBe(5);
  expect(await worker.putOutput(claim, 'stdout', 0, hello)).toBe(5);
  expect(await worker.putOutput(claim, 'stdout', 5, new TextEncoder().encode(' you'))).toBe(9);
  await worker.reportUsage(claim, 'memory_usage', { value: 1_000 });
  expectAs(TaskView, await worker.end(claim, { exit_status: 0 }));
  expect(await worker.end(claim, { exit_status: 0 })).toMatchObject({ state: 'done' });
  const info = await worker.executionInfo(claim);
  expectAs(ExecutionInfo, info);
  expect(info).toMatchObject({ exit_status: 0, memory_usage: [{ value: 1_000 }] });
  expect(await textOf(`${id}.1`)).toBe('hello you');
});

it('what it sent to stderr before it failed is what failures are grouped by', async () => {
  const id = await submit('x 1', 'x 2', 'x 3');
  for (const [index, text] of ['cannot read /data/1\n', 'cannot read /data/22\n', ''].entries()) {
    const claim = await worker.claimTask(`${id}.${index + 1}`);
    const [half, rest] = [text.slice(0, 8), text.slice(8)].map((part) => new TextEncoder().encode(part));
    if (half === undefined || rest === undefined) throw new Error('it has two parts');
    await worker.putOutput(claim, 'stderr', 0, half);
    await worker.putOutput(claim, 'stderr', half.length, rest);
    await worker.end(claim, { exit_status: 3 });
  }
  const { groups } = await client.failures(id);
  expect(groups.map(({ pattern, count }) => [pattern, count])).toEqual([
    ['cannot read <path>', 2],
    [undefined, 1],
  ]);
  expect(groups[0]?.lastLines).toBe('cannot read /data/1');
});

it('what it says of memory and CPU is in the statistics, and recommended with room to spare', async () => {
  const id = await submit('x');
  const claim = await worker.claimTask(`${id}.1`);
  const times = { time_started: '2026-01-01T00:00:00.000Z', time_terminated: '2026-01-01T00:01:00.000Z' };
  await worker.end(claim, { exit_status: 0, ...times, cpu_ms: 90_000, peak_bytes: 100_000_000 });
  const { recommended, cpus, peakBytes } = await client.statisticsOf(id);
  expect(recommended).toEqual({ memoryBytes: 120_000_000, runtimeMs: 90_000, cpus: 1.5 });
  expect(cpus).toEqual({ attempts: 1, requested: 1, used: 1.5, share: 1.5 });
  expect(peakBytes?.max).toBe(100_000_000);
});

it('hears of a cancellation while it waits for orders, and says that it carried it out', async () => {
  const id = await submit('b');
  const claim = await worker.claimTask(`${id}.1`);
  const waiting = worker.orders({ waitMs: 20_000 });
  await client.cancelTask(`${id}.1`);
  const orders = await waiting;
  expectAs(StopList, orders);
  expect(orders.cancel).toEqual([{ attempt: claim.attempt, why: 'cancel' }]);
  expect(await worker.cancelled(claim, { signal: 15 })).toMatchObject({ state: 'cancelled' });
});

it("is refused what another has, and what is another's to say", async () => {
  const other = await WorkerClient.register(controller.access, { name: 'another' });
  const id = await submit('c');
  const claim = await worker.claimTask(`${id}.1`);
  await expect(other.claimTask(`${id}.1`)).rejects.toMatchObject({ code: 'task-not-available' });
  await expect(other.end(claim, { exit_status: 0 })).rejects.toMatchObject({ code: 'not-your-attempt' });
  await worker.end(claim, { exit_status: 3 });
  await other.leave();
  expect((await client.workers({ all: true })).workers).toContainEqual(
    expect.objectContaining({ id: other.id, state: 'gone' }),
  );
});
