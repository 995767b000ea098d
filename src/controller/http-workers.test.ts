/** The reactor's side of workers over HTTP: turns by hand, with a clock that stands still. */
import { describe, expect, it } from 'vitest';
import { plainSpec as spec } from '../../test/controller/spec.ts';
import { Cluster } from '../core/cluster.ts';
import { checkInvariants } from '../core/invariants.ts';
import type { DroverError } from '../model/errors.ts';
import { attemptId, taskId, type WorkerId, workerId } from '../model/ids.ts';
import type { Outcome } from '../model/outcome.ts';
import { presets, type Timeouts } from '../model/timeouts.ts';
import { loadCluster } from '../store/load.ts';
import { MemoryDisk } from '../store/memory/store.ts';
import type { Store } from '../store/store.ts';
import type { Reply, Request, StepResult } from './messages.ts';
import { Controller, defaultSettings } from './reactor.ts';

const { heartbeatMs, heartbeatGraceMs, loseAfterMs, marginMs } = presets.interactive;
const leaseMs = heartbeatMs + heartbeatGraceMs + loseAfterMs;
const k1 = workerId(1);
const task = taskId(1);

class Bench {
  readonly #disk = new MemoryDisk('g');
  #store: Store = this.#disk.open();
  cluster = new Cluster();
  controller = this.#controllerOf(this.cluster);
  now = 100_000;
  last: StepResult | undefined;
  #tickets = 0;

  #controllerOf(cluster: Cluster, timeouts: Timeouts = presets.interactive): Controller {
    const start = { scheduler: 'c1', generation: 'g', versionAtStart: 0, outputEnd: { file: 0, length: 0 } };
    return new Controller({ cluster, ...start, settings: { ...defaultSettings, timeouts } });
  }

  /** From what was committed. */
  async restart(timeouts: Timeouts = presets.interactive): Promise<void> {
    this.#store = this.#disk.open();
    this.cluster = await loadCluster(this.#store, this.now);
    this.controller = this.#controllerOf(this.cluster, timeouts);
  }

  async ask(...requests: Request[]): Promise<(Reply | DroverError)[]> {
    const tickets = requests.map(() => ++this.#tickets);
    const inputs = requests.map((request, at) => ({
      type: 'request' as const,
      ticket: tickets[at] as number,
      request,
    }));
    const result = this.controller.step(inputs, this.now);
    this.last = result;
    checkInvariants(this.cluster);
    const { effects, writes: _, isUnfinished: __, spare: ___, ...batch } = result;
    await this.#store.commit(batch);
    return tickets.map((ticket) => {
      const effect = effects.find((one) => 'ticket' in one && one.ticket === ticket);
      if (effect?.type === 'reply') return effect.reply;
      if (effect?.type === 'refuse') return effect.error;
      throw new Error(`request ${ticket} has no answer`);
    });
  }

  /** A workflow of so many tasks, and a worker. */
  async begin(tasks = 1): Promise<void> {
    const batch = { tasks: Array.from({ length: tasks }, () => ({ command: 'x' })), edges: [] };
    await this.ask({ type: 'submit', spec, batch });
    await this.join();
  }

  join(): Promise<(Reply | DroverError)[]> {
    return this.ask({ type: 'join-http', name: 'w', host: 'h', slots: 5, owner: 't1' });
  }

  /** Time passes, as far as the controller wants to be woken in it. */
  async pass(ms: number): Promise<void> {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, Math.max(this.now + 1, this.controller.nextDeadline(this.now)));
      await this.ask();
    }
  }

  state(id = task): string {
    return this.cluster.tasks.state(id);
  }
}

const claim = (worker: WorkerId, id = task): Request => ({ type: 'claim-task', worker, task: id });
const renew = (worker: WorkerId, ...numbers: number[]): Request => ({
  type: 'renew-leases',
  worker,
  attempts: numbers.length === 0 ? undefined : numbers.map((id) => ({ task: taskId(id), number: 1 })),
});
const end = (worker: WorkerId, outcome: Outcome, number?: number): Request => ({
  ...{ type: 'end-claimed', worker, task, number, end: { outcome } },
});
const succeeded: Outcome = { kind: 'succeeded' };

describe('claims', () => {
  it('A21: of one turn are decided one after the other, and made durable together', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.join();
    const answers = await bench.ask(claim(k1), claim(workerId(2)), claim(k1));
    expect(answers).toMatchObject([
      { type: 'claimed' },
      { code: 'task-not-available' },
      { code: 'task-not-available' },
    ]);
    const recorded = bench.last?.changes.filter(({ type }) => type === 'attempt-recorded');
    expect(recorded).toHaveLength(1);
  });

  it('are refused to workers that are unknown or gone', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.ask({ type: 'leave-http', worker: k1 });
    const answers = await bench.ask(claim(k1), claim(workerId(9)), { type: 'claim-next', worker: k1, most: 1 });
    expect(answers.map((answer) => 'code' in answer && answer.code)).toEqual(new Array(3).fill('worker-unknown'));
    expect(bench.state()).toBe('queued');
  });
});

