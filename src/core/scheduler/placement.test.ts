import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { command, edge, Herd } from '../../../test/core/herd.ts';
import { madeUp } from '../../../test/set-up/made-up.ts';
import type { Capacity } from '../../model/capacity.ts';
import { type WorkflowId, workerId } from '../../model/ids.ts';
import { prefetchMs, reserveAfterMs } from '../../model/limits.ts';
import { type Need, plainNeed } from '../../model/need.ts';
import type { TaskSeed } from '../change.ts';
import { isOver } from '../resources/room.ts';
import { endAttempt } from '../task/ending.ts';
import type { WorkerRecord } from '../worker.ts';
import { overdueAttempts } from './rebalance.ts';

const needing = (need: Partial<Need>, more: Partial<TaskSeed> = {}): TaskSeed => ({
  ...{ kind: 'command', need: { ...plainNeed, ...need } },
  ...more,
});
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

class Yard extends Herd {
  worker(id = 1): WorkerRecord {
    return this.cluster.workers.get(workerId(id)) as WorkerRecord;
  }

  /** The indices of what runs, in the order in which it was placed. */
  placed(workflow: WorkflowId, id = 1): number[] {
    const { attempts, tasks } = this.cluster;
    return [...this.worker(id).attempts].flatMap((attempt) => {
      const task = attempts.get(attempt)?.task;
      return task !== undefined && tasks.workflow(task) === workflow ? [tasks.index(task)] : [];
    });
  }

  endOldest(id = 1): void {
    const [attempt] = this.worker(id).attempts;
    if (attempt === undefined) return;
    this.turn((turn) => endAttempt(turn, { attempt, worker: workerId(id), outcome: { kind: 'succeeded' } }));
  }

  /** Places, and ends the oldest, until nothing is left; returns in which order tasks were placed. */
  drain(workflow: WorkflowId): number[] {
    const order: number[] = [];
    for (;;) {
      const before = new Set(this.placed(workflow));
      this.launch();
      order.push(...this.placed(workflow).filter((index) => !before.has(index)));
      for (const worker of this.cluster.liveWorkers.values()) expect(isOver(worker.room, worker.load)).toBe(false);
      if (this.worker().attempts.size === 0) return order;
      this.endOldest();
    }
  }
}

describe('a worker', () => {
  it('is filled by whole vectors, and never beyond one of them', () => {
    const yard = new Yard(4, { queue: 'default', memoryBytes: 1_000, gpus: 1, pools: { scratch: 2 } });
    const w = yard.submit([
      ...[needing({ memoryBytes: 600 }), needing({ memoryBytes: 600 }), needing({ gpus: 1 }), needing({ gpus: 1 })],
      ...[needing({ cpus: 0.5, pools: { scratch: 1.5 } }), needing({ cpus: 0.5, pools: { scratch: 1 } })],
      needing({ cpus: 0.25, pools: { scratch: 0.5 } }),
    ]);
    yard.launch();
    expect(yard.placed(w).sort()).toEqual([1, 3, 5, 7]);
    yard.end(w, 1);
    yard.launch();
    expect(yard.placed(w)).toContain(2);
  });

  it('gets no task of another queue, and none that would outlast it', () => {
    const yard = new Yard(8, { queue: 'big', endsAt: 61_000 });
    const seeds = [command, needing({ queue: 'big' }), needing({ queue: 'big', runtimeMs: 60_000 })];
    const w = yard.submit([...seeds, needing({ queue: 'big', runtimeMs: 60_001 })]);
    yard.launch();
    expect(yard.placed(w).sort()).toEqual([2, 3]);
    yard.turn((turn) => turn.emit({ type: 'worker-refitted', worker: workerId(1), capacity: { queue: 'big' } }));
    yard.launch();
    expect(yard.placed(w).sort()).toEqual([2, 3, 4]);
  });

  it('holds 8 tasks of 1.5 processors, 4 of 3 and 40 of 0.5 in 4 slots, and the large ones do not come last', () => {
    const yard = new Yard(4);
    const w = yard.submit([
      ...times(40, needing({ cpus: 0.5 })),
      ...times(8, needing({ cpus: 1.5 })),
      ...times(4, needing({ cpus: 3 })),
    ]);
    const order = yard.drain(w);
    expect(order).toHaveLength(52);
    expect(order.indexOf(52)).toBeLessThan(order.indexOf(40));
    expect(order.slice(0, 2)).toEqual([49, 1]);
  });

  it('gets ahead what fits it when it is empty, by the same time for all that it has', () => {
    const yard = new Yard(4, { queue: 'default', memoryBytes: 1_000 });
    yard.worker().averageMs = prefetchMs;
    const w = yard.submit([...times(10, needing({ memoryBytes: 500 })), needing({ cpus: 5 })]);
    yard.launch();
    // Two fit; as much again is sent ahead.
    expect(yard.placed(w)).toEqual([1, 2, 3, 4]);
    expect(overdueAttempts(yard.cluster, yard.now + 60_000)).toEqual([]);
    yard.addWorker(4, 'native', { queue: 'default', memoryBytes: 500 });
    expect(overdueAttempts(yard.cluster, yard.now + 60_000)).toEqual([4]);
  });
});

