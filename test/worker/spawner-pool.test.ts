import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FromSpawner, QueueTask, ToSpawner } from '../../src/protocol/spawner.ts';
import { SlotQueue } from '../../src/spawner/slot-queue.ts';
import type { SpawnerHandle, SpawnerListener } from '../../src/worker/shell.ts';
import { SpawnerPool } from '../../src/worker/spawner-pool.ts';
import { madeUp } from '../set-up/made-up.ts';

const none = { bytes: 0, tail: '' };
const taskOf = (key: number): QueueTask => ({
  ...{ t: 'queue', key, env: 1, vars: [], command: 'true', shell: '/bin/sh', cwd: '/' },
});

/** A spawner with the real queue, whose tasks run until they are told to end; pipes are delivered by hand. */
class Spawner implements SpawnerHandle {
  readonly inbox: ToSpawner[] = [];
  readonly outbox: FromSpawner[] = [];
  readonly seen: ToSpawner[] = [];
  readonly running = new Map<number, string>();
  isKilled = false;
  readonly #listener: SpawnerListener;
  readonly #queue: SlotQueue;

  constructor(listener: SpawnerListener, onStart: (key: number) => void) {
    this.#listener = listener;
    this.#queue = new SlotQueue({
      pass: (message) => {
        if (message.t === 'ping') this.outbox.push({ t: 'pong' });
        if (message.t === 'kill' && this.running.has(message.key)) this.end(message.key);
        if (message.t !== 'start') return;
        const slot = message.vars.find((entry) => entry.startsWith('DROVER_SLOT=')) ?? '';
        this.running.set(message.key, slot);
        onStart(message.key);
        const files = { stdout: message.stdout.path, stderr: message.stderr.path };
        this.#queue.onMessage({ t: 'started', key: message.key, pid: 1, at: 1, files });
      },
      forgetFile: () => {},
      send: (message) => this.outbox.push(message),
      wake: () => {},
      now: () => Number.POSITIVE_INFINITY,
    });
  }

  send(messages: readonly ToSpawner[]): void {
    this.inbox.push(...messages);
    this.seen.push(...messages);
  }

  kill(): void {
    this.isKilled = true;
  }

  die(): void {
    this.#listener.onGone();
  }

  end(key: number): void {
    this.running.delete(key);
    const usage = { cpuMs: 0, wallMs: 1, at: 1, out: none, err: none };
    this.#queue.onMessage({ t: 'ended', key, exit: 0, ...usage });
  }

  read(): void {
    for (const message of this.inbox.splice(0)) this.#queue.handle(message);
  }

  write(): void {
    const messages = [...this.outbox.splice(0), ...this.#queue.takeStarts()];
    if (messages.length > 0) this.#listener.onMessages(messages);
  }
}

class Bench {
  readonly told: FromSpawner[] = [];
  readonly starts: number[] = [];
  gone = 0;
  readonly pool: SpawnerPool<Spawner>;

  constructor(count: number, slots: number) {
    this.pool = new SpawnerPool(count, (listener) => new Spawner(listener, (key) => this.starts.push(key)), {
      onMessages: (messages) => this.told.push(...messages),
      onGone: () => this.gone++,
    });
    this.pool.send([{ t: 'slots', count: slots, directory: '/d' }]);
    this.flow();
  }

  get spawners(): readonly Spawner[] {
    return this.pool.handles;
  }

  /** Until nothing is on its way. */
  flow(): void {
    for (let moved = true; moved; ) {
      moved = this.spawners.some(({ inbox, outbox }) => inbox.length + outbox.length > 0);
      for (const spawner of this.spawners) {
        spawner.read();
        spawner.write();
      }
    }
  }

  add(...keys: number[]): void {
    this.pool.send(keys.map(taskOf));
  }

  keysOf(type: FromSpawner['t']): number[] {
    return this.told.flatMap((message) => (message.t === type && 'key' in message ? [message.key] : []));
  }
}

