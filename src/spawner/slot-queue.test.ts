import { describe, expect, it } from 'vitest';
import { outputTailBytesMax } from '../model/limits.ts';
import type { FromSpawner, QueueTask, StartTask, ToSpawner } from '../protocol/spawner.ts';
import { SlotQueue } from './slot-queue.ts';

const none = { bytes: 0, tail: '' };
const failure = { code: 'other', message: 'no', permanent: true } as const;

/** A queue with a hand that plays the spawner and the worker. */
class Bench {
  readonly starts: StartTask[] = [];
  readonly passed: ToSpawner[] = [];
  readonly told: FromSpawner[] = [];
  readonly forgotten: string[] = [];
  readonly queue: SlotQueue;
  /** Starts of these keys fail at once. */
  failing: readonly number[] = [];
  /** Starts are of time 1. */
  now = Number.POSITIVE_INFINITY;

  constructor(slots = 2) {
    this.queue = new SlotQueue({
      pass: (message) => (message.t === 'start' ? this.onStart(message) : this.passed.push(message)),
      forgetFile: (path) => this.forgotten.push(path),
      send: (message) => this.told.push(message),
      wake: () => {},
      now: () => this.now,
    });
    this.queue.handle({ t: 'slots', count: slots, directory: '/d' });
  }

  add(...keys: number[]): void {
    for (const key of keys) this.queue.handle(taskOf(key));
  }

  end(key: number, bytes = 0): void {
    const usage = { cpuMs: 0, wallMs: 1, at: 1, out: { bytes, tail: '' }, err: none };
    this.queue.onMessage({ t: 'ended', key, exit: 0, ...usage });
  }

  get keys(): number[] {
    return this.starts.map(({ key }) => key);
  }

  private onStart(start: StartTask): void {
    this.starts.push(start);
    const { key, stdout, stderr } = start;
    if (this.failing.includes(key)) return this.queue.onMessage({ t: 'failed', key, ...failure });
    const files = { stdout: stdout.path, stderr: stderr.path };
    this.queue.onMessage({ t: 'started', key, pid: key, at: 1, files });
  }
}

const taskOf = (key: number): QueueTask => ({
  ...{ t: 'queue', key, env: 1, vars: ['A=1'], command: 'true', shell: '/bin/sh', cwd: '/' },
});