describe('what is sent ahead', () => {
  it('is nothing that goes before a larger task of its workflow, for which there is no room yet', () => {
    const yard = new Yard(4);
    // For one slot more than there are.
    yard.worker().averageMs = 4 * prefetchMs;
    const w = yard.submit([...times(10, needing({ cpus: 0.5 })), ...times(2, needing({ cpus: 3 }))]);
    yard.launch();
    expect(yard.placed(w)).toEqual([11, 1, 2]);
    yard.end(w, 1);
    yard.launch();
    expect(yard.placed(w)).toEqual([11, 2, 3]);
    yard.end(w, 11);
    yard.launch();
    // With the last large one placed, others may go ahead again.
    expect(yard.placed(w)).toEqual([2, 3, 12, 4, 5]);
  });

  it('is, when the larger one went elsewhere meanwhile, sent with the next room', () => {
    const yard = new Yard(4);
    yard.addWorker(3);
    yard.submit(times(7, command));
    yard.launch();
    // All slots are taken; one has room ahead for a small task only, the other one for the large one.
    for (const [id, averageMs] of [[1, 4 * prefetchMs] as const, [2, prefetchMs] as const]) {
      yard.worker(id).averageMs = averageMs;
      yard.cluster.candidates.noteRoom(yard.worker(id));
    }
    const w = yard.submit([...times(4, needing({ cpus: 0.5 })), needing({ cpus: 3 })]);
    yard.launch();
    expect([yard.placed(w, 1), yard.placed(w, 2)]).toEqual([[], [5]]);
    yard.endOldest(1);
    yard.launch();
    expect(yard.placed(w, 1)).toEqual([1, 2, 3, 4]);
  });

  it('is what fits of other workflows', () => {
    const yard = new Yard(4);
    yard.worker().averageMs = 4 * prefetchMs;
    const large = yard.submit(times(2, needing({ cpus: 3 })));
    const small = yard.submit(times(10, needing({ cpus: 0.5 })));
    yard.launch();
    expect([yard.placed(large), yard.placed(small)]).toEqual([[1], [1, 2, 3, 4]]);
  });
});

describe('the order', () => {
  it('is by priority, then what unblocks more, then what takes more, then as defined', () => {
    const yard = new Yard(100, { queue: 'default', memoryBytes: 1_000 });
    const w = yard.submit(
      [
        ...[command, needing({ memoryBytes: 20 }), needing({ cpus: 0.5 }), needing({ memoryBytes: 20 })],
        ...[needing({ cpus: 0.5 }, { priority: 1 }), needing({ cpus: 0.5 }), command, command],
      ],
      [edge(6, 8), edge(7, 8)],
    );
    // 6 and 7 unblock 8; of these 7 is larger.
    yard.launch();
    expect(yard.placed(w)).toEqual([5, 7, 6, 2, 4, 1, 3]);
  });

  it('follows a priority that changes while a task is queued', () => {
    const yard = new Yard(1);
    const w = yard.submit(times(4, command));
    const prioritise = (index: number, priority: number) =>
      yard.turn((turn) => turn.mustTask(yard.task(w, index), { type: 'prioritise', priority }, 'definer'));
    prioritise(3, 5);
    prioritise(4, 7);
    prioritise(4, -7);
    expect(yard.drain(w)).toEqual([3, 1, 2, 4]);
  });

  it('between workflows is by the highest priority of a ready task, then in turns', () => {
    const yard = new Yard(1);
    const plain = yard.submit(times(3, command));
    const other = yard.submit([needing({ cpus: 0.5 }), needing({ cpus: 0.5 }), needing({}, { priority: 1 })]);
    const order: string[] = [];
    for (let round = 0; round < 6; round++) {
      yard.launch();
      const placed = [...yard.worker().attempts].map((id) => yard.cluster.attempts.get(id)?.task as never);
      for (const task of placed) order.push(`${yard.cluster.tasks.workflow(task)}.${yard.cluster.tasks.index(task)}`);
      while (yard.worker().attempts.size > 0) yard.endOldest();
    }
    expect(order).toEqual([`${other}.3`, `${plain}.1`, `${other}.1`, `${other}.2`, `${plain}.2`, `${plain}.3`]);
  });
});

