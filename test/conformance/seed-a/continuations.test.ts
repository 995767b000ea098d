/** Creating tasks, and what waits for what: A2, A3, A9–A18. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainSpec } from '../../controller/spec.ts';
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

const add = (task: string, ...continuations: string[]) =>
  bench.call('POST', `tasks/${task}/add_continuations`, { continuations });
const remove = (task: string, ...continuations: string[]) =>
  bench.call('POST', `tasks/${task}/remove_continuations`, { continuations });

describe('continuations', () => {
  it('A3, A17: are added and removed through resources of their own, by the plural and by the singular name', async () => {
    const w = await bench.submit([command, held, held]);
    expect((await add(`${w}.1`, `${w}.2`, `${w}.3`)).body.continuations).toEqual([`${w}.3`, `${w}.2`]);
    expect((await remove(`${w}.1`, `${w}.2`, `${w}.3`)).body.continuations).toEqual([]);
    const one = { continuation: `${w}.2` };
    expect((await bench.call('POST', `tasks/${w}.1/add_continuation`, one)).body.continuations).toEqual([`${w}.2`]);
    expect((await bench.call('PATCH', `tasks/${w}.1/remove_continuation`, one)).body.continuations).toEqual([]);
  });

  it('A9: one that is acquired waits for one more; one that no longer waits can not be', async () => {
    const w = await bench.submit([command, held, command]);
    await add(`${w}.1`, `${w}.2`);
    expect((await bench.task(`${w}.2`)).pendingDependencies).toBe(1);
    for (const prepare of [() => Promise.resolve(), () => bench.claim(k, `${w}.3`), () => bench.end(k, `${w}.3`)]) {
      await prepare();
      const { status, body } = await add(`${w}.1`, `${w}.3`);
      expect([status, body.error.code]).toEqual([409, 'continuation-not-waiting']);
      expect(body.error.details.state).toBe(await bench.state(`${w}.3`));
    }
  });

  it('A10: there is no request to release one: it happens by the end of what it waits for, and is never negative', async () => {
    const w = await bench.submit([command, held]);
    expect(await bench.call('POST', `tasks/${w}.2/release_continuation`, {})).toMatchObject({ status: 404 });
    expect(await remove(`${w}.1`, `${w}.2`)).toMatchObject({ status: 404, body: { error: { code: 'edge-unknown' } } });
    await bench.run(k, `${w}.1`);
    expect((await bench.task(`${w}.2`)).pendingDependencies).toBeUndefined();
  });

  it('A11, A12: each good end lowers the count by one, and at zero the task becomes available', async () => {
    const w = await bench.submit([command, command, command], {
      edges: [
        [1, 3],
        [2, 3],
      ],
    });
    expect(await bench.task(`${w}.3`)).toMatchObject({ state: 'waiting', pendingDependencies: 2 });
    await bench.run(k, `${w}.1`);
    expect(await bench.task(`${w}.3`)).toMatchObject({ state: 'waiting', pendingDependencies: 1 });
    await bench.run(k, `${w}.2`);
    expect(await bench.available()).toEqual([`${w}.3`]);
  });

  it('A13: a good end releases each of its continuations once', async () => {
    const w = await bench.submit([command, command, command, command], {
      edges: [
        [1, 2],
        [1, 3],
        [1, 4],
      ],
    });
    await bench.run(k, `${w}.1`);
    expect((await bench.available()).sort()).toEqual([`${w}.2`, `${w}.3`, `${w}.4`]);
  });

  it('A15: creating a task with continuations makes each of them wait for it', async () => {
    const { body } = await bench.call('POST', 'workflows', { spec: plainSpec });
    const tasks = [command, command, command];
    const edges = [{ parents: [1, 1], children: [2, 3], after: 'success' }];
    await bench.call('POST', `workflows/${body.id}/tasks`, { tasks, edges });
    await bench.call('POST', `workflows/${body.id}/close`);
    for (const index of [2, 3]) expect((await bench.task(`${body.id}.${index}`)).pendingDependencies).toBe(1);
  });

  it('A18: the field itself is read-only: a write to it is refused by name', async () => {
    const w = await bench.submit([command, held]);
    const { status, body } = await bench.call('PATCH', `tasks/${w}.1`, { continuations: [`${w}.2`] });
    expect([status, body.error.message]).toEqual([400, "'continuations' is read-only"]);
    expect((await bench.task(`${w}.1`)).continuations).toEqual([]);
  });

  it('from a parent that has ended are resolved at once; without the last edge a task is available', async () => {
    const w = await bench.submit([command, command, command], { edges: [[2, 3]] });
    await bench.run(k, `${w}.1`);
    await add(`${w}.1`, `${w}.3`);
    expect((await bench.task(`${w}.3`)).pendingDependencies).toBe(1);
    await remove(`${w}.2`, `${w}.3`);
    expect(await bench.available()).toEqual([`${w}.2`, `${w}.3`]);
  });

  it('can not go in a circle: that is refused, and the circle is named', async () => {
    const w = await bench.submit([held, command, command], {
      edges: [
        [1, 2],
        [2, 3],
      ],
    });
    const { status, body } = await add(`${w}.3`, `${w}.1`);
    expect([status, body.error.code]).toEqual([409, 'dependency-cycle']);
    expect(body.error.details.cycle).toEqual([`${w}.1`, `${w}.2`, `${w}.3`, `${w}.1`]);
  });

  it.each([[{}], [{ continuations: [] }], [{ continuations: ['nonsense'] }], [{ continuation: 'w1.2', colour: 1 }]])(
    'that make no sense are refused with 400: %j',
    async (body) => {
      const w = await bench.submit([command, held]);
      expect(await bench.call('POST', `tasks/${w}.1/add_continuations`, body)).toMatchObject({ status: 400 });
    },
  );
});

describe('a task', () => {
  it('A2: (wish) is found by its state; which indices make that fast is the affair of the store', async () => {
    const w = await bench.submit([command, held]);
    const { body } = await bench.call('GET', `workflows/${w}/tasks?state=queued`);
    expect(body.tasks).toMatchObject([{ id: `${w}.1` }]);
  });

  it('A14: is created inactive (held, or with dependencies) or available; no other state can be asked for', async () => {
    const w = await bench.submit([command, held, command], { edges: [[1, 3]] });
    expect(await bench.states(w)).toEqual(['queued', 'waiting', 'waiting']);
    const batch = { tasks: [{ command: 'x', state: 'running' }], edges: [] };
    expect(await bench.call('POST', 'workflows', { spec: plainSpec, batch })).toMatchObject({ status: 400 });
  });

  it('A16: without a command that becomes available releases its continuations and ends', async () => {
    const w = await bench.submit([{}, command], { edges: [[1, 2]] });
    await bench.eventually('both have moved', async () => (await bench.states(w)).join() === 'done,queued');
    expect((await bench.task(`${w}.1`)).history).toEqual([]);
  });
});
