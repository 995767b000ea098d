/** Which changes of state a request may make, and what follows from an end: A1, A32, A33, A43–A50, A55–A58. */
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
const held = { command: 'x', held: true };
const ask = (task: string, state: string) => bench.call('PATCH', `tasks/${task}`, { state });

describe('a change of state', () => {
  it('A1: (note) is decided in one place, whichever way it is asked for', async () => {
    const w = await bench.submit([command, command]);
    await bench.call('POST', `tasks/${w}.1/cancel`);
    await ask(`${w}.2`, 'cancelled');
    const [one, two] = [await bench.task(`${w}.1`), await bench.task(`${w}.2`)];
    expect({ ...one, id: '', index: 0 }).toEqual({ ...two, id: '', index: 0 });
  });

  it('A43: that is not allowed simply fails, with the present state and what is allowed', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    await bench.run(k, `${w}.1`);
    for (const [state, expected] of [
      ['available', 'done'],
      ['inactive', 'done'],
      ['pending_cancellation', 'done'],
    ] as const) {
      const { status, body } = await ask(`${w}.1`, state);
      expect([status, body.error.code]).toEqual([409, 'transition-not-allowed']);
      expect(body.error.details).toEqual({ state: expected, allowed: expect.any(Array) });
    }
    expect((await bench.claim(k, `${w}.1`)).body.error.details.state).toBe('done');
    expect(await ask(`${w}.1`, 'nonsense')).toMatchObject({ status: 400 });
    expect(await bench.state(`${w}.1`)).toBe('done');
  });

  it('A44, A50: an inactive task that nothing but its hold keeps becomes available, without further effects', async () => {
    const w = await bench.submit([held, command, held], {
      edges: [
        [1, 2],
        [1, 3],
      ],
    });
    expect(await ask(`${w}.1`, 'available')).toMatchObject({ status: 200, body: { state: 'queued' } });
    expect(await bench.states(w)).toEqual(['queued', 'waiting', 'waiting']);
    const other = await bench.submit([held]);
    expect(await ask(`${other}.1`, 'cancelled')).toMatchObject({ body: { state: 'cancelled' } });
  });

  it('A45: an available task becomes running by a claim, or cancelled', async () => {
    const w = await bench.submit([command, command]);
    expect(await bench.claim(k, `${w}.1`)).toMatchObject({ status: 200 });
    expect(await ask(`${w}.2`, 'cancelled')).toMatchObject({ body: { state: 'cancelled' } });
  });

  it('A46: a running task becomes terminated by its worker, or is asked to be cancelled', async () => {
    const w = await bench.submit([command, command]);
    for (const index of [1, 2]) await bench.claim(k, `${w}.${index}`);
    expect(await bench.end(k, `${w}.1`)).toMatchObject({ body: { state: 'done' } });
    expect(await ask(`${w}.2`, 'cancelled')).toMatchObject({ body: { state: 'cancelling' } });
    expect(await ask(`${w}.2`, 'available')).toMatchObject({ status: 409 });
  });

  it('A47: a task in pending_cancellation becomes terminated or cancelled, and nothing else', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    await ask(`${w}.1`, 'cancelled');
    expect((await bench.claim(k, `${w}.1`)).body.error.details.state).toBe('cancelling');
    expect(await bench.end(k, `${w}.1`, {}, 'cancelled')).toMatchObject({ body: { state: 'cancelled' } });
  });

  it('A48: (conflict with A44, A50) what is refused is to make a task available before its dependencies are met, and to make one inactive again', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    const { status, body } = await ask(`${w}.2`, 'available');
    expect([status, body.error.details.state]).toEqual([409, 'waiting']);
    const back = await ask(`${w}.1`, 'inactive');
    expect([back.status, back.body.error.hint]).toEqual([409, 'hold it instead: POST to hold of the task']);
    await bench.call('POST', `tasks/${w}.1/hold`);
    expect((await bench.claim(k, `${w}.1`)).body.error).toMatchObject({ code: 'task-not-available' });
    expect(await bench.task(`${w}.1`)).toMatchObject({ state: 'queued', held: true });
  });

  it('A49: (note, conflict with A12, A58) continuations do not become available with a task: they wait for its end', async () => {
    const w = await bench.submit([held, command], { edges: [[1, 2]] });
    await ask(`${w}.1`, 'available');
    expect(await bench.states(w)).toEqual(['queued', 'waiting']);
  });
});

describe('the end of an attempt', () => {
  it('A32, A55: one PATCH sets the state, the time and the status', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    const info = { worker: k, exit_status: 0, time_terminated: '2099-12-31T23:59:59.999Z' };
    const { body } = await bench.call('PATCH', `tasks/${w}.1`, { state: 'terminated', execution_info: info });
    expect(body).toMatchObject({ state: 'done', outcome: { kind: 'succeeded' } });
    expect((await bench.call('GET', `tasks/${w}.1/execution_info`)).body).toMatchObject({
      ...{ exit_status: 0, time_terminated: '2099-12-31T23:59:59.999Z' },
    });
  });

  it('A33: without a status there is none: as for one that KILL had to end', async () => {
    const w = await bench.submit([command]);
    await bench.claim(k, `${w}.1`);
    await ask(`${w}.1`, 'cancelled');
    await bench.end(k, `${w}.1`, { exit_status: null }, 'cancelled');
    expect((await bench.call('GET', `tasks/${w}.1/execution_info/exit_status`)).body).toEqual({ attempt: 1 });
  });

  it('A56: a bad one with attempts left makes the task available again, after a while; the old record is kept', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]], maxAttempts: 2 });
    expect((await bench.run(k, `${w}.1`, { exit_status: 9 })).body).toMatchObject({ state: 'queued' });
    expect(await bench.state(`${w}.2`)).toBe('waiting');
    const { claims } = (await bench.call('POST', `workers/${k}/claims`, { waitMs: 20_000 })).body;
    expect(claims).toMatchObject([{ attempt: `${w}.1#2` }]);
    expect((await bench.task(`${w}.1`)).history).toMatchObject([{ outcome: { code: 9 } }, { state: 'running' }]);
  });

  it('A57: a bad one without attempts left cancels the continuations', async () => {
    const w = await bench.submit([command, command, command], {
      edges: [
        [1, 2],
        [2, 3],
      ],
    });
    await bench.run(k, `${w}.1`, { exit_status: 1 });
    expect(await bench.states(w)).toEqual(['failed', 'cancelled', 'cancelled']);
  });

  it('A58: a good one releases the continuations', async () => {
    const w = await bench.submit([command, command], { edges: [[1, 2]] });
    await bench.run(k, `${w}.1`);
    expect(await bench.states(w)).toEqual(['done', 'queued']);
  });
});