describe('several spawners', () => {
  it('share the slots, each with numbers of its own, and the tasks', () => {
    const bench = new Bench(2, 5);
    bench.add(1, 2, 3, 4, 5);
    bench.flow();
    expect(bench.spawners.map(({ running }) => running.size)).toEqual([3, 2]);
    const slots = bench.spawners.flatMap(({ running }) => [...running.values()]).sort();
    expect(slots).toEqual([1, 2, 3, 4, 5].map((slot) => `DROVER_SLOT=${slot}`));
  });

  it('hand what waits with one to another that has a free slot', () => {
    const bench = new Bench(2, 2);
    bench.add(1, 2, 3, 4);
    bench.flow();
    expect(bench.spawners.map(({ running }) => [...running.keys()])).toEqual([[1], [2]]);
    bench.spawners[1]?.end(2);
    bench.flow();
    bench.spawners[1]?.end(4);
    bench.flow();
    expect(bench.spawners.map(({ running }) => [...running.keys()])).toEqual([[1], [3]]);
    expect([bench.keysOf('dropped'), bench.starts]).toEqual([[], [1, 2, 4, 3]]);
  });

  it('drop for good what the worker takes back, though it was about to move', () => {
    const bench = new Bench(2, 2);
    bench.add(1, 2, 3);
    bench.flow();
    bench.spawners[1]?.end(2);
    bench.spawners[1]?.write();
    expect(bench.spawners[0]?.inbox).toEqual([{ t: 'drop', key: 3 }]);
    bench.pool.send([{ t: 'drop', key: 3 }]);
    bench.flow();
    expect([bench.keysOf('dropped'), bench.starts]).toEqual([[3], [1, 2]]);
  });

  it('share tasks beside the slots, kill them where they are, and keep all slots for others', () => {
    const bench = new Bench(2, 2);
    bench.pool.send([1, 2, 3, 4].map((key) => ({ ...taskOf(key), beside: {} })));
    bench.add(5, 6);
    bench.flow();
    expect(bench.spawners.map(({ running }) => [...running.keys()])).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
    const slots = bench.spawners.flatMap(({ running }) => [...running.values()]);
    expect(new Set(slots).size).toBe(6);
    bench.pool.send([{ t: 'kill', key: 4, how: 'kill', graceMs: 0, why: 'cancel' }]);
    bench.flow();
    expect([bench.keysOf('ended'), bench.spawners[1]?.running.size]).toEqual([[4], 2]);
  });

  it('are ready, and answer, when all of them are and do', () => {
    const bench = new Bench(2, 2);
    const [one, other] = bench.spawners;
    const ready = { t: 'ready', pid: 1, launcher: 'node' } as const;
    one?.outbox.push(ready);
    one?.write();
    expect(bench.told).toEqual([]);
    other?.outbox.push(ready);
    other?.write();
    expect(bench.told).toEqual([ready]);
    bench.pool.send([{ t: 'ping' }]);
    one?.read();
    one?.write();
    expect(bench.told).toHaveLength(1);
    bench.flow();
    expect(bench.told).toEqual([ready, { t: 'pong' }]);
  });

  it('are all told of environments and of the deadline; one of them runs health checks', () => {
    const bench = new Bench(2, 2);
    const file = { path: '/c', mode: 'truncate' } as const;
    const { t: _, ...check } = taskOf(-1);
    bench.pool.send([
      { t: 'env', id: 1, env: [] },
      { t: 'renew', ms: 5 },
      { ...check, t: 'start', stdout: file, stderr: file },
    ]);
    expect(bench.spawners.map(({ seen }) => seen.map(({ t }) => t))).toEqual([
      ['slots', 'env', 'renew', 'start'],
      ['slots', 'env', 'renew'],
    ]);
  });

  it('are gone when one of them is, and the others were killed; one that retires may end alone', () => {
    const bench = new Bench(2, 2);
    bench.spawners[0]?.die();
    expect([bench.gone, bench.spawners[1]?.isKilled]).toEqual([0, true]);
    bench.spawners[1]?.die();
    expect(bench.gone).toBe(1);
    const retired = new Bench(2, 2);
    retired.pool.retire();
    retired.spawners[0]?.die();
    expect(retired.spawners[1]?.isKilled).toBe(false);
  });

  it('start every task once, or drop it, whatever order messages come in, and leave no slot free while one waits', () => {
    const action = fc.record({ type: fc.nat(6), at: fc.nat(2), pick: fc.nat(1_000) });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), fc.integer({ min: 1, max: 7 }), (actions, slots) => {
        const bench = new Bench(3, slots);
        let last = 0;
        for (const { type, at, pick } of actions) {
          const spawner = bench.spawners[at] as Spawner;
          const key = [...spawner.running.keys()][pick % Math.max(1, spawner.running.size)];
          if (type <= 1) bench.add(++last);
          else if (type === 2) spawner.read();
          else if (type === 3) spawner.write();
          else if (type === 4 && key !== undefined) spawner.end(key);
          else if (type === 5 && last > 0) bench.pool.send([{ t: 'drop', key: 1 + (pick % last) }]);
          else if (type === 6 && last > 0) {
            bench.pool.send([{ t: 'kill', key: 1 + (pick % last), how: 'kill', graceMs: 0, why: 'cancel' }]);
          }
        }
        bench.flow();
        const running = bench.spawners.reduce((sum, spawner) => sum + spawner.running.size, 0);
        const over = [...bench.keysOf('ended'), ...bench.keysOf('dropped')];
        expect(new Set(over).size).toBe(over.length);
        expect(running).toBe(Math.min(slots, last - over.length));
        expect(new Set(bench.starts).size).toBe(bench.starts.length);
        expect(bench.keysOf('dropped').filter((key) => bench.starts.includes(key))).toEqual([]);
      }),
      madeUp(300),
    );
  });
});
