import { describe, expect, it } from 'vitest';
import { Bench } from '../bench.ts';
import type { Host } from '../host.ts';

function launched(): { bench: Bench; host: Host } {
  const bench = new Bench();
  const host = bench.ready();
  bench.submit();
  return { bench, host };
}

function running(): { bench: Bench; host: Host } {
  const { bench, host } = launched();
  bench.flow();
  return { bench, host };
}

describe('seed E: running tasks', () => {
  it('E19: for the worker a task is running from its order until its end was acknowledged', () => {
    const { bench, host } = launched();
    expect(host.worker.held.has(1)).toBe(false);
    bench.deliverUntil(host, 'worker');
    expect(host.worker.held.has(1)).toBe(true);
    host.endTask(1, 0, bench.now);
    bench.deliverUntil(host, 'controller');
    expect([bench.task(1), host.worker.held.has(1)]).toEqual(['done', true]);
    bench.deliverUntil(host, 'worker');
    expect(host.worker.held.has(1)).toBe(false);
  });

  it('E20, E26: for the controller it is running before the order is sent, and until an update of either kind', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit(2);
    expect(bench.onWay(host)).toContain('run');
    expect([...bench.record(host).attempts]).toEqual([1, 2]);
    expect([...bench.disk.load(bench.now).attempts.keys()]).toEqual([1, 2]);
    const run = bench.take(host, 'run');
    bench.hand(host, { ...run, orders: run.orders.slice(0, 1) });
    bench.cut(host);
    bench.connect(host);
    host.endTask(1, 0, bench.now);
    bench.flow();
    expect(bench.task(1)).toBe('done');
    // The second never arrived: a was-not-running ended it, and it runs as another attempt.
    expect([...bench.record(host).attempts]).toEqual([3]);
  });

  it('E20: and it is so until its worker is lost', () => {
    const { bench, host } = running();
    bench.kill(host);
    bench.pass(17_900);
    expect([...bench.record(host).attempts]).toEqual([1]);
    bench.pass(200);
    expect(bench.record(host).attempts.size).toBe(0);
  });

  it('E21: an order is sent once: it is never repeated, and if it comes twice it starts once', () => {
    const { bench, host } = launched();
    const run = bench.take(host, 'run');
    bench.hand(host, run);
    bench.hand(host, run);
    bench.pass(10_000);
    host.endTask(1, 0, bench.now);
    bench.flow();
    bench.hand(host, run);
    bench.pass(10_000);
    expect([bench.started, bench.task(1)]).toEqual([[1], 'done']);
  });

  it('E23: an update says that a task has ended, or that it was not running', () => {
    const { bench, host } = running();
    host.endTask(1, 3, bench.now);
    expect(bench.takeBack(host, 'update').ends).toMatchObject([{ attempt: 1, outcome: { kind: 'exited', code: 3 } }]);
    const { scheduler } = bench;
    bench.hand(host, { t: 'notify', scheduler, instance: host.instance, seq: 1, attempts: [7] });
    const outcome = { kind: 'never-started', why: 'not-running' };
    expect(bench.takeBack(host, 'update').ends).toMatchObject([{ attempt: 7, outcome }]);
  });

  it('E24: the worker repeats an update, on the same link and on the next, until it is acknowledged', () => {
    const { bench, host } = running();
    host.endTask(1, 0, bench.now);
    bench.takeBack(host, 'update');
    bench.pass(2 * bench.timeouts.heartbeatMs);
    expect(bench.task(1)).toBe('done');
    const { bench: other, host: cut } = running();
    cut.endTask(1, 0, other.now);
    other.cut(cut);
    other.connect(cut);
    other.flow();
    expect([other.task(1), cut.worker.held.size]).toEqual(['done', 0]);
  });

  it('E30: both sides agree on what runs after orders and ends in any number', () => {
    const bench = new Bench();
    const host = bench.ready('a', { slots: 3 });
    bench.submit(7);
    for (let round = 0; round < 7; round++) {
      bench.flow();
      expect([...host.worker.held.keys()]).toEqual([...bench.record(host).attempts]);
      const [first] = host.alive;
      if (first !== undefined) host.endTask(first, 0, bench.now);
    }
    bench.flow();
    expect([bench.started.length, host.worker.held.size, bench.record(host).attempts.size]).toEqual([7, 0, 0]);
  });

  it('E31: an update that is repeated, late, or of the wrong process changes nothing', () => {
    const { bench, host } = running();
    host.endTask(1, 0, bench.now);
    const update = bench.takeBack(host, 'update');
    const link = host.wire?.id ?? 0;
    bench.say(link, { ...update, scheduler: 'another' });
    expect(bench.task(1)).toBe('launched');
    bench.say(link, update);
    const worse = update.ends.map((end) => ({ ...end, outcome: { kind: 'exited' as const, code: 1 } }));
    const { changes } = bench.say(link, { ...update, ends: worse });
    expect([changes, bench.task(1)]).toEqual([[], 'done']);
  });

  it('E66: an order for a task that has another attempt here is refused, and does not touch that attempt', () => {
    const { bench, host } = launched();
    const run = bench.take(host, 'run');
    bench.hand(host, run);
    bench.hand(host, { ...run, orders: run.orders.map((order) => ({ ...order, attempt: 9 })) });
    const refused = bench.takeBack(host, 'update').ends;
    expect(refused).toMatchObject([{ attempt: 9, outcome: { kind: 'never-started', why: 'refused' } }]);
    expect([[...host.alive], bench.started]).toEqual([[1], [1]]);
  });

  it('E71, E72: asking for output changes nothing on either side', () => {
    const { bench, host } = running();
    bench.hand(host, { t: 'fetch', request: 1, attempt: 1, stream: 'stdout', offset: 0, limit: 10 });
    bench.hand(host, { t: 'fetch', request: 2, attempt: 99, stream: 'stdout', offset: 0, limit: 10 });
    expect([[...host.worker.held.keys()], [...host.alive]]).toEqual([[1], [1]]);
    expect(bench.onWayBack(host)).toEqual([]);
  });

  it('E71, E73: a kill ends exactly one attempt, and is registered like any end', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit(2);
    bench.flow();
    bench.hand(host, { t: 'kill', attempts: [1], why: 'cancel' });
    bench.hand(host, { t: 'kill', attempts: [1, 99], why: 'cancel' });
    expect([[...host.alive], [...host.worker.held.keys()]]).toEqual([[2], [1, 2]]);
    expect(bench.attempt(1)).not.toBe('ended');
    const { ends } = bench.takeBack(host, 'update');
    expect(ends).toMatchObject([{ attempt: 1, outcome: { kind: 'cancelled', signal: 15 } }]);
  });
});
