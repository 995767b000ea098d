/** What these tests have found in the protocol's code, so that it stays mended. */
import { describe, expect, it } from 'vitest';
import { presets, silenceMsMax } from '../../src/model/timeouts.ts';
import { Bench } from './bench.ts';

const { cluster } = presets;

/** Until those who are there may agree. */
const agreementMs = ({ timeouts }: Bench): number => timeouts.heartbeatMs + timeouts.heartbeatGraceMs;

describe('a worker that the store knows and that does not come back after a restart', () => {
  it('E15: is given up no sooner than by the timeouts that it was told, however short those of the next one are', () => {
    const bench = new Bench({ timeouts: cluster });
    const host = bench.ready();
    bench.submit();
    bench.flow();
    expect([...host.alive]).toEqual([1]);
    bench.settings = { ...bench.settings, timeouts: presets.interactive };
    bench.restart();
    bench.pass(60_000);
    expect(bench.task(1)).toBe('launched');
    bench.pass(1_000_000);
    expect([bench.record(host).state, [...host.alive]]).toEqual(['gone', []]);
  });

  it('goes by the timeouts of the next one as soon as it has said so', () => {
    const bench = new Bench({ timeouts: cluster });
    const host = bench.ready();
    bench.settings = { ...bench.settings, timeouts: presets.interactive };
    bench.restart();
    bench.connect(host);
    bench.pass(5_000);
    bench.kill(host);
    bench.pass(20_000);
    expect(bench.record(host).state).toBe('gone');
  });

  it('goes by what it said last, also for the controller after that', () => {
    const bench = new Bench({ timeouts: cluster });
    const host = bench.ready();
    bench.settings = { ...bench.settings, timeouts: presets.interactive };
    bench.restart();
    bench.connect(host);
    bench.pass(5_000);
    bench.restart();
    expect(bench.record(host).silenceMs).toBe(silenceMsMax(presets.interactive));
  });

  it('E15: is given up although no other worker ever speaks', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.flow();
    bench.kill(host);
    bench.restart();
    bench.pass(60_000);
    expect(bench.record(host).state).toBe('gone');
    expect(bench.task(1)).toBe('queued');
  });

  it('E5, E15: is dead before its tasks are tried again, also if the controller before had just answered it', () => {
    const bench = new Bench({ timeouts: cluster });
    const host = bench.ready();
    bench.submit();
    bench.flow();
    bench.pass(cluster.heartbeatMs);
    bench.restart();
    bench.ready();
    // The bench fails when the second attempt starts before the first is dead.
    bench.pass(900_000, host);
    expect(bench.started).toEqual([1, 2]);
    expect(host.end).toBe('cut-off');
  });

  it('E5, E39: is dead before its tasks are tried again, also if its first heartbeats were not answered', () => {
    const bench = new Bench({ timeouts: cluster });
    const host = bench.ready();
    bench.submit();
    bench.flow();
    bench.restart();
    bench.ready();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.cut(host);
    bench.pass(400_000, host);
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliver(host, 'worker');
    bench.cut(host);
    bench.pass(1_200_000, host);
    expect(bench.started).toEqual([1, 2]);
  });
});

