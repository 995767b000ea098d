import { describe, expect, it } from 'vitest';
import { presets } from '../../../src/model/timeouts.ts';
import { Bench } from '../bench.ts';
import type { Host } from '../host.ts';

const isWaiting = (bench: Bench): boolean => bench.controller.sessions.isWaiting(bench.now);

/** Two workers joined and took a task each after the backup that the controller now begins from. */
function restored(settings = {}): { bench: Bench; hosts: [Host, Host] } {
  const bench = new Bench(settings);
  bench.submit(2);
  const backup = bench.disk.copy();
  const hosts: [Host, Host] = [bench.ready('a', { slots: 1 }), bench.ready('b', { slots: 1 })];
  bench.pass(bench.timeouts.heartbeatMs);
  expect(bench.started).toEqual([1, 2]);
  bench.restart(backup);
  return { bench, hosts };
}

describe('seed E: start-up and the initial wait', () => {
  it('E14: a controller that starts asks each worker what it runs, adopts that, and neither kills nor repeats it', () => {
    const bench = new Bench();
    const hosts = [bench.ready('a'), bench.ready('b')];
    bench.submit(4);
    bench.pass(100);
    bench.restart();
    for (const host of hosts) bench.connect(host);
    bench.pass(10_000);
    expect(bench.started).toEqual([1, 2, 3, 4]);
    for (const host of hosts) for (const attempt of [...host.alive]) host.endTask(attempt, 0, bench.now);
    bench.flow();
    expect([1, 2, 3, 4].map((task) => bench.task(task))).toEqual(['done', 'done', 'done', 'done']);
  });

  it('E14: with a store that knows its workers only their own tasks wait; all others go out at once', () => {
    const bench = new Bench();
    const absent = bench.ready('a', { slots: 1 });
    bench.submit(1);
    bench.flow();
    bench.restart();
    bench.submit(1);
    bench.ready('b');
    expect([bench.started, [...absent.alive]]).toEqual([[1, 2], [1]]);
  });

  it('E15: a store that has forgotten workers launches nothing before those cut off have ended themselves', () => {
    const { bench, hosts } = restored();
    const [cutOff, present] = hosts;
    bench.connect(present);
    bench.flow();
    expect(isWaiting(bench)).toBe(true);
    // The bench fails if a task gets a process while the one that was cut off is alive.
    for (let second = 0; isWaiting(bench); second++) {
      expect(bench.started).toEqual([1, 2]);
      bench.pass(1_000, cutOff);
      expect(second).toBeLessThan(60);
    }
    expect(cutOff.isDead).toBe(true);
    expect(bench.started.length).toBe(3);
  });

  it('E16: (note) the wait is as long as the time to lose a worker: minutes with the timeouts of a cluster', () => {
    const { bench, hosts } = restored({ timeouts: presets.cluster });
    bench.connect(hosts[1]);
    bench.flow();
    bench.pass(presets.cluster.loseAfterMs, hosts[0]);
    expect(isWaiting(bench)).toBe(true);
  });

  it('E17: it ends when all workers that remember the same set are there, have said what they run, and had time to come', () => {
    const { bench, hosts } = restored();
    for (const host of hosts) {
      expect(bench.controller.sessions.isWaiting(bench.now)).toBe(host === hosts[1]);
      bench.connect(host);
      bench.flow();
    }
    bench.pass(bench.timeouts.heartbeatMs + bench.timeouts.heartbeatGraceMs);
    expect(isWaiting(bench)).toBe(false);
  });

  it('E17: a worker records the last set that it was given by a controller that was not waiting', () => {
    const { bench, hosts } = restored();
    const before = hosts[0].worker.health.echo;
    expect(before).toMatchObject({ generation: 'g1', count: 2 });
    bench.connect(hosts[0]);
    bench.flow();
    expect(isWaiting(bench)).toBe(true);
    expect(hosts[0].worker.health.echo).toEqual(before);
  });

  it('E17: a disowned task is not tried again before its old process is dead', () => {
    const { bench, hosts } = restored();
    for (const host of hosts) bench.connect(host);
    const [slow, quick] = hosts;
    bench.deliverUntil(slow, 'controller');
    bench.deliverUntil(slow, 'worker');
    bench.deliverUntil(slow, 'controller');
    bench.flow(quick);
    expect(bench.onWay(slow)).toContain('kill');
    expect(bench.started).toEqual([1, 2]);
    bench.flow();
    bench.pass(bench.timeouts.heartbeatMs + bench.timeouts.heartbeatGraceMs);
    expect(new Set(bench.started)).toEqual(new Set([1, 2, 3, 4]));
  });
});
