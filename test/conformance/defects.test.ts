/** The defects that were found in Bistro's own code (PROTOCOL.md), each as a scenario in which it would show. */
import { describe, expect, it } from 'vitest';
import { Bench } from './bench.ts';
import type { Disk } from './disk.ts';
import type { Host } from './host.ts';

const isWaiting = (bench: Bench): boolean => bench.controller.sessions.isWaiting(bench.now);
const linkOf = (host: Host): number => host.wire?.id ?? 0;

/** Two workers that both know of both, and a store that knows of neither. */
function forgotten(): { bench: Bench; backup: Disk; a: Host; b: Host } {
  const bench = new Bench();
  const backup = bench.disk.copy();
  const [a, b] = [bench.ready('a'), bench.ready('b')];
  bench.pass(bench.timeouts.heartbeatMs);
  bench.restart(backup.copy());
  return { bench, backup, a, b };
}

describe('a defect of Bistro that is absent here', () => {
  it('1: a controller that crashes in its initial wait leaves no set behind that the next one takes for an agreement', () => {
    const { bench, backup, a } = forgotten();
    bench.connect(a);
    bench.pass(3_000);
    expect(isWaiting(bench)).toBe(true);
    bench.restart(backup);
    bench.connect(a);
    bench.pass(3_000);
    expect(isWaiting(bench)).toBe(true);
  });

  it('2: a question is answered although another attempt of the same task, ended and not acknowledged, is there', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.flow();
    host.endTask(1, 1, bench.now);
    bench.takeBack(host, 'update');
    bench.hand(host, { t: 'notify', scheduler: bench.scheduler, instance: host.instance, seq: 1, attempts: [2] });
    const outcome = { kind: 'never-started', why: 'not-running' };
    expect(bench.takeBack(host, 'update').ends).toMatchObject([{ attempt: 2, outcome }]);
    expect(host.worker.held.has(1)).toBe(true);
  });

  it('3: an order whose failure shows after the end of its attempt is not doubted', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.deliverUntil(host, 'worker');
    bench.takeBack(host, 'accepted');
    host.endTask(1, 0, bench.now);
    bench.deliverUntil(host, 'controller');
    bench.cut(host);
    expect([bench.attempt(1), bench.task(1)]).toEqual(['ended', 'done']);
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.onWay(host)).not.toContain('notify');
  });

  it('4: what a worker said that it runs is believed once: the same answer, come again, changes nothing', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    const running = bench.takeBack(host, 'running');
    bench.say(linkOf(host), running);
    bench.flow();
    bench.submit();
    bench.say(linkOf(host), running);
    expect(bench.attempt(1)).toBe('sent');
    bench.flow();
    bench.say(linkOf(host), running);
    expect([bench.attempt(1), bench.started]).toEqual(['accepted', [1]]);
  });

  it('5: a worker that has seen higher numbers than its controller gets orders that it takes', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliver(host, 'worker');
    bench.hand(host, { t: 'notify', scheduler: bench.scheduler, instance: host.instance, seq: 7, attempts: [] });
    bench.flow();
    bench.submit();
    bench.flow();
    expect([host.worker.health.seq, bench.started]).toEqual([7, [1]]);
  });

  it('6: clocks are never compared: a worker whose clock is an hour ahead or behind is as healthy as any', () => {
    for (const skewMs of [3_600_000, -3_600_000]) {
      const bench = new Bench();
      bench.now += 10_000_000;
      const host = bench.ready('a', { skewMs });
      bench.submit();
      bench.pass(120_000);
      expect([bench.record(host).state, bench.health(host), bench.started]).toEqual(['healthy', 'healthy', [1]]);
    }
  });

  it('6: a worker counts from when it sent a heartbeat: a slow answer does not make it outlive its loss', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.flow();
    bench.pass(bench.timeouts.heartbeatMs, host);
    const sentAt = bench.now;
    bench.deliverUntil(host, 'controller');
    bench.pass(2_500, host);
    bench.deliverUntil(host, 'worker');
    const { heartbeatMs, heartbeatGraceMs, loseAfterMs, checkIntervalMs } = bench.timeouts;
    const own = host.worker.health.health(bench.now).diesAt;
    expect(own).toBe(sentAt + heartbeatMs + heartbeatGraceMs + loseAfterMs - checkIntervalMs);
  });

  it('7: a worker that must die and remembers a newer set neither stops nor delays the controller', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.pass(bench.timeouts.heartbeatMs, host);
    const heartbeat = bench.takeBack(host, 'heartbeat');
    bench.pass(13_000, host);
    expect(bench.record(host).state).toBe('must-die');
    const echo = { scheduler: 'before', generation: 'another', version: 99, count: 5, sum: 1, xor: 1 };
    bench.say(linkOf(host), { ...heartbeat, beat: 1_000, echo });
    expect(isWaiting(bench)).toBe(false);
    expect(bench.onWay(host)).toContain('die');
  });

  it('8: with no worker left there is no agreement', () => {
    const { bench, a } = forgotten();
    bench.connect(a);
    bench.deliver(a, 'controller');
    bench.kill(a);
    bench.pass(1_000);
    expect(isWaiting(bench)).toBe(true);
  });

  it('9: a kill carries its own time until KILL, however short: nobody has to look in between', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    const run = bench.take(host, 'run');
    bench.hand(host, {
      ...run,
      specs: run.specs.map(({ workflow, spec }) => ({ workflow, spec: { ...spec, terminationMs: 1 } })),
    });
    bench.hand(host, { t: 'kill', attempts: [1], why: 'cancel' });
    expect(host.kills).toEqual([{ t: 'kill', key: 1, how: 'term-kill', graceMs: 1, why: 'cancel' }]);
  });

  it('10: the late end of a lost attempt does not touch the attempt that came after it', () => {
    const bench = new Bench();
    const host = bench.ready('a');
    bench.ready('b');
    bench.submit();
    bench.flow();
    bench.pass(11_000, host);
    host.endTask(1, 0, bench.now);
    const update = bench.takeBack(host, 'update');
    bench.pass(15_000, host);
    expect(bench.started).toEqual([1, 2]);
    bench.say(linkOf(host), update);
    expect([bench.task(1), bench.attempt(2)]).toEqual(['running', 'running']);
  });

  it('11: what an instance remembers is its own: another of the same shard does not stand for it', () => {
    const { bench, a, b } = forgotten();
    bench.connect(a);
    bench.flow();
    bench.kill(a);
    bench.ready('a');
    bench.connect(b);
    bench.pass(3_000);
    expect(isWaiting(bench)).toBe(true);
  });
});