describe('the queue of a spawner', () => {
  it('starts a task beside the slots at once, whatever waits, and keeps its output like that of others', () => {
    const bench = new Bench(1);
    bench.add(1, 2);
    bench.queue.handle({ ...taskOf(3), beside: { memoryBytes: 9 } });
    bench.queue.handle({ ...taskOf(4), beside: {} });
    expect(bench.keys).toEqual([1, 3, 4]);
    expect(bench.starts.map(({ memoryBytes }) => memoryBytes)).toEqual([undefined, 9, undefined]);
    expect(bench.starts.map(({ vars }) => vars.at(-2))).toEqual([1, 2, 3].map((slot) => `DROVER_SLOT=${slot}`));
    bench.end(3, outputTailBytesMax + 1);
    expect(bench.told).toMatchObject([{ t: 'ended', key: 3, files: { stdout: '/d/slot-2.0.out' } }]);
    expect(bench.keys).toEqual([1, 3, 4]);
    bench.end(1);
    expect(bench.keys).toEqual([1, 3, 4, 2]);
  });

  it('starts tasks in order as slots become free, with the files and the directory of the slot', () => {
    const bench = new Bench();
    bench.add(1, 2, 3, 4);
    expect(bench.keys).toEqual([1, 2]);
    bench.end(2);
    expect(bench.keys).toEqual([1, 2, 3]);
    expect(bench.starts[2]).toMatchObject({
      stdout: { path: '/d/slot-2.0.out', mode: 'reuse' },
      vars: ['A=1', 'DROVER_SLOT=2', 'DROVER_TASK_DIR=/d/scratch-2'],
      scratch: '/d/scratch-2',
    });
  });

  it('tells of a start only when it is time to, and of one that has ended since not at all', () => {
    const bench = new Bench();
    bench.add(1, 2);
    bench.end(1);
    expect(bench.told.map(({ t }) => t)).toEqual(['ended']);
    expect(bench.queue.takeStarts()).toMatchObject([{ t: 'started', key: 2 }]);
    expect(bench.queue.takeStarts()).toEqual([]);
  });

  it('holds back starts of short tasks while enough wait, until they have run for a while', () => {
    const bench = new Bench(1);
    bench.now = 50;
    bench.add(1, 2, 3);
    expect(bench.queue.isWellFed).toBe(true);
    expect(bench.queue.takeStarts()).toEqual([]);
    expect(bench.queue.hasUntold).toBe(true);
    bench.now = 61;
    expect(bench.queue.takeStarts()).toMatchObject([{ t: 'started', key: 1 }]);
    expect(bench.queue.hasUntold).toBe(false);
    bench.end(1);
    expect(bench.queue.isWellFed).toBe(false);
    bench.now = 2;
    expect(bench.queue.takeStarts()).toMatchObject([{ t: 'started', key: 2 }]);
  });

  it('drops what waits, by a drop, a kill or a stop; what runs is left to the spawner', () => {
    const bench = new Bench(1);
    bench.add(1, 2, 3, 4);
    const kill = (key: number) => ({ t: 'kill', key, how: 'kill', graceMs: 0, why: 'cancel' }) as const;
    bench.queue.handle({ t: 'drop', key: 2 });
    bench.queue.handle({ t: 'drop', key: 1 });
    bench.queue.handle(kill(3));
    bench.queue.handle(kill(1));
    bench.queue.handle({ t: 'stop', graceMs: 5 });
    expect(bench.told).toEqual([2, 3, 4].map((key) => ({ t: 'dropped', key })));
    expect(bench.passed).toEqual([kill(1), { t: 'stop', graceMs: 5 }]);
    bench.end(1);
    expect(bench.keys).toEqual([1]);
  });

  it('goes on after any number of starts that fail', () => {
    const bench = new Bench(1);
    bench.failing = Array.from({ length: 20_000 }, (_, at) => at + 2);
    bench.add(1, ...bench.failing, 20_002);
    bench.end(1);
    expect(bench.keys.at(-1)).toBe(20_002);
    expect(bench.told.filter(({ t }) => t === 'failed')).toHaveLength(20_000);
  });

  it('sets the files of a slot aside when there is more in them than was told', () => {
    const bench = new Bench(1);
    bench.add(1, 2);
    bench.end(1, outputTailBytesMax + 1);
    const files = { stdout: '/d/slot-1.0.out', stderr: '/d/slot-1.0.err' };
    expect(bench.told).toMatchObject([{ t: 'ended', key: 1, files }]);
    expect(bench.forgotten).toEqual([files.stdout, files.stderr]);
    expect(bench.starts[1]?.stdout.path).toBe('/d/slot-1.1.out');
  });

  it('starts no more than there are slots after these became fewer, and more after they became more', () => {
    const bench = new Bench(2);
    bench.add(1, 2, 3, 4, 5);
    bench.queue.handle({ t: 'slots', count: 1, directory: '/d' });
    bench.end(1);
    expect(bench.keys).toEqual([1, 2]);
    bench.end(2);
    expect(bench.keys).toEqual([1, 2, 3]);
    bench.queue.handle({ t: 'slots', count: 3, directory: '/d' });
    expect(bench.keys).toEqual([1, 2, 3, 4, 5]);
  });

  it('lets reports wait only while more wait than fit into the slots', () => {
    const bench = new Bench(2);
    bench.add(1, 2, 3, 4);
    expect(bench.queue.isWellFed).toBe(false);
    bench.add(5);
    expect(bench.queue.isWellFed).toBe(true);
  });

  it('leaves alone what is started beside the slots', () => {
    const bench = new Bench(1);
    bench.add(1);
    const { t: _, ...beside } = taskOf(-1);
    const file = { path: '/c', mode: 'truncate' } as const;
    bench.queue.handle({ ...beside, t: 'start', stdout: file, stderr: file });
    expect(bench.starts.at(-1)).toMatchObject({ key: -1, vars: ['A=1'] });
    expect(bench.told).toMatchObject([{ t: 'started', key: -1 }]);
  });
});
