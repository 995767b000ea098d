import { describe, expect, it } from 'vitest';
import { Herd } from '../../../test/core/herd.ts';
import { plainNeed } from '../../model/need.ts';
import { capacityOfQueue, couldHold } from './queues.ts';

const gib = 1024 ** 3;

function zoo(): Herd {
  const herd = new Herd(4);
  herd.addWorker(8, 'native', { queue: 'big', memoryBytes: 16 * gib, gpus: 1, endsAt: herd.now + 60_000 });
  herd.addWorker(2, 'native', { queue: 'big', memoryBytes: 64 * gib, pools: { scratch: 2 } });
  return herd;
}

describe('the capacity of a queue', () => {
  it('is the most of each resource that one of its live workers has', () => {
    const { cluster, now } = zoo();
    const none = { gpus: 0, pools: {}, runtimeMs: Number.POSITIVE_INFINITY };
    expect(capacityOfQueue(cluster, 'default', now)).toEqual({
      cpus: 4,
      memoryBytes: Number.POSITIVE_INFINITY,
      ...none,
    });
    const most = {
      cpus: 8,
      memoryBytes: 64 * gib,
      gpus: 1,
      pools: { scratch: 2 },
      runtimeMs: Number.POSITIVE_INFINITY,
    };
    expect(capacityOfQueue(cluster, 'big', now)).toEqual(most);
    expect(capacityOfQueue(cluster, 'none', now)).toBeUndefined();
  });
});

describe('a need', () => {
  const big = { ...plainNeed, queue: 'big' };

  it('could be held where one worker has all of it', () => {
    const { cluster, now } = zoo();
    expect(couldHold(cluster, plainNeed, now)).toEqual({ ok: true });
    expect(couldHold(cluster, { ...big, cpus: 2, memoryBytes: 64 * gib }, now)).toEqual({ ok: true });
    expect(couldHold(cluster, { ...big, gpus: 1, runtimeMs: 60_000 }, now)).toEqual({ ok: true });
  });

  it('that nobody could hold is told what the nearest worker lacks', () => {
    const { cluster, now } = zoo();
    const lacks = (need: object) => {
      const holding = couldHold(cluster, { ...big, ...need }, now);
      return holding.ok ? undefined : holding.lacks;
    };
    expect(lacks({ memoryBytes: 100 * gib })).toBe(
      "asks for 100.0 GiB of memory; the largest worker of queue 'big', k3 on host h, has 64.0 GiB",
    );
    expect(lacks({ cpus: 4, memoryBytes: 32 * gib })).toContain('k2 on host h, has 16.0 GiB');
    expect(lacks({ gpus: 1, runtimeMs: 61_000 })).toContain('asks for 1m 1s of time');
    expect(lacks({ pools: { scratch: 3 } })).toContain('asks for 3 of scratch');
    expect(lacks({ queue: 'default', gpus: 1 })).toContain('asks for 1 gpu; ');
    expect(lacks({ queue: 'default', gpus: 2 })).toContain('asks for 2 gpus; ');
    expect(lacks({ queue: 'none' })).toBe("asks for queue 'none', which no worker has");
  });
});
