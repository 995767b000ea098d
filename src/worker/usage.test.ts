import { describe, expect, it } from 'vitest';
import { usageLimits } from '../model/limits.ts';
import type { TaskSample } from '../protocol/spawner.ts';
import { decodeFromWorker, encodeFrames, type FromWorker } from '../protocol/worker.ts';
import { Bench, order, sent, toSpawner } from './bench.testing.ts';
import type { Effect } from './messages.ts';

type UsageMessage = Extract<FromWorker, { readonly t: 'usage' }>;

const usageIn = (effects: Effect[]): UsageMessage[] => sent(effects).filter((message) => message.t === 'usage');
const kindsIn = (effects: Effect[]): string[] => sent(effects).map(({ t }) => t);

/** A worker that runs two attempts for a controller that takes usage. */
function bench(takes: string[] = ['usage']): Bench {
  const here = new Bench(2);
  here.takes = takes;
  here.ready();
  here.run(order(1), order(2));
  here.started(1);
  here.started(2);
  return here;
}

const samples = (here: Bench, ...of: TaskSample[]): Effect[] =>
  here.step({ type: 'spawner', message: { t: 'usage', samples: of } });

const tickAt = (here: Bench, now: number): Effect[] => {
  here.now = now;
  return here.step({ type: 'tick' });
};

describe('what attempts use', () => {
  it('is told after a while, in one message for all of them', () => {
    const here = bench();
    const began = here.now;
    expect(usageIn(samples(here, [1, 'memory', 5, 100], [1, 'cpu', 5, 0.5]))).toEqual([]);
    here.now += 1_000;
    expect(usageIn(samples(here, [1, 'memory', 6, 200], [2, 'memory', 6, 300]))).toEqual([]);
    expect(here.worker.nextDeadline(here.now)).toBeLessThanOrEqual(began + usageLimits.workerBatchMs);
    const [message, ...more] = usageIn(tickAt(here, began + usageLimits.workerBatchMs));
    expect(more).toEqual([]);
    expect(message).toMatchObject({ scheduler: 'c', instance: 'i' });
    expect(message?.series).toEqual([
      {
        ...{ attempt: 1, metric: 'memory' },
        samples: [
          { at: 5, value: 100 },
          { at: 6, value: 200 },
        ],
      },
      { attempt: 1, metric: 'cpu', samples: [{ at: 5, value: 0.5 }] },
      { attempt: 2, metric: 'memory', samples: [{ at: 6, value: 300 }] },
    ]);
    expect(usageIn(tickAt(here, here.now + 60_000))).toEqual([]);
  });

  it('is told before the end of its attempt', () => {
    const here = bench();
    samples(here, [1, 'memory', 5, 100]);
    expect(kindsIn(here.ended(2))).not.toContain('usage');
    const kinds = kindsIn(here.ended(1));
    expect(kinds.indexOf('usage')).toBeGreaterThanOrEqual(0);
    expect(kinds.indexOf('usage')).toBeLessThan(kinds.indexOf('update'));
  });

  it('is not told to a controller that does not say that it takes it', () => {
    for (const takes of [[], ['something else']]) {
      const here = bench(takes);
      samples(here, [1, 'memory', 5, 100]);
      expect(kindsIn(here.ended(1))).toEqual(expect.not.arrayContaining(['usage']));
      expect(here.worker.nextDeadline(here.now)).toBeGreaterThan(here.now);
    }
  });

  it('is lost, and nothing else, while there is no link', () => {
    const here = bench();
    samples(here, [1, 'memory', 5, 100]);
    here.step({ type: 'disconnected' });
    tickAt(here, here.now + usageLimits.workerBatchMs);
    here.ended(1);
    here.step({ type: 'connected' });
    const kinds = kindsIn(here.reply('healthy'));
    expect(kinds).toContain('update');
    expect(kinds).not.toContain('usage');
  });

  it('is cut into messages of a limited size, which the controller takes', () => {
    const here = bench();
    const count = 2 * usageLimits.messageSamplesMax + 1;
    const many = Array.from({ length: count }, (_, at): TaskSample => [1 + (at % 2), 'cpu', at, at]);
    samples(here, ...many);
    const messages = usageIn(tickAt(here, here.now + usageLimits.workerBatchMs));
    expect(messages.map(({ series }) => series.reduce((sum, part) => sum + part.samples.length, 0))).toEqual([
      usageLimits.messageSamplesMax,
      usageLimits.messageSamplesMax,
      1,
    ]);
    for (const frame of encodeFrames(messages)) expect(decodeFromWorker(frame).length).toBeGreaterThan(0);
  });

  it('is held up to a limit', () => {
    const here = bench();
    samples(here, ...Array.from({ length: usageLimits.heldMax + 500 }, (_, at): TaskSample => [1, 'cpu', at, at]));
    const messages = usageIn(tickAt(here, here.now + usageLimits.workerBatchMs));
    expect(messages).toHaveLength(usageLimits.heldMax / usageLimits.messageSamplesMax);
  });

  it('is of no interest where it is that of a health check', () => {
    const here = bench();
    samples(here, [-1, 'memory', 5, 100]);
    expect(usageIn(tickAt(here, here.now + usageLimits.workerBatchMs))).toEqual([]);
  });
});