describe('a lease', () => {
  it('is over after its time and a margin, not before: then what it covered is lost, and its worker gone', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.ask(claim(k1));
    await bench.pass(leaseMs + marginMs - 1);
    expect([bench.state(), bench.cluster.liveWorkers.size]).toEqual(['running', 1]);
    await bench.pass(1);
    expect([bench.state(), bench.cluster.liveWorkers.size]).toEqual(['queued', 0]);
    expect(bench.cluster.tasks.used(task, 'lost')).toBe(1);
  });

  it('is counted anew from each heartbeat, of all attempts or of those that are named', async () => {
    const bench = new Bench();
    await bench.begin(2);
    await bench.ask({ type: 'claim-next', worker: k1, most: 2 });
    await bench.pass(leaseMs);
    await bench.ask(renew(k1));
    await bench.pass(leaseMs);
    await bench.ask(renew(k1, 1));
    await bench.pass(leaseMs);
    expect([bench.state(), bench.state(taskId(2))]).toEqual(['running', 'queued']);
    const [answer] = await bench.ask(renew(k1, 1, 2));
    expect(answer).toMatchObject({ cancel: [{ attempt: 'w1.2#1', why: 'gone' }], attempts: ['w1.1#1'] });
  });

  it('is whole again after a restart', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.ask(claim(k1));
    await bench.pass(leaseMs);
    await bench.restart();
    await bench.pass(leaseMs + marginMs - 1);
    expect(bench.state()).toBe('running');
    await bench.pass(1);
    expect(bench.state()).toBe('queued');
  });

  it('is as long as its worker was told, though the controller that follows has shorter ones', async () => {
    const bench = new Bench();
    await bench.restart(presets.cluster);
    await bench.begin();
    await bench.ask(claim(k1));
    await bench.restart();
    await bench.pass(500_000);
    expect(bench.state()).toBe('running');
    await bench.pass(200_000);
    expect(bench.state()).toBe('queued');
  });

  it('is not told before it is durable that it is longer than any before', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.restart(presets.cluster);
    const [answer] = await bench.ask(renew(k1));
    expect(answer).toMatchObject({ leaseMs: 575_000 });
    expect(bench.last?.changes).toEqual([{ type: 'worker-patience', worker: k1, silenceMs: 575_000 }]);
  });
});

describe('the end of a claimed attempt', () => {
  it('is taken once, from its worker alone, of that attempt alone', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.join();
    await bench.ask(claim(k1));
    const notLive = { type: 'not-live' };
    expect(await bench.ask(end(workerId(2), succeeded), end(k1, succeeded, 2))).toEqual([notLive, notLive]);
    expect(bench.state()).toBe('running');
    expect(await bench.ask(end(k1, succeeded, 1))).toEqual([{ type: 'ended', attempt: 1 }]);
    expect(await bench.ask(end(k1, { kind: 'exited', code: 1 }, 1))).toEqual([notLive]);
    expect(bench.state()).toBe('done');
  });

  it('replaces a loss as long as there is no other attempt', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.ask(claim(k1));
    await bench.pass(leaseMs + marginMs);
    expect(await bench.ask(end(k1, succeeded))).toEqual([{ type: 'ended', attempt: 1 }]);
    expect(bench.state()).toBe('done');
  });

  it('may come in the turn of another claim, and frees its slot', async () => {
    const bench = new Bench();
    await bench.begin(6);
    await bench.ask({ type: 'claim-next', worker: k1, most: 5 });
    const [, answer] = await bench.ask(end(k1, succeeded, 1), { type: 'claim-next', worker: k1, most: 5 });
    expect(answer).toMatchObject({ claims: [{ task: 6 }] });
  });
});

describe('output', () => {
  const append = (offset: number, text: string): Request => ({
    ...{ type: 'append-output', worker: k1, attempt: attemptId(1), stream: 'stdout', offset, data: Buffer.from(text) },
  });

  it('is kept without gaps and without repetitions, also within one turn', async () => {
    const bench = new Bench();
    await bench.begin();
    await bench.ask(claim(k1));
    const answers = await bench.ask(append(0, 'abc'), append(0, 'abc'), append(2, 'cde'), append(9, 'x'));
    expect(answers).toMatchObject([{ length: 3 }, { length: 3 }, { length: 5 }, { details: { expected: 5 } }]);
    const kept = bench.last?.output.map(({ offset, length }) => [offset, length]);
    expect(kept).toEqual([
      [0, 3],
      [3, 2],
    ]);
  });
});