describe('a need for which there is no room', () => {
  it('is looked at again when there is, and by nobody before', () => {
    const yard = new Yard(2);
    const w = yard.submit([command, needing({ cpus: 2 })]);
    yard.launch();
    expect([yard.placed(w), yard.cluster.lanes.now.stuck.size]).toEqual([[2], 1]);
    yard.endOldest();
    expect(yard.cluster.lanes.now.open.size).toBe(1);
    yard.launch();
    expect(yard.placed(w)).toEqual([1]);
  });

  it('waits for a worker that is large enough to come, or to grow', () => {
    const yard = new Yard(2);
    const w = yard.submit([needing({ cpus: 3 }), needing({ cpus: 3 })]);
    yard.launch();
    yard.turn((turn) => turn.emit({ type: 'worker-resized', worker: workerId(1), slots: 3 }));
    yard.addWorker(3);
    yard.launch();
    expect([yard.placed(w), yard.placed(w, 2)]).toEqual([[1], [2]]);
  });

  it('gets a worker reserved when others keep taking it, also against a stream of another workflow', () => {
    const yard = new Yard(4);
    const stream = yard.submit(times(2_000, command));
    yard.launch();
    const large = yard.submit([needing({ cpus: 4 }, { priority: -1 })]);
    let steps = 0;
    for (; yard.placed(large).length === 0; steps++) {
      yard.now += 100;
      yard.endOldest();
      yard.launch();
    }
    expect(steps).toBeLessThanOrEqual(reserveAfterMs / 100 + 5);
    expect(yard.worker().reservedFor).toBeUndefined();
    yard.endOldest();
    yard.launch();
    expect(yard.placed(stream)).toHaveLength(4);
  });

  it('keeps nobody reserved when it is gone, or its worker is', () => {
    const yard = new Yard(2);
    yard.submit(times(100, command));
    yard.launch();
    const large = yard.submit([needing({ cpus: 2 })]);
    const passUntilReserved = () => {
      for (const end = yard.now + 2 * reserveAfterMs; yard.cluster.lanes.reserving.size === 0 && yard.now < end; ) {
        yard.now += 500;
        yard.endOldest();
        yard.launch();
      }
      return yard.cluster.lanes.reserving.size;
    };
    expect(passUntilReserved()).toBe(1);
    const bar = { kind: 'drained', why: 'by command' } as const;
    yard.turn((turn) => turn.emit({ type: 'worker-barred', worker: workerId(1), bar }));
    yard.launch();
    expect([yard.cluster.lanes.reserving.size, yard.worker().reservedFor]).toEqual([0, undefined]);
    yard.turn((turn) => turn.emit({ type: 'worker-barred', worker: workerId(1) }));
    yard.launch();
    expect(passUntilReserved()).toBe(1);
    yard.turn((turn) => turn.mustTask(yard.task(large, 1), { type: 'cancel', reason: 'user' }, 'definer'));
    yard.launch();
    expect([yard.cluster.lanes.reserving.size, yard.worker().attempts.size]).toEqual([0, 2]);
  });
});

const amount = fc.constantFrom(0.1, 0.3, 0.5, 1, 1.5, 2, 3);
const needs: fc.Arbitrary<TaskSeed> = fc
  .record({ cpus: amount, memory: fc.nat(10), gpus: fc.constantFrom(0, 0, 0, 1), pool: amount, priority: fc.nat(2) })
  .map(({ cpus, memory, gpus, pool, priority }) =>
    needing({ cpus, memoryBytes: memory * 100, gpus, pools: { p: pool } }, { priority }),
  );
const capacity: fc.Arbitrary<Capacity> = fc
  .record({ memory: fc.nat(20), gpus: fc.nat(1), pool: fc.nat(4) })
  .map(({ memory, gpus, pool }) => ({ queue: 'default', memoryBytes: memory * 100, gpus, pools: { p: pool } }));

it('whatever tasks need and workers have, all of them run in the end, none beside more than fits', () => {
  const workers = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), capacity), { maxLength: 4 });
  const largest: Capacity = { queue: 'default', memoryBytes: 1_000, gpus: 1, pools: { p: 3 } };
  fc.assert(
    fc.property(workers, fc.array(needs, { maxLength: 40 }), fc.nat(), (others, seeds, pick) => {
      const yard = new Yard(3, largest);
      for (const [slots, has] of others) yard.addWorker(slots, 'native', has);
      const w = yard.submit(seeds);
      for (let round = 0; yard.cluster.workflow(w).unended > 0; round++) {
        yard.now += 1_000;
        yard.launch();
        for (const worker of yard.cluster.liveWorkers.values()) expect(isOver(worker.room, worker.load)).toBe(false);
        const busy = [...yard.cluster.liveWorkers.values()].filter(({ attempts }) => attempts.size > 0);
        const one = busy[(pick + round) % Math.max(1, busy.length)];
        expect(one).toBeDefined();
        if (one !== undefined) yard.endOldest(one.id);
      }
    }),
    madeUp(150),
  );
});
