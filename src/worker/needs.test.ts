import { describe, expect, it } from 'vitest';
import { startAheadMs } from '../model/limits.ts';
import type { OrderNeed } from '../protocol/worker.ts';
import { Bench, order, outcomes, starts, toSpawner } from './bench.testing.ts';

const needing = (attempt: number, need: OrderNeed) => order(attempt, { need });
const capacity = { queue: 'default', memoryBytes: 1_000, gpus: 2, pools: { disk: 2 } };
const bench = (slots = 4): Bench => new Bench(slots, false, { capacity }).ready();
const queued = (effects: Parameters<typeof toSpawner>[0]) => toSpawner(effects).filter((m) => m.t === 'queue');

describe('attempts with a need', () => {
  it('are started when they fit beside all that runs, in the order in which they came', () => {
    const here = bench();
    const orders = [needing(1, { cpus: 3 }), needing(2, { cpus: 2 }), order(3), needing(4, { cpus: 1 })];
    expect(starts(here.run(...orders))).toEqual([1]);
    expect(starts(here.ended(1))).toEqual([2, 3, 4]);
  });

  it('wait for plain ones that came before, and keep those waiting that came later', () => {
    const here = bench(2);
    expect(starts(here.run(order(1), order(2), order(3), needing(4, { cpus: 2 }), order(5)))).toEqual([1, 2]);
    expect(starts(here.ended(1))).toEqual([3]);
    expect(starts(here.ended(2))).toEqual([]);
    expect(starts(here.ended(3))).toEqual([4]);
    expect(starts(here.ended(4))).toEqual([5]);
  });

  it('go beside the slots, with the memory that they may use; plain ones go into the slots', () => {
    const here = bench();
    const messages = queued(here.run(needing(1, { cpus: 1, memoryBytes: 500 }), needing(2, { cpus: 0.5 }), order(3)));
    expect(messages.map(({ beside }) => beside)).toEqual([{ memoryBytes: 500 }, {}, undefined]);
  });

  it('end the sending ahead of slots as long as one of them is here', () => {
    const here = bench(2);
    here.wallMs = startAheadMs / 2;
    here.run(order(1), order(2), order(3));
    expect(starts(here.ended(1))).toEqual([3]);
    const many = Array.from({ length: 20 }, (_, at) => order(at + 10));
    expect(starts(here.run(needing(4, { cpus: 1 }), ...many))).toEqual([]);
    expect(starts(here.ended(2))).toEqual([4]);
    expect(starts(here.ended(3))).toEqual([10]);
    expect(starts(here.ended(4)).length).toBeGreaterThan(3);
  });

  it.each<[string, OrderNeed, string]>([
    ['processors', { cpus: 5 }, 'it needs 5 cpus, its worker has 4 cpus'],
    ['memory', { cpus: 1, memoryBytes: 1_001 }, 'it needs 1001 bytes of memory, its worker has 1000 bytes of memory'],
    ['GPUs', { cpus: 1, gpus: 3 }, 'it needs 3 GPUs, its worker has 2 GPUs'],
    ['a pool', { cpus: 1, pools: { tape: 1 } }, 'it needs 1 of the pool tape, its worker has 0 of the pool tape'],
  ])('for which there are never enough %s are refused, and hold up nobody', (_, need, message) => {
    const here = bench();
    const effects = here.run(needing(1, need), needing(2, { cpus: 1 }));
    expect(outcomes(effects)).toEqual([[1, { kind: 'never-started', why: 'refused', message }]]);
    expect(starts(effects)).toEqual([2]);
  });

  it('follow the number of slots as it changes', () => {
    const here = bench(2);
    expect(starts(here.run(needing(1, { cpus: 2 }), needing(2, { cpus: 2 })))).toEqual([1]);
    const slots = (count: number) => here.tell({ t: 'slots', instance: 'i', slots: count });
    expect(starts(slots(4))).toEqual([2]);
    here.run(needing(3, { cpus: 1 }));
    slots(3);
    expect(starts(here.ended(1))).toEqual([3]);
  });

  it('give back what they took however they end', () => {
    const here = bench();
    const next = (attempt: number) => needing(attempt, { cpus: 4, memoryBytes: 1_000, gpus: 2, pools: { disk: 2 } });
    expect(starts(here.run(next(1), next(2), next(3), next(4), next(5), next(6)))).toEqual([1]);
    expect(starts(here.step({ type: 'spawner', message: { t: 'dropped', key: 1 } }))).toEqual([2]);
    const failed = { t: 'failed', key: 2, code: 'other', message: 'no', permanent: true } as const;
    expect(starts(here.step({ type: 'spawner', message: failed }))).toEqual([3]);
    expect(starts(here.tell({ t: 'kill', attempts: [4], why: 'cancel' }))).toEqual([]);
    here.step({ type: 'spawner-gone' });
    const ready = { t: 'ready', pid: 2, launcher: 'posix_spawn' } as const;
    expect(starts(here.step({ type: 'spawner', message: ready }))).toEqual([5]);
    expect(starts(here.ended(5))).toEqual([6]);
  });

  it('that were taken back while they waited hold up nobody', () => {
    const here = bench();
    here.run(order(1), needing(2, { cpus: 4 }), order(3));
    expect(starts(here.tell({ t: 'retract', attempts: [2] }))).toEqual([3]);
  });

  it('are told what they have; who did not ask for a GPU has none', () => {
    const here = new Bench(4, false, { capacity, gpuNames: ['3', 'GPU-b'] }).ready();
    const effects = here.run(needing(1, { cpus: 0.5, memoryBytes: 7, gpus: 2 }), needing(2, { cpus: 2 }), order(3));
    const [environment] = toSpawner(effects).filter((m) => m.t === 'env');
    expect(environment?.env).toContain('CUDA_VISIBLE_DEVICES=');
    const vars = queued(effects).map((message) => message.vars.slice(5));
    expect(vars).toEqual([
      ['DROVER_CPUS=0.5', 'DROVER_MEMORY_BYTES=7', 'DROVER_GPUS=2', 'CUDA_VISIBLE_DEVICES=3,GPU-b'],
      ['DROVER_CPUS=2'],
      [],
    ]);
    const [plain] = toSpawner(new Bench().ready().run(order(1))).filter((m) => m.t === 'env');
    expect(plain?.env.join()).not.toContain('CUDA');
  });
});

