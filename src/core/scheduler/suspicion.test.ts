import { describe, expect, it } from 'vitest';
import { command, edge, Herd } from '../../../test/core/herd.ts';
import { type WorkerId, type WorkflowId, workerId } from '../../model/ids.ts';
import { suspicionMsMax } from '../../model/limits.ts';
import type { IndexedEdges } from '../workflow/registration.ts';

const [bad, good] = [workerId(1), workerId(2)];
const failed = { kind: 'exited', code: 1 } as const;

/** Two workers with four slots each, twelve tasks that may be tried once, and one behind them for each edge. */
class Bench extends Herd {
  readonly workflow: WorkflowId;

  constructor(maxAttempts = 1, edges: readonly IndexedEdges[] = []) {
    super(4);
    this.addWorker(4);
    this.workflow = this.submit(
      Array.from({ length: 12 + edges.length }, () => command),
      edges,
      { maxAttempts },
    );
    this.launch();
  }

  on(worker: WorkerId): number[] {
    const indices = Array.from({ length: 12 }, (_, at) => at + 1);
    return indices.filter((index) => this.isLive(index) && this.workerOf(this.workflow, index) === worker);
  }

  private isLive(index: number): boolean {
    return ['launched', 'running'].includes(this.state(this.workflow, index));
  }

  endOn(worker: WorkerId, outcome: Parameters<Herd['end']>[2], count = 1): number[] {
    const indices = this.on(worker).slice(0, count);
    for (const index of indices) this.end(this.workflow, index, outcome);
    return indices;
  }

  get bar(): string | undefined {
    return this.cluster.workers.get(bad)?.bar?.kind;
  }
}

describe('a worker on which one task after another fails, while others succeed', () => {
  it('is quarantined when one of these tasks succeeds elsewhere, and all that failed there is forgiven', () => {
    const bench = new Bench();
    bench.endOn(good, undefined);
    const victims = bench.endOn(bad, failed, 4);
    // The first two were charged before anything was suspected; the third is tried elsewhere, the fourth waits.
    expect(victims.map((index) => bench.state(bench.workflow, index))).toEqual([
      ...['failed', 'failed', 'queued', 'triaging'],
    ]);
    bench.launch();
    const [, , trial = 0] = victims;
    expect(bench.workerOf(bench.workflow, trial)).toBe(good);
    bench.end(bench.workflow, trial);
    expect(bench.bar).toBe('quarantined');
    expect(victims.map((index) => bench.state(bench.workflow, index))).toEqual([
      ...['queued', 'queued', 'done', 'queued'],
    ]);
    const { tasks } = bench.cluster;
    for (const index of victims) expect(tasks.used(bench.task(bench.workflow, index), 'attempts')).toBe(0);
  });

  it('gets no more tasks', () => {
    const bench = new Bench();
    bench.endOn(good, undefined);
    const [, , trial = 0] = bench.endOn(bad, failed, 3);
    bench.launch();
    bench.end(bench.workflow, trial);
    bench.endOn(bad, undefined, 4);
    bench.launch();
    expect(bench.on(bad)).toEqual([]);
    bench.finish(bench.workflow);
    expect(new Set(bench.states(bench.workflow))).toEqual(new Set(['done']));
  });

  it('is suspected, too, when all that failed there was charged before anybody did better', () => {
    const bench = new Bench();
    const victims = bench.endOn(bad, failed, 4);
    expect(bench.states(bench.workflow).filter((state) => state === 'failed')).toHaveLength(4);
    bench.endOn(good, undefined);
    const trial = victims.at(-1) ?? 0;
    bench.launch();
    expect(bench.workerOf(bench.workflow, trial)).toBe(good);
    bench.end(bench.workflow, trial);
    expect(bench.bar).toBe('quarantined');
    bench.launch();
    bench.finish(bench.workflow);
    expect(new Set(bench.states(bench.workflow))).toEqual(new Set(['done']));
  });

  it('costs nothing to those who waited for what failed there', () => {
    const bench = new Bench(1, [edge(1, 13)]);
    bench.endOn(good, undefined);
    const [first, , trial = 0] = bench.endOn(bad, failed, 3);
    expect([first, bench.state(bench.workflow, 13)]).toEqual([1, 'cancelled']);
    bench.launch();
    bench.end(bench.workflow, trial);
    expect(bench.state(bench.workflow, 13)).toBe('waiting');
    bench.finish(bench.workflow);
    expect(new Set(bench.states(bench.workflow))).toEqual(new Set(['done']));
  });

  it('stays as an operator has set it: a quarantine, which may end by itself, does not take its place', () => {
    const bench = new Bench();
    bench.endOn(good, undefined);
    const [, , trial = 0] = bench.endOn(bad, failed, 3);
    bench.launch();
    const bar = { kind: 'stopping', why: 'by command' } as const;
    bench.turn((turn) => turn.emit({ type: 'worker-barred', worker: bad, bar }));
    bench.end(bench.workflow, trial);
    expect(bench.bar).toBe('stopping');
  });

  it('is cleared when the task fails elsewhere, too: then all are charged', () => {
    const bench = new Bench();
    bench.endOn(good, undefined);
    const victims = bench.endOn(bad, failed, 4);
    bench.launch();
    bench.end(bench.workflow, victims[2] ?? 0, failed);
    expect(bench.bar).toBeUndefined();
    expect(victims.map((index) => bench.state(bench.workflow, index))).toEqual(Array(4).fill('failed'));
  });

  it('is cleared by a success of its own, or when the trial takes too long', () => {
    const own = new Bench();
    own.endOn(good, undefined);
    const victims = own.endOn(bad, failed, 3);
    own.endOn(bad, undefined);
    expect(own.cluster.suspects.size).toBe(0);
    expect(own.state(own.workflow, victims[0] ?? 0)).toBe('failed');
    const slow = new Bench();
    slow.endOn(good, undefined);
    const [, , , last = 0] = slow.endOn(bad, failed, 4);
    slow.pass(suspicionMsMax);
    expect(slow.state(slow.workflow, last)).toBe('failed');
  });

  it('has what it cost given back to tasks that are tried again already', () => {
    const bench = new Bench(3);
    bench.endOn(good, undefined);
    const victims = bench.endOn(bad, failed, 3);
    const first = bench.task(bench.workflow, victims[0] ?? 0);
    expect(bench.cluster.tasks.used(first, 'attempts')).toBe(1);
    bench.launch();
    bench.end(bench.workflow, victims[2] ?? 0);
    expect(bench.cluster.tasks.used(first, 'attempts')).toBe(0);
  });
});

describe('nobody is suspected', () => {
  it('when everything fails everywhere, or when there is no other worker', () => {
    const everywhere = new Bench();
    everywhere.endOn(bad, failed, 4);
    everywhere.endOn(good, failed, 4);
    expect(everywhere.states(everywhere.workflow).filter((state) => state === 'failed')).toHaveLength(8);
    const alone = new Herd(4);
    const workflow = alone.submit(Array.from({ length: 4 }, () => command));
    alone.launch();
    for (const index of [1, 2, 3, 4]) alone.end(workflow, index, failed);
    expect(alone.states(workflow)).toEqual(Array(4).fill('failed'));
  });
});
