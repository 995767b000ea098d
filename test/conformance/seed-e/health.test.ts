import { describe, expect, it } from 'vitest';
import { Bench } from '../bench.ts';
import type { Host } from '../host.ts';

/** A worker that is silent for this long is unhealthy, here and there. */
const silenceMs = 4_000;

/** All that a worker was, as each side saw it, in order. */
function watch(bench: Bench, host: Host) {
  const seen: { controller: string[]; worker: string[] } = { controller: [], worker: [] };
  const note = (list: string[], state: string): void => void (list.at(-1) !== state && list.push(state));
  const look = (): void => {
    note(seen.controller, bench.record(host).state);
    note(seen.worker, bench.health(host));
  };
  const flow = (): void => {
    while (bench.deliver(host, 'controller') || bench.deliver(host, 'worker')) look();
  };
  return { seen, look, flow };
}

/** Up to the moment when a health check was asked for and has not arrived. */
function untilCheck(bench: Bench, host: Host): void {
  while (!bench.onWay(host).includes('check')) {
    bench.flow();
    bench.pass(500, host);
  }
}

describe('seed E: worker health', () => {
  it('E1: the controller knows workers by their shards, each with its own settings', () => {
    const bench = new Bench();
    const [a, b] = [bench.ready('a', { slots: 1 }), bench.ready('b', { slots: 3 })];
    bench.submit(6);
    bench.flow();
    expect([a.alive.size, b.alive.size]).toEqual([1, 3]);
    expect([...bench.controller.cluster.liveWorkers.values()].map(({ shard }) => shard)).toEqual(['a', 'b']);
  });

  it('E2, E3: both sides go from new to unhealthy, between unhealthy and healthy, and from unhealthy to must-die', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    const { seen, look, flow } = watch(bench, host);
    look();
    flow();
    for (let at = 0; at < silenceMs; at += 500, look()) bench.pass(500, host);
    flow();
    for (let at = 0; at < 15_000; at += 500, look()) bench.pass(500, host);
    const states = ['new', 'unhealthy', 'healthy', 'unhealthy', 'healthy', 'unhealthy', 'must-die'];
    expect(seen).toEqual({ controller: states, worker: states });
  });

  it('E3: a worker has its timeouts from its controller', () => {
    const timeouts = { ...new Bench().timeouts, loseAfterMs: 77_000 };
    const bench = new Bench({ timeouts });
    expect(bench.ready().worker.health.timeouts).toEqual(timeouts);
  });

  it('E4, E38: a worker that is not healthy by its own count starts nothing, although its controller sent it', () => {
    const bench = new Bench();
    const host = bench.ready();
    untilCheck(bench, host);
    host.check = 'bad';
    bench.deliverUntil(host, 'worker');
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'unhealthy']);
    bench.submit();
    bench.deliverUntil(host, 'worker');
    bench.flow();
    expect([bench.started, bench.attempt(1), bench.task(1)]).toEqual([[], 'ended', 'queued']);
  });

  it('E38: a controller sends nothing to a worker that it takes for unhealthy', () => {
    const bench = new Bench();
    const host = bench.ready();
    host.check = 'bad';
    untilCheck(bench, host);
    bench.flow();
    bench.submit();
    expect(bench.task(1)).toBe('queued');
    host.check = 'good';
    bench.pass(bench.timeouts.checkIntervalMs);
    expect(bench.started).toEqual([1]);
  });

  it('E5: a worker that was not healthy for too long ends itself and all that it runs', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.flow();
    bench.pass(15_000, host);
    expect(host).toMatchObject({ end: 'cut-off', isDead: true });
    expect(host.alive.size).toBe(0);
  });

  it('E13: a worker that must die never gets better, whatever arrives late', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.pass(13_500, host);
    expect(bench.record(host).state).toBe('must-die');
    for (const message of host.wire?.toController.splice(0) ?? []) {
      bench.say(host.wire?.id ?? 0, message);
      expect(['must-die', 'gone']).toContain(bench.record(host).state);
    }
    expect(host.end).toBe('cut-off');
  });

  it('E22, E33: the first heartbeat associates the two, and the worker is new on both sides', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliver(host, 'worker');
    expect(host.worker.health.scheduler).toBe(bench.scheduler);
    expect([bench.record(host).state, bench.health(host)]).toEqual(['new', 'new']);
  });

  it('E22: further heartbeats keep it healthy for as long as they are answered', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.pass(300_000);
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'healthy']);
  });

  it.each(['in order', 'in reverse'])('E36: heartbeats and results of checks may arrive %s', (order) => {
    const bench = new Bench();
    const host = bench.ready();
    untilCheck(bench, host);
    bench.deliverUntil(host, 'worker');
    expect(bench.onWayBack(host)).toEqual(expect.arrayContaining(['heartbeat', 'checked']));
    if (order === 'in reverse') host.wire?.toController.reverse();
    bench.flow();
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'healthy']);
    bench.pass(70_000);
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'healthy']);
  });

  it('E37: what is lost of a health check makes the two differ only until the next exchange', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    while (!bench.onWay(host).includes('check-ack')) bench.deliver(host, 'controller') || bench.deliver(host, 'worker');
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'new']);
    bench.cut(host);
    bench.connect(host);
    bench.flow();
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'healthy']);
  });

  it('E37: a check that is never answered is asked for again', () => {
    const bench = new Bench();
    const host = bench.ready();
    host.check = 'hangs';
    untilCheck(bench, host);
    bench.flow();
    host.check = 'good';
    bench.pass(120_000);
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'healthy']);
  });

  it('E39: the worker alone suffices: it ends itself although the controller hears it', () => {
    const bench = new Bench();
    const host = bench.ready();
    for (let second = 0; second < 12; second++) {
      bench.pass(1_000, host);
      bench.deliverUntil(host, 'controller');
    }
    expect([bench.record(host).state, host.end]).toEqual(['healthy', 'cut-off']);
    bench.pass(3_000);
    expect(bench.record(host).state).toBe('gone');
  });

  it('E39: the controller alone suffices: it is told to die although it does not have to by its own count', () => {
    const bench = new Bench({ mayBumpUnhealthy: true });
    const host = bench.ready('a');
    host.check = 'bad';
    untilCheck(bench, host);
    bench.flow();
    bench.ready('a', { lock: 'another' });
    expect(host.end).toBe('dismissed');
    expect(bench.health(host)).toBe('unhealthy');
  });
});