describe('a time limit', () => {
  it.each([
    ['that it asked for', { need: { cpus: 1, runtimeMs: 500 } }, 'runtime', undefined],
    ['of its definer', { timeoutMs: 500 }, 'timeout', 'timeout'],
    ['that it asked for, before that of its definer', { need: { cpus: 1, runtimeMs: 500 }, timeoutMs: 600 }, 'runtime'],
    [
      'of its definer, before what it asked for',
      { need: { cpus: 1, runtimeMs: 600 }, timeoutMs: 500 },
      'timeout',
      'timeout',
    ],
  ])('%s ends an attempt, and says whose it was', (_, changed, why, by?: string) => {
    const here = bench();
    here.run(order(1, changed));
    here.started(1);
    here.now += 499;
    expect(toSpawner(here.step({ type: 'tick' }))).toEqual([]);
    here.now += 1;
    const kill = { t: 'kill', key: 1, how: 'term-kill', graceMs: 700, why };
    expect(toSpawner(here.step({ type: 'tick' }))).toEqual([kill]);
    const end = here.ended(1, { signal: 9, signalled: { why, killed: true } });
    expect(outcomes(end)).toEqual([[1, { kind: 'resource', resource: 'runtime', ...(by ? { by } : {}) }]]);
  });
});

it.each([
  [
    { signal: 9, outOfMemory: 'task' },
    { kind: 'resource', resource: 'memory' },
  ],
  [
    { exit: 3, outOfMemory: 'task' },
    { kind: 'resource', resource: 'memory' },
  ],
  [
    { signal: 9, outOfMemory: 'machine' },
    { kind: 'resource', resource: 'memory', by: 'machine' },
  ],
  [{ signal: 9 }, { kind: 'signalled', signal: 9 }],
  [{ exit: 137 }, { kind: 'exited', code: 137 }],
  [{ signal: 9, signalled: { why: 'cancel', killed: true } }, { kind: 'cancelled' }],
])('an end %j is told as what it was', (how, outcome) => {
  const here = bench();
  here.run(order(1));
  here.started(1);
  expect(outcomes(here.ended(1, how))).toEqual([[1, outcome]]);
});