describe('the GPUs that attempts use', () => {
  const capacity = { queue: 'default', gpus: 3 };
  const uuids = ['GPU-aaaa-1', 'GPU-bbbb-2', 'GPU-cccc-3'];
  const readings = (...uses: number[]) => uses.map((use, at) => ({ index: String(at), uuid: uuids[at] ?? '', use }));
  const watching = (effects: Effect[]): boolean[] => effects.flatMap((e) => (e.type === 'watch-gpus' ? [e.isOn] : []));

  function start(gpuNames?: string[]): { readonly here: Bench; readonly effects: Effect[] } {
    const here = new Bench(4, false, { capacity, ...(gpuNames === undefined ? {} : { gpuNames }) });
    here.takes = ['usage'];
    here.ready();
    const effects = here.run(order(1, { need: { cpus: 1, gpus: 2 } }), order(2, { need: { cpus: 1, gpus: 1 } }));
    here.started(1);
    here.started(2);
    return { here, effects };
  }

  const seriesAfter = (here: Bench, uses: readonly number[]) => {
    const effects: Effect[] = [];
    for (let count = 0; count < 3; count++) {
      here.now += 2_000;
      effects.push(...here.step({ type: 'gpus', readings: readings(...uses) }));
    }
    const messages = usageIn([...effects, ...tickAt(here, here.now + usageLimits.workerBatchMs)]);
    return messages.flatMap(({ series }) => series.map((part) => [part.attempt, part.metric, part.samples[0]?.value]));
  };

  it('are watched as long as an attempt has some', () => {
    const { here, effects } = start();
    expect(watching(effects)).toEqual([true]);
    expect(toSpawner(effects).filter(({ t }) => t === 'queue')).toHaveLength(2);
    expect(watching(here.run(order(3)))).toEqual([]);
    expect([...watching(here.ended(1)), ...watching(here.ended(2))]).toEqual([false]);
  });

  it.each([
    ['numbers', undefined],
    ['UUIDs', uuids],
    ['the first characters of UUIDs', ['GPU-aaaa', 'GPU-bbbb', 'GPU-cccc']],
  ])('are those that each was given, by %s', (_, names) => {
    const { here } = start(names);
    expect(seriesAfter(here, [0.5, 0.25, 1])).toEqual([
      [1, 'gpu', 0.75],
      [2, 'gpu', 1],
    ]);
  });

  it('are unknown where nobody measures them', () => {
    const { here } = start(['MIG-1', 'MIG-2', 'MIG-3']);
    expect(seriesAfter(here, [0.5, 0.25, 1])).toEqual([]);
  });
});
