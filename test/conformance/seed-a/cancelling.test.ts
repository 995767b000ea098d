/** Cancelling, by users and by what a task waits for: A24–A31, A34–A36, A54, A59–A61. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, short } from './bench.ts';

let bench: Bench;
let k: string;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  k = await bench.worker();
});

afterEach(() => bench.stop());

const command = { command: 'x' };
const chain = [command, command, command];
const edges = [
  [1, 2],
  [2, 3],
] as const;
const cancel = (task: string) => bench.call('POST', `tasks/${task}/cancel`);

describe('cancelling', () => {
  it('A24, A26, A54: a task that has not begun is cancelled, and its continuations with it', async () => {
    const w = await bench.submit(chain, { edges });
    expect((await cancel(`${w}.1`)).body).toMatchObject({ state: 'cancelled', reason: 'user' });
    expect(await bench.states(w)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect((await bench.task(`${w}.3`)).reason).toBe('upstream');
    const other = await bench.submit(chain, { edges });
    await bench.call('PATCH', `tasks/${other}.2`, { state: 'cancelled' });
    expect(await bench.states(other)).toEqual(['queued', 'cancelled', 'cancelled']);
  });

  it('A25: what is being cancelled, or has ended, is left as it is, and the request succeeds at once', async () => {
    const w = await bench.submit([command, command, command]);
    await bench.claim(k, `${w}.1`);
    await bench.run(k, `${w}.2`);
    await cancel(`${w}.1`);
    await cancel(`${w}.3`);
    for (const [index, state] of [
      [1, 'cancelling'],
      [2, 'done'],
      [3, 'cancelled'],
    ] as const) {
      expect(await cancel(`${w}.${index}`)).toMatchObject({ status: 200, body: { state } });
    }
  });

  it('A27, A30: the worker of a running task is told, by an answer that it waits for and by its heartbeat', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    const orders = bench.call('GET', `workers/${k}/orders?waitMs=20000`);
    await cancel(`${w}.1`);
    expect((await orders).body.cancel).toEqual([{ attempt: `${w}.1#1`, why: 'cancel' }]);
    expect((await bench.call('POST', `workers/${k}/heartbeat`)).body.cancel).toHaveLength(1);
  });

  it('A28: (conflict with A46) a running task that is cancelled is cancelling, which is pending_cancellation', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    await bench.claim(k, `${w}.1`);
    expect((await cancel(`${w}.1`)).body.state).toBe('cancelling');
  });

  it.each([
    [{ exit_status: 0 }, 'terminated', 'done'],
    [{ exit_status: 1 }, 'terminated', 'failed'],
    [{ signal: 15 }, 'cancelled', 'cancelled'],
    [{}, 'cancelled', 'cancelled'],
  ])('A29: the next word of the worker ends it: %j as %s', async (info, state, expected) => {
    const w = await bench.submit([command, command], { edges: [[1, 2]], maxAttempts: 5 });
    await bench.claim(k, `${w}.1`);
    await cancel(`${w}.1`);
    expect((await bench.end(k, `${w}.1`, info, state)).body.state).toBe(expected);
    expect(await bench.states(w)).toEqual([expected, 'cancelled']);
  });

  it('A31: nobody waits for the worker: its continuations are cancelled, and in the end so is the task', async () => {
    await bench.stop();
    bench = new Bench(short);
    await bench.start();
    const silent = await bench.worker();
    const w = await bench.submit(chain, { edges });
    await bench.claim(silent, `${w}.1`);
    await cancel(`${w}.1`);
    expect(await bench.states(w)).toEqual(['cancelling', 'cancelled', 'cancelled']);
    await bench.eventually('it is cancelled', async () => (await bench.state(`${w}.1`)) === 'cancelled');
  });

  it('A34: a task that had ended when its worker was told ends as terminated, with its status', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    await cancel(`${w}.1`);
    const { body } = await bench.end(k, `${w}.1`, { exit_status: 0, time_terminated: Date.now() });
    expect(body).toMatchObject({ state: 'done', outcome: { kind: 'succeeded' } });
  });

  it('A35: a worker knows how long to wait between TERM and KILL; that it does is shown by the examples', async () => {
    const w = await bench.submit([command]);
    expect((await bench.claim(k, `${w}.1`)).body.terminationMs).toBe(1_000);
  });

  it('A36: cancelled comes with the exit or the signal when TERM was enough, and without when it was not', async () => {
    const w = await bench.submit([command, command, command]);
    const ends = [{ signal: 15 }, { exit_status: 143 }, {}];
    for (const [at, info] of ends.entries()) {
      await bench.claim(k, `${w}.${at + 1}`);
      await cancel(`${w}.${at + 1}`);
      await bench.end(k, `${w}.${at + 1}`, info, 'cancelled');
    }
    const outcomes = await Promise.all([1, 2, 3].map(async (index) => (await bench.task(`${w}.${index}`)).outcome));
    expect(outcomes).toEqual([
      { kind: 'cancelled', signal: 15 },
      { kind: 'cancelled', code: 143 },
      { kind: 'cancelled' },
    ]);
  });

  it('A59: a running task is cancelled by its user; it has no dependency left that could fail', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    await bench.run(k, `${w}.1`);
    await bench.claim(k, `${w}.2`);
    await cancel(`${w}.1`);
    expect(await bench.states(w)).toEqual(['done', 'running']);
    await bench.call('PATCH', `tasks/${w}.2`, { state: 'cancelled' });
    expect(await bench.state(`${w}.2`)).toBe('cancelling');
  });

  it('A60: what is being cancelled may be terminated, and releases nothing', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    await bench.claim(k, `${w}.1`);
    await cancel(`${w}.1`);
    expect(await bench.end(k, `${w}.1`)).toMatchObject({ status: 200 });
    expect(await bench.states(w)).toEqual(['done', 'cancelled']);
  });

  it('A61: what is being cancelled may be cancelled by its worker, and by no other', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    await cancel(`${w}.1`);
    expect(await bench.end(await bench.worker(), `${w}.1`, {}, 'cancelled')).toMatchObject({ status: 403 });
    expect(await bench.end(k, `${w}.1`, {}, 'cancelled')).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  });
});
