import { describe, expect, it } from 'vitest';
import { defaultQueue, type Exhaustible, type Need } from '../../model/need.ts';
import { type Adjustment, adjust, type Capacities } from './adjusting.ts';

const MB = 1_000_000;
const endless: Capacities = { lacksOf: () => undefined, most: () => Number.POSITIVE_INFINITY };

/** Queues by the memory and the walltime of their only worker. */
function queues(sizes: Readonly<Record<string, { readonly memory?: number; readonly runtime?: number }>>): Capacities {
  const most = (queue: string, resource: Exhaustible): number =>
    sizes[queue] === undefined ? 0 : (sizes[queue][resource] ?? Number.POSITIVE_INFINITY);
  return {
    most,
    lacksOf: ({ queue, memoryBytes = 0, runtimeMs = 0 }) =>
      memoryBytes <= most(queue, 'memory') && runtimeMs <= most(queue, 'runtime') && sizes[queue] !== undefined
        ? undefined
        : `queue ${queue} has less`,
  };
}

const need: Need = { queue: defaultQueue, cpus: 2, memoryBytes: 100 * MB, runtimeMs: 1_000 };

function series(first: Need, resource: Exhaustible, capacities: Capacities, times: number): Adjustment[] {
  const found: Adjustment[] = [];
  for (let present = first; found.length < times; ) {
    const next = adjust(present, resource, capacities);
    found.push(next);
    present = next.need;
  }
  return found;
}

describe('adjusting', () => {
  it('B31: raises by half of what there is, each time from the present value, in whole bytes', () => {
    const raised = series(need, 'memory', endless, 3);
    expect(raised.map((one) => one.need.memoryBytes)).toEqual([150 * MB, 225 * MB, 337_500_000]);
    expect(raised.map((one) => one.why)).toEqual([
      'memory 100 MB → 150 MB (×1.5)',
      'memory 150 MB → 225 MB (×1.5)',
      'memory 225 MB → 338 MB (×1.5)',
    ]);
    expect(adjust({ ...need, memoryBytes: 3 }, 'memory', endless).need.memoryBytes).toBe(5);
    expect(adjust({ ...need, memoryBytes: 1, scales: { memory: 1.001 } }, 'memory', endless).need.memoryBytes).toBe(2);
    expect(adjust({ ...need, memoryBytes: 100, scales: { memory: 1.1 } }, 'memory', endless).need.memoryBytes).toBe(
      110,
    );
  });

  it('B31: raises exactly what ran out', () => {
    expect(adjust(need, 'memory', endless).need).toEqual({ ...need, memoryBytes: 150 * MB });
    expect(adjust(need, 'runtime', endless).need).toEqual({ ...need, runtimeMs: 1_500 });
  });

  it('takes the next larger one of a list of values, and ends with the last', () => {
    const listed: Need = { ...need, scales: { memory: [400 * MB, 50 * MB, 120 * MB], runtime: 3 } };
    const steps = series(listed, 'memory', endless, 3);
    expect(steps.map((one) => [one.kind, one.need.memoryBytes])).toEqual([
      ['raised', 120 * MB],
      ['raised', 400 * MB],
      ['impossible', 400 * MB],
    ]);
    expect(steps[2]?.why).toContain('the last value');
    expect(adjust(listed, 'runtime', endless).need.runtimeMs).toBe(3_000);
  });

  it('goes to all that the largest worker of its queue has before it goes elsewhere', () => {
    const capacities = queues({
      [defaultQueue]: { memory: 200 * MB },
      big: { memory: 250 * MB },
      huge: { memory: 9e9 },
    });
    const first: Need = { ...need, fallbacks: ['small', 'big', 'huge'] };
    const steps = series(first, 'memory', capacities, 5);
    expect(steps.map((one) => [one.kind, one.need.queue, one.need.memoryBytes, one.need.fallbacks])).toEqual([
      ['raised', 'default', 150 * MB, ['small', 'big', 'huge']],
      ['raised', 'default', 200 * MB, ['small', 'big', 'huge']],
      ['raised', 'huge', 300 * MB, undefined],
      ['raised', 'huge', 450 * MB, undefined],
      ['raised', 'huge', 675 * MB, undefined],
    ]);
    expect(steps[1]?.why).toBe("memory 150 MB → 200 MB (all that a worker of queue 'default' has)");
    expect(steps[2]?.why).toContain("in queue 'huge'");
  });

  it('says what would be needed where nobody has it', () => {
    const capacities = queues({ [defaultQueue]: { memory: 100 * MB }, big: { memory: 120 * MB } });
    const { kind, need: wanted, why } = adjust({ ...need, fallbacks: ['big'] }, 'memory', capacities);
    expect([kind, wanted.memoryBytes, wanted.queue]).toEqual(['impossible', 150 * MB, 'default']);
    expect(why).toBe("memory 100 MB → 150 MB (×1.5): queue default has less; nor has queue 'big'");
  });

  it('waits in its queue where the worker that it ran on has gone', () => {
    expect(adjust(need, 'memory', queues({}))).toMatchObject({ kind: 'raised', need: { memoryBytes: 150 * MB } });
    const smaller = queues({ [defaultQueue]: { memory: 10 * MB } });
    expect(adjust(need, 'memory', smaller)).toMatchObject({ kind: 'raised', need: { queue: defaultQueue } });
  });
});
