/** Ten pairs of the five core calls, each as the controller and as the worker sees it. */
import { describe, expect, it } from 'vitest';
import { Bench } from '../bench.ts';
import type { Host } from '../host.ts';

/** One order on its way to a healthy worker. */
function launched(): { bench: Bench; host: Host } {
  const bench = new Bench({ mayBumpUnhealthy: true });
  const host = bench.ready('a');
  bench.submit();
  return { bench, host };
}

/** The order is lost with its link; the worker is back, and the question is on its way. */
function asked(): { bench: Bench; host: Host } {
  const { bench, host } = launched();
  bench.cut(host);
  bench.connect(host);
  bench.deliver(host, 'controller');
  bench.deliverUntil(host, 'worker', 'notify');
  expect(bench.onWay(host)).toEqual(['notify']);
  return { bench, host };
}

/** Another worker takes the shard of one that is unhealthy and has an order on its way. */
function replaced(): { bench: Bench; host: Host; heir: Host } {
  const { bench, host } = launched();
  bench.pass(5_000, host);
  const heir = bench.spawn('a', { lock: 'other' });
  bench.connect(heir);
  bench.flow(heir);
  return { bench, host, heir };
}

const linkOf = (host: Host): number => host.wire?.id ?? 0;

describe('seed E: the twenty interactions', () => {
  it('pair 1, E34: on the controller a worker leaves new as soon as it has said what it runs', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    expect(bench.record(host).state).toBe('new');
    bench.deliver(host, 'controller');
    expect(bench.record(host).state).toBe('unhealthy');
  });

  it('pair 2, E35: the worker leaves new on the answer to the first heartbeat that came after that', () => {
    const bench = new Bench();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    bench.deliver(host, 'controller');
    expect([bench.record(host).state, bench.health(host)]).toEqual(['unhealthy', 'new']);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    expect(bench.health(host)).not.toBe('new');
  });

  it('pair 3, E41: the controller sends one that was replaced nothing more to run, and counts anew with the next', () => {
    const { bench, host, heir } = replaced();
    bench.submit(2);
    const late = host.wire?.toWorker ?? [];
    const last = late.findLastIndex(({ t }) => t === 'die');
    expect(late.slice(last).map(({ t }) => t)).toEqual(['die']);
    expect(bench.controller.sessions.seqOf(bench.record(heir).id)).toBe(0);
    expect(bench.take(heir, 'run')).toMatchObject({ instance: heir.instance, seq: 0 });
  });

  it('pair 4, E42: an order of its former controller has no effect on a worker that has another', () => {
    const { bench, host } = launched();
    const late = bench.take(host, 'run');
    bench.restart();
    bench.connect(host);
    bench.flow();
    expect(bench.started).toEqual([2]);
    bench.hand(host, late);
    expect(bench.onWayBack(host)).toEqual([]);
    expect(bench.started).toEqual([2]);
  });

  it('pair 5, E43: with the replaced worker its doubts and its number go, and it is not asked any more', () => {
    const { bench, host } = asked();
    bench.pass(5_000, host);
    const heir = bench.spawn('a', { lock: 'other' });
    bench.connect(heir);
    bench.flow(heir);
    const before = bench.onWay(host).filter((t) => t === 'notify').length;
    bench.pass(4_000, host);
    expect(bench.onWay(host).filter((t) => t === 'notify').length).toBe(before);
    bench.pass(10_000, host);
    expect([bench.attempt(1), bench.record(host).state]).toEqual(['ended', 'gone']);
    expect(bench.controller.sessions.seqOf(bench.record(heir).id)).toBe(0);
  });

  it('pair 6, E44: with a new controller the worker counts from zero, and takes no question of the old one', () => {
    const { bench, host } = asked();
    const late = bench.take(host, 'notify');
    bench.hand(host, late);
    expect(host.worker.health.seq).toBe(1);
    bench.restart();
    bench.connect(host);
    bench.flow();
    expect(host.worker.health.seq).toBe(0);
    bench.hand(host, { ...late, seq: 50, attempts: [2] });
    expect([host.worker.health.seq, bench.onWayBack(host)]).toEqual([0, []]);
  });

  it('pair 7, E45: an update of the replaced worker does not touch what the next one has', () => {
    const bench = new Bench();
    const host = bench.ready('a');
    bench.submit();
    bench.flow();
    host.endTask(1, 0, bench.now);
    const update = bench.takeBack(host, 'update');
    const link = linkOf(host);
    bench.kill(host);
    const heir = bench.ready('a');
    bench.pass(5_000);
    expect([...heir.alive]).toEqual([2]);
    bench.say(link, update);
    bench.say(linkOf(heir), { ...update, ends: update.ends.map((end) => ({ ...end, attempt: 1 })) });
    expect([bench.attempt(2), bench.task(1)]).toEqual(['running', 'running']);
  });

  it.each(['before', 'after'])(
    'pair 8, E46: a heartbeat may go out %s an update: neither depends on the other',
    (order) => {
      const { bench, host } = launched();
      bench.flow();
      if (order === 'before') bench.pass(bench.timeouts.heartbeatMs, host);
      host.endTask(1, 0, bench.now);
      if (order === 'after') bench.pass(bench.timeouts.heartbeatMs, host);
      expect(bench.onWayBack(host)).toEqual(expect.arrayContaining(['heartbeat', 'update']));
      bench.flow();
      expect([bench.task(1), host.worker.held.size]).toEqual(['done', 0]);
    },
  );

  it('pair 9, E49: the controller asks new workers what they run, and only others about what is unsure', () => {
    const { bench, host } = launched();
    bench.cut(host);
    bench.restart();
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.onWay(host)).toEqual(['heartbeat-reply', 'get-running']);
    const { bench: other, host: known } = asked();
    expect(other.record(known).facts.isNew).toBe(false);
    expect(other.onWay(known)).not.toContain('get-running');
  });

  it('pair 10, E50: on the worker the two questions have no effect on each other', () => {
    const { bench, host } = asked();
    const notify = bench.take(host, 'notify');
    bench.hand(host, notify);
    bench.hand(host, { t: 'get-running', scheduler: bench.scheduler });
    expect(bench.takeBack(host, 'running')).toMatchObject({ seq: 1, attempts: [] });
    expect(host.worker.health.seq).toBe(1);
    bench.flow();
    expect(bench.started).toEqual([2]);
  });

  it('pair 11, E55: after it said that a task was not running, the worker rejects the order, however late it comes', () => {
    const { bench, host } = launched();
    const late = bench.take(host, 'run');
    bench.cut(host);
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    expect(bench.onWayBack(host)).toContain('update');
    bench.hand(host, late);
    bench.flow();
    bench.hand(host, late);
    bench.flow();
    expect(bench.started).toEqual([2]);
  });

  it('pair 12, E57: an end that went through before the question gives a was-not-running too many, which is harmless', () => {
    const { bench, host } = launched();
    bench.flow();
    host.endTask(1, 0, bench.now);
    bench.flow();
    const { scheduler } = bench;
    bench.hand(host, { t: 'notify', scheduler, instance: host.instance, seq: 1, attempts: [1] });
    expect(bench.onWayBack(host)).toEqual(['update', 'notified']);
    bench.flow();
    expect([bench.task(1), bench.started]).toEqual(['done', [1]]);
  });

  it('pair 12, E57: an end that goes out after the question is all that is said of the task', () => {
    const { bench, host } = launched();
    bench.deliverUntil(host, 'worker');
    bench.cut(host);
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    expect(bench.onWayBack(host)).toEqual(['notified']);
    host.endTask(1, 0, bench.now);
    bench.flow();
    expect([bench.task(1), bench.started]).toEqual(['done', [1]]);
  });

  it('pair 13, E58: only orders whose fate is not known become unsure, and only these are asked about', () => {
    const bench = new Bench();
    const host = bench.ready('a', { slots: 3 });
    bench.submit(2);
    bench.flow();
    bench.submit();
    bench.cut(host);
    expect([1, 2, 3].map((id) => bench.attempt(id))).toEqual(['accepted', 'accepted', 'unsure']);
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.take(host, 'notify').attempts).toEqual([3]);
  });

  it('pair 14, E60: an update takes its task off the doubts, and an answer to a question composed before is ignored', () => {
    const { bench, host } = launched();
    bench.deliverUntil(host, 'worker');
    bench.cut(host);
    host.endTask(1, 0, bench.now);
    bench.connect(host);
    bench.deliver(host, 'controller');
    const notify = bench.take(host, 'notify');
    bench.flow();
    expect(bench.task(1)).toBe('done');
    bench.hand(host, notify);
    bench.flow();
    expect([bench.task(1), bench.started, bench.attempt(1)]).toEqual(['done', [1], 'ended']);
    expect(bench.controller.sessions.seqOf(bench.record(host).id)).toBe(notify.seq);
  });

  it('pair 15, E63: the controller orders nothing before the worker has said what it runs', () => {
    const { bench, host } = launched();
    bench.cut(host);
    bench.restart();
    bench.submit();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.pass(2_000, host);
    expect(bench.onWay(host)).not.toContain('run');
    bench.flow();
    expect(bench.started.length).toBe(2);
  });

  it('pair 16, E64: a worker that is new takes no order, although its controller no longer takes it for new', () => {
    const { bench, host } = launched();
    const { scheduler: _, ...run } = bench.take(host, 'run');
    bench.restart();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    bench.deliver(host, 'controller');
    expect([bench.record(host).state, bench.health(host)]).toEqual(['unhealthy', 'new']);
    bench.hand(host, { ...run, scheduler: bench.scheduler });
    expect([host.worker.held.size, bench.started]).toEqual([0, []]);
  });

  it('pair 17, E65: an end follows its order; a was-not-running may come before it, and then the order is rejected', () => {
    const { bench, host } = launched();
    const run = bench.take(host, 'run');
    bench.pass(3_000);
    expect(bench.attempt(1)).toBe('sent');
    const { scheduler } = bench;
    bench.hand(host, { t: 'notify', scheduler, instance: host.instance, seq: 1, attempts: [1] });
    bench.hand(host, run);
    const outcomes = [bench.takeBack(host, 'update'), bench.takeBack(host, 'update')].map(
      ({ ends }) => ends[0]?.outcome,
    );
    expect(outcomes).toMatchObject([{ why: 'not-running' }, { why: 'refused' }]);
    expect(bench.started).toEqual([]);
  });

  it('pair 18, E67: an update counts only for an attempt that was sent to that worker, by its id', () => {
    const { bench, host } = launched();
    bench.flow();
    const end = {
      outcome: { kind: 'succeeded' as const },
      stdout: { bytes: 0, tail: '' },
      stderr: { bytes: 0, tail: '' },
    };
    const { scheduler } = bench;
    bench.say(linkOf(host), { t: 'update', scheduler, ends: [{ attempt: 2, ...end }] });
    expect([bench.attempt(1), bench.task(1)]).toEqual(['accepted', 'launched']);
    bench.submit();
    expect(bench.attempt(2)).toBe('sent');
  });

  it('E68: (note) of the two kinds of update the first one counts, in either order', () => {
    const { bench, host } = launched();
    bench.flow();
    const { scheduler } = bench;
    const none = { bytes: 0, tail: '' };
    const say = (outcome: { kind: 'succeeded' } | { kind: 'never-started'; why: 'not-running'; message: string }) =>
      bench.say(linkOf(host), { t: 'update', scheduler, ends: [{ attempt: 1, outcome, stdout: none, stderr: none }] });
    say({ kind: 'succeeded' });
    expect(say({ kind: 'never-started', why: 'not-running', message: '' }).changes).toEqual([]);
    expect(bench.task(1)).toBe('done');
  });

  it('pair 19, E69: what ends while the worker is new is kept, and told as soon as it may be heard', () => {
    const { bench, host } = launched();
    bench.flow();
    bench.restart();
    bench.connect(host);
    bench.deliver(host, 'controller');
    bench.deliverUntil(host, 'worker');
    expect(bench.health(host)).toBe('new');
    host.endTask(1, 0, bench.now);
    bench.flow();
    expect([bench.task(1), host.worker.held.size, bench.started]).toEqual(['done', 0, [1]]);
  });

  it('pair 20, E70: an update of a worker that is new is neither applied nor acknowledged', () => {
    const { bench, host } = launched();
    bench.flow();
    host.endTask(1, 0, bench.now);
    const update = bench.takeBack(host, 'update');
    bench.restart();
    bench.connect(host);
    bench.deliver(host, 'controller');
    const { changes } = bench.say(linkOf(host), { ...update, scheduler: bench.scheduler });
    expect([changes, bench.onWay(host)]).toEqual([[], ['heartbeat-reply', 'get-running']]);
    bench.flow();
    expect(bench.task(1)).toBe('done');
  });
});