describe('a store that was restored from a backup', () => {
  it('E17: is found out although as many workers have joined since as it is short of', () => {
    const bench = new Bench();
    bench.ready();
    const backup = bench.disk.copy();
    const forgotten = bench.ready();
    bench.restart(backup);
    bench.ready();
    bench.connect(forgotten);
    bench.flow();
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(true);
  });

  it('E17: is found out by the next controller, too, however much its history has grown since', () => {
    const bench = new Bench();
    const backup = bench.disk.copy();
    const [a] = [bench.ready('a'), bench.ready('b')];
    bench.pass(bench.timeouts.heartbeatMs);
    bench.restart(backup);
    bench.connect(a);
    bench.flow();
    for (let workflow = 0; workflow < 20; workflow++) bench.submit();
    bench.restart();
    bench.connect(a);
    bench.flow();
    expect([bench.controller.sessions.isWaiting(bench.now), bench.started]).toEqual([true, []]);
  });

  it('E17: is found out by the next controller, too, though the first to come joined before it was found out', () => {
    const bench = new Bench();
    const backup = bench.disk.copy();
    const a = bench.ready('a');
    bench.pass(bench.timeouts.heartbeatMs);
    bench.restart(backup);
    const newcomer = bench.ready('n');
    bench.connect(a);
    bench.deliver(a, 'controller');
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(true);
    bench.restart();
    bench.connect(newcomer);
    bench.flow();
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(true);
  });

  it('E14, E17: is not trusted before all who are there have said what they run', () => {
    const bench = new Bench();
    const backup = bench.disk.copy();
    const host = bench.ready();
    bench.restart(backup);
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(true);
    bench.flow();
    bench.pass(agreementMs(bench));
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(false);
  });

  it('E17: is not trusted as long as one may be on its way that joined last, and that no other one has heard of', () => {
    const bench = new Bench();
    const backup = bench.disk.copy();
    const a = bench.ready('a');
    bench.pass(bench.timeouts.heartbeatMs);
    const last = bench.ready('b');
    bench.restart(backup);
    bench.connect(a);
    bench.flow();
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(true);
    bench.connect(last);
    bench.flow();
    bench.pass(agreementMs(bench));
    expect(bench.controller.sessions.isWaiting(bench.now)).toBe(true);
  });
});

describe('a worker that is displaced by another one of its shard', () => {
  it('E5, E47: is dead before its tasks are tried again, although it is not told', () => {
    const bench = new Bench({ mayBumpUnhealthy: true });
    const host = bench.ready('a');
    bench.submit();
    bench.flow();
    bench.restart();
    // It answers, and is still unhealthy, as it was not checked yet, when the other one comes; then it is cut off.
    bench.connect(host);
    while (bench.record(host).facts.isNew) bench.deliver(host, 'controller') || bench.deliver(host, 'worker');
    const other = bench.spawn('a', { lock: 'another' });
    bench.connect(other);
    bench.flow(other);
    expect(bench.record(host).state).toBe('must-die');
    // The bench fails when the second attempt starts before the first is dead.
    bench.pass(60_000, host);
    expect([bench.record(host).state, bench.started]).toEqual(['gone', [1, 2]]);
  });
});

describe('a worker with another number of slots', () => {
  it('has them also for the next controller, by the rows and by the history', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.hand(host, { t: 'slots', instance: host.instance, slots: 7 });
    bench.flow();
    bench.restart();
    expect(bench.record(host).slots).toBe(7);
  });
});

describe('an attempt that the store does not know', () => {
  it('E31: is killed although the first order to kill it was lost, and then the rest goes on', () => {
    const bench = new Bench();
    bench.submit();
    const backup = bench.disk.copy();
    const host = bench.ready();
    bench.pass(bench.timeouts.heartbeatMs);
    bench.restart(backup);
    bench.connect(host);
    while (!bench.onWay(host).includes('kill')) bench.deliver(host, 'controller') || bench.deliver(host, 'worker');
    bench.cut(host);
    bench.connect(host);
    bench.flow();
    bench.pass(agreementMs(bench));
    expect([bench.started, [...host.alive]]).toEqual([[1, 2], [2]]);
  });
});

describe('an order that comes again when its attempt is over', () => {
  it('is not refused, though it is older than the last question: there was a process', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    const run = bench.take(host, 'run');
    bench.hand(host, run);
    bench.flow();
    host.endTask(1, 0, bench.now);
    bench.flow();
    expect(host.worker.held.size).toBe(0);
    bench.hand(host, { t: 'notify', scheduler: bench.scheduler, instance: host.instance, seq: 1, attempts: [] });
    bench.hand(host, run);
    expect(bench.onWayBack(host)).toEqual(['notified']);
  });
});

describe('a heartbeat that comes late or twice', () => {
  it('E31: does not take the worker back to the link that it has left', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.pass(bench.timeouts.heartbeatMs, host);
    const late = bench.takeBack(host, 'heartbeat');
    const link = host.wire?.id ?? 0;
    bench.dropWire(host);
    bench.connect(host);
    bench.flow();
    bench.say(link, late);
    bench.submit();
    bench.flow();
    expect(bench.started).toEqual([1]);
  });
});
