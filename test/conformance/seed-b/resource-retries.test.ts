/** What becomes of a task that ran out of what it was given: the eight steps of a resource retry, and its rows. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../seed-a/bench.ts';

let bench: Bench;
let k: string;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  k = await bench.worker();
});

afterEach(() => bench.stop());

const hungry = { command: 'x', resources: { memoryBytes: 100, runtimeMs: 60_000 } };

interface Row {
  readonly kind: string;
  readonly active: boolean;
  readonly resources: { readonly memoryBytes?: number; readonly runtimeMs?: number };
  readonly resource?: string;
  readonly attempt?: string;
  readonly attempts: readonly { readonly attempt: string }[];
}

const rowsOf = async (task: string): Promise<Row[]> => (await bench.call('GET', `tasks/${task}/resources`)).body.rows;
const memory = (rows: readonly Row[]) => rows.map(({ kind, resources: { memoryBytes } }) => [kind, memoryBytes]);

interface Event {
  readonly type: string;
  readonly task?: string;
  readonly outcome?: { readonly kind: string };
}

describe('a task that ran out of memory', () => {
  it('B34: is told by its worker to have done so, apart from other bad ends, and that is stored', async () => {
    const w = await bench.submit([{ command: 'x' }, { command: 'y' }]);
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.2`, { exit_status: 137 });
    await bench.restart();
    const ends = await Promise.all([1, 2].map(async (index) => (await bench.task(`${w}.${index}`)).outcome));
    expect(ends).toEqual([
      { kind: 'resource', resource: 'memory' },
      { kind: 'exited', code: 137 },
    ]);
  });

  it('B35: is among all that has changed since one last asked, and is told once', async () => {
    const w = await bench.submit([{ command: 'x' }, { command: 'y' }]);
    const since = async (cursor: string): Promise<{ events: Event[]; next: string }> =>
      (await bench.call('GET', `events?limit=1000&cursor=${cursor}`)).body;
    const { next } = await since('0');
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.2`);
    const news = await since(next);
    const ends = news.events.filter(({ type }) => type === 'attempt-ended');
    expect(ends.map(({ task, outcome }) => `${task} ${outcome?.kind}`)).toEqual([
      `${w}.1 resource`,
      `${w}.2 succeeded`,
    ]);
    expect((await since(news.next)).events).toEqual([]);
  });
});

describe('a task that ran out of what it asked for', () => {
  it('B31, B36: is tried again with more of it, through adjusting, until its retries are used up', async () => {
    const w = await bench.submit([hungry]);
    for (let attempt = 1; attempt <= 6; attempt++) await bench.run(k, `${w}.1`, { resource: 'memory' });
    expect(await bench.task(`${w}.1`)).toMatchObject({ state: 'failed', reason: 'resources', attempts: 6 });
    expect((await rowsOf(`${w}.1`)).filter(({ kind }) => kind === 'adjusted')).toHaveLength(5);
    const { events } = (await bench.call('GET', 'events?limit=1000&cursor=0')).body as { events: Event[] };
    const moves = events.filter(({ type }) => type === 'task-changed' || type === 'need-adjusted');
    const told = JSON.stringify(moves);
    expect(told.match(/"adjusting"/g)).toHaveLength(5);
    expect(told.match(/"need-adjusted"/g)).toHaveLength(5);
  });

  it('B32, B37: has the rows requested and validated, and one more for each time; the last is active', async () => {
    const w = await bench.submit([hungry]);
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.1`, { resource: 'runtime' });
    const rows = await rowsOf(`${w}.1`);
    expect(memory(rows)).toEqual([
      ['requested', 100],
      ['validated', 100],
      ['adjusted', 150],
      ['adjusted', 150],
    ]);
    expect(rows.map(({ resources: { runtimeMs } }) => runtimeMs)).toEqual([60_000, 60_000, 60_000, 90_000]);
    expect(rows.map(({ active }) => active)).toEqual([false, false, false, true]);
    expect(rows.slice(2).map(({ resource, attempt }) => [resource, attempt])).toEqual([
      ['memory', `${w}.1#1`],
      ['runtime', `${w}.1#2`],
    ]);
    expect(await bench.task(`${w}.1`)).toMatchObject({ state: 'queued' });
  });

  it('B33: is told in the end what it should have asked for', async () => {
    const w = await bench.submit([hungry]);
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.1`);
    expect(await bench.task(`${w}.1`)).toMatchObject({
      state: 'done',
      requestedResources: { memoryBytes: 100 },
      resources: { memoryBytes: 150 },
    });
  });

  it('B38: gets a new attempt, which refers to the raised values', async () => {
    const w = await bench.submit([hungry]);
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.1`);
    const { history } = (await bench.call('GET', `tasks/${w}.1`)).body as {
      history: { id: string; resources: { memoryBytes: number } }[];
    };
    expect(history.map(({ id, resources: { memoryBytes } }) => [id, memoryBytes])).toEqual([
      [`${w}.1#1`, 100],
      [`${w}.1#2`, 150],
    ]);
    const rows = await rowsOf(`${w}.1`);
    expect(rows.map(({ attempts }) => attempts.map(({ attempt }) => attempt))).toEqual([
      [],
      [`${w}.1#1`],
      [`${w}.1#2`],
    ]);
  });

  it('B39: has its rows, with those of all tasks of its workflow, in one answer', async () => {
    const w = await bench.submit([hungry, hungry, { command: 'y' }]);
    await bench.run(k, `${w}.2`, { resource: 'memory' });
    const { tasks } = (await bench.call('GET', `workflows/${w}/resources`)).body as {
      tasks: { task: string; rows: Row[] }[];
    };
    expect(tasks.map(({ task, rows }) => [task, rows.map(({ kind }) => kind)])).toEqual([
      [`${w}.1`, ['requested', 'validated']],
      [`${w}.2`, ['requested', 'validated', 'adjusted']],
      [`${w}.3`, expect.any(Array)],
    ]);
  });
});
