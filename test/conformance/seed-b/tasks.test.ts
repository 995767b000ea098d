/** A task and its attempts: B5, B10, B11, B13, B14, B18–B23, B41. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { retryTask } from '../../../src/core/task/retrying.ts';
import type { Outcome } from '../../../src/model/outcome.ts';
import { command, Herd } from '../../core/herd.ts';
import { Bench } from '../seed-a/bench.ts';

let bench: Bench;
let k: string;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  k = await bench.worker();
});

afterEach(() => bench.stop());

interface Event {
  readonly type: string;
  readonly task?: string;
  readonly to?: string;
}
const events = async (w: string): Promise<Event[]> =>
  (await bench.call('GET', `events?limit=1000&where=${encodeURIComponent(`workflow=${w}`)}`)).body.events;
/** The states that a task went through. */
const way = async (w: string, task: string): Promise<string[]> =>
  (await events(w)).filter((event) => event.type === 'task-changed' && event.task === task).map(({ to = '' }) => to);

const exits = (code: number): Outcome => ({ kind: 'exited', code });

describe('a task', () => {
  it('B5: moves as its attempt does, and its workflow with it', async () => {
    const w = await bench.submit([{ command: 'x' }]);
    await bench.claim(k, `${w}.1`);
    expect((await bench.task(`${w}.1`)).history).toMatchObject([{ state: 'running' }]);
    expect(await bench.state(`${w}.1`)).toBe('running');
    await bench.end(k, `${w}.1`);
    expect(await way(w, `${w}.1`)).toEqual(['running', 'done']);
    const moves = (await events(w)).filter(({ type }) => type === 'workflow-moved').map(({ to }) => to);
    expect(moves.at(-1)).toBe('done');
  });

  it('B13: is nothing to a worker before it is queued; the worker asks, and gets nothing', async () => {
    const w = await bench.submit([{ command: 'x' }, { command: 'y' }], { edges: [[1, 2]] });
    expect(await bench.available()).toEqual([`${w}.1`]);
    expect(await bench.claim(k, `${w}.2`)).toMatchObject({ status: 409 });
    await bench.claim(k, `${w}.1`);
    expect((await bench.call('POST', `workers/${k}/claims`, {})).body.claims).toEqual([]);
    await bench.end(k, `${w}.1`);
    expect(await bench.available()).toEqual([`${w}.2`]);
  });

  it('B18, B19: is recorded as an attempt, then with its worker, and only that makes it run', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    expect(herd.state(w, 1)).toBe('launched');
    const attempt = herd.cluster.tasks.lastAttempt(herd.task(w, 1));
    expect(herd.cluster.attempts.get(attempt ?? (0 as never))).toMatchObject({ state: 'recorded', worker: 1 });
    herd.start(w, 1);
    expect(herd.state(w, 1)).toBe('running');
  });

  it('B20, B21: runs, and is done when all of it ended well', async () => {
    const w = await bench.submit([{ command: 'x' }]);
    expect((await bench.claim(k, `${w}.1`)).status).toBe(200);
    expect(await bench.state(`${w}.1`)).toBe('running');
    expect((await bench.end(k, `${w}.1`)).body.state).toBe('done');
  });

  it('B10, B22: that ended badly is triaged, and the controller decides who is next: here, whoever claims it', async () => {
    const w = await bench.submit([{ command: 'x' }], { maxAttempts: 2 });
    await bench.run(k, `${w}.1`, { exit_status: 1 });
    expect(await way(w, `${w}.1`)).toEqual(['running', 'triaging', 'queued']);
    expect(await bench.task(`${w}.1`)).toMatchObject({ state: 'queued', notBefore: expect.any(String) });
  });

  it('B11, B23: that has used up its attempts has failed, and with it its workflow', async () => {
    const w = await bench.submit([{ command: 'x' }]);
    await bench.run(k, `${w}.1`, { exit_status: 1 });
    expect(await way(w, `${w}.1`)).toEqual(['running', 'triaging', 'failed']);
    expect(await bench.task(`${w}.1`)).toMatchObject({ state: 'failed', reason: 'attempts' });
    expect((await bench.call('GET', `workflows/${w}`)).body.state).toBe('failed');
    expect(await bench.available()).toEqual([]);
  });

  it.each<[Outcome['kind'], Outcome, string]>([
    ['succeeded', { kind: 'succeeded' }, 'done'],
    ['exited', exits(3), 'queued'],
    ['signalled', { kind: 'signalled', signal: 11 }, 'queued'],
    ['resource', { kind: 'resource', resource: 'memory' }, 'queued'],
    ['lost', { kind: 'lost', what: 'cylinder' }, 'queued'],
    ['never-started', { kind: 'never-started', why: 'unable', message: '' }, 'queued'],
    ['cancelled', { kind: 'cancelled' }, 'queued'],
  ])('B14: is told to go on or what went wrong by every way in which an attempt can end: %s', (_, outcome, state) => {
    const herd = new Herd();
    const w = herd.submit([command], [], { maxAttempts: 3 });
    herd.launch();
    herd.start(w, 1);
    expect(herd.end(w, 1, outcome)).toBe(true);
    expect(herd.state(w, 1)).toBe(state);
  });

  it('B14: whose worker dies without a word is lost with it, and that is told, too', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.start(w, 1);
    herd.loseWorker();
    expect(herd.state(w, 1)).toBe('queued');
    expect(herd.cluster.tasks.used(herd.task(w, 1), 'lost')).toBe(1);
  });

  it('B41: (wish) has a new attempt only when the end of the last one is certain', () => {
    const herd = new Herd();
    const w = herd.submit([command], [], { maxAttempts: 5 });
    const retry = () => herd.turn((turn) => retryTask(turn, herd.task(w, 1)));
    herd.launch();
    herd.start(w, 1);
    retry();
    herd.launch();
    expect(herd.cluster.lastAttempt).toBe(1);
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer'));
    expect(retry).toThrow('its last attempt has not ended yet');
    herd.end(w, 1, { kind: 'cancelled', signal: 15 });
    retry();
    herd.launch();
    expect([herd.state(w, 1), herd.cluster.lastAttempt]).toEqual(['launched', 2]);
  });
});
