import { describe, expect, it } from 'vitest';
import { Bench } from '../bench.ts';
import type { Host } from '../host.ts';

/** Two orders on a link that breaks: the first has arrived, the second has not; the worker is back. */
function unsure(): { bench: Bench; host: Host } {
  const bench = new Bench();
  const host = bench.ready();
  bench.submit(2);
  const run = bench.take(host, 'run');
  bench.hand(host, { ...run, orders: run.orders.slice(0, 1) });
  bench.cut(host);
  bench.connect(host);
  bench.deliver(host, 'controller');
  return { bench, host };
}

describe('seed E: notifyIfTasksNotRunning', () => {
  it('E27: after a lost link the controller asks about orders without an answer', () => {
    const { bench, host } = unsure();
    expect([bench.attempt(1), bench.attempt(2)]).toEqual(['unsure', 'unsure']);
    expect(bench.take(host, 'notify')).toMatchObject({ seq: 1, attempts: [1, 2], instance: host.instance });
  });

  it('E28, E62: it asks again and again, each time with a higher number, until it has an answer', () => {
    const { bench, host } = unsure();
    expect(bench.take(host, 'notify').seq).toBe(1);
    const asked: number[] = [];
    for (let second = 0; second < 20; second++) {
      bench.pass(1_000);
      if (second < 19) continue;
      asked.push(host.worker.health.seq);
    }
    expect(asked).toEqual([2]);
    expect([bench.attempt(1), bench.attempt(2)]).toEqual(['running', 'ended']);
  });

  it('E28: it stops asking when updates have answered all of it', () => {
    const { bench, host } = unsure();
    bench.take(host, 'notify');
    bench.hand(host, { t: 'notify', scheduler: bench.scheduler, instance: host.instance, seq: 1, attempts: [2] });
    host.endTask(1, 0, bench.now);
    bench.takeBack(host, 'notified');
    bench.flow();
    bench.pass(10_000);
    expect(host.worker.health.seq).toBe(1);
    expect(bench.task(1)).toBe('done');
  });

  it('E28: it stops asking when the worker is lost', () => {
    const { bench, host } = unsure();
    bench.kill(host);
    bench.pass(30_000);
    expect([bench.attempt(1), bench.attempt(2), bench.record(host).state]).toEqual(['ended', 'ended', 'gone']);
  });

  it('E29: what was asked about and not denied counts as running until further notice', () => {
    const { bench, host } = unsure();
    bench.flow();
    expect(bench.attempt(1)).toBe('accepted');
    bench.pass(10_000);
    expect(bench.attempt(1)).toBe('running');
    expect(host.worker.health.seq).toBe(1);
  });

  it('E51, E53: the worker denies exactly what it does not have, and what it has stays as it is', () => {
    const { bench, host } = unsure();
    bench.deliverUntil(host, 'worker');
    const { ends } = bench.takeBack(host, 'update');
    expect(ends).toMatchObject([{ attempt: 2, outcome: { kind: 'never-started', why: 'not-running' } }]);
    expect(bench.onWayBack(host)).toContain('notified');
    expect([[...host.worker.held.keys()], [...host.alive]]).toEqual([[1], [1]]);
  });

  it('E51: the controller changes nothing of what it takes for running by asking', () => {
    const { bench, host } = unsure();
    expect(bench.onWay(host)).toContain('notify');
    expect([...bench.record(host).attempts]).toEqual([1, 2]);
  });

  it('E52, E59: the number of a question is above that of every order asked about, and later orders carry it', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    const run = bench.take(host, 'run');
    bench.cut(host);
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker', 'notify');
    const notify = bench.take(host, 'notify');
    expect(notify.seq).toBeGreaterThan(run.seq);
    bench.hand(host, notify);
    expect(host.worker.health.seq).toBe(notify.seq);
    bench.deliverUntil(host, 'controller');
    expect(bench.take(host, 'run')).toMatchObject({ seq: notify.seq, orders: [{ attempt: 2 }] });
  });

  it('E54: number and running tasks are looked at together: a worker handles one message at a time', () => {
    const { bench, host } = unsure();
    bench.deliverUntil(host, 'worker', 'notify');
    const notify = bench.take(host, 'notify');
    bench.hand(host, notify);
    // One step has set the number, looked, and answered: nothing can come between.
    expect(host.worker.health.seq).toBe(notify.seq);
    expect(bench.onWayBack(host)).toEqual(expect.arrayContaining(['update', 'notified']));
  });

  it('E55, E56: an order sent before the last question is refused by its number alone, now and at any later time', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    const late = bench.take(host, 'run');
    bench.cut(host);
    bench.connect(host);
    bench.flow();
    expect(bench.started).toEqual([2]);
    bench.hand(host, late);
    bench.hand(host, { ...late, orders: late.orders.map((order) => ({ ...order, attempt: 77, task: 77 })) });
    bench.flow();
    expect(bench.started).toEqual([2]);
  });

  it('E61: an answer removes only what was asked about from what is unsure', () => {
    const { bench, host } = unsure();
    bench.deliverUntil(host, 'worker');
    const notified = bench.takeBack(host, 'notified');
    bench.deliverUntil(host, 'controller');
    bench.take(host, 'run');
    bench.cut(host);
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.attempt(3)).toBe('unsure');
    bench.say(host.wire?.id ?? 0, notified);
    expect(bench.attempt(3)).toBe('unsure');
    bench.flow();
    expect(bench.attempt(3)).toBe('ended');
  });
});
