import { describe, expect, it } from 'vitest';
import { Bench } from '../bench.ts';
import type { Host } from '../host.ts';

/** A healthy worker with one running task, as seen by all. */
function busy(settings = {}): { bench: Bench; host: Host } {
  const bench = new Bench(settings);
  const host = bench.ready('a');
  bench.submit();
  bench.flow();
  bench.pass(100);
  expect(bench.attempt(1)).toBe('running');
  return { bench, host };
}

/** Another worker for the same shard; the first one's wire stands still meanwhile. */
function rivalOf(bench: Bench): Host {
  const rival = bench.spawn('a', { lock: 'other' });
  bench.connect(rival);
  bench.flow(rival);
  return rival;
}

/** Long enough for a silent worker to be one that must die, and too short for it to be gone. */
const condemnedMs = 13_500;

describe('seed E: suicide and replacement', () => {
  it('E6: a worker that must die is told so, and loses its tasks when it must be dead', () => {
    const { bench, host } = busy();
    bench.pass(condemnedMs, host);
    expect(bench.record(host).state).toBe('must-die');
    expect(bench.onWay(host)).toContain('die');
    expect(bench.attempt(1)).toBe('running');
    bench.pass(bench.timeouts.marginMs, host);
    expect([bench.record(host).state, bench.task(1)]).toEqual(['gone', 'queued']);
    expect(bench.record(host).attempts.size).toBe(0);
  });

  it('E6: what was unsure is dropped with it', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.cut(host);
    expect(bench.attempt(1)).toBe('unsure');
    bench.pass(30_000);
    expect([bench.record(host).state, bench.task(1)]).toEqual(['gone', 'queued']);
  });

  it.each([
    ['must die', condemnedMs, 'die'],
    ['is gone', 30_000, 'refused'],
  ] as const)('E7, E8: one that %s and speaks again is told to die at once', (_, ms, answer) => {
    const { bench, host } = busy();
    bench.pass(bench.timeouts.heartbeatMs, host);
    const heartbeat = bench.takeBack(host, 'heartbeat');
    bench.pass(ms, host);
    const { effects } = bench.say(99, { ...heartbeat, beat: 1_000 });
    const sent = effects.flatMap((effect) => (effect.type === 'send' && effect.link === 99 ? [effect.message] : []));
    expect(sent).toMatchObject([{ t: answer, instance: host.instance }]);
  });

  it('E8: the identity of a worker outlasts even its replacement: it is never taken for another', () => {
    const { bench, host } = busy();
    bench.pass(bench.timeouts.heartbeatMs, host);
    const heartbeat = bench.takeBack(host, 'heartbeat');
    bench.kill(host);
    bench.ready('a');
    const { effects } = bench.say(99, { ...heartbeat, beat: 1_000 });
    expect(effects).toContainEqual(expect.objectContaining({ message: expect.objectContaining({ t: 'refused' }) }));
    expect(bench.controller.cluster.workers.size).toBe(2);
  });

  it('E9: another worker of the shard is refused unless the one before must die', () => {
    const { bench, host } = busy();
    expect(rivalOf(bench).end).toBe('refused');
    bench.pass(5_000, host);
    expect(bench.record(host).state).toBe('unhealthy');
    expect(rivalOf(bench).end).toBe('refused');
    bench.pass(condemnedMs - 5_000, host);
    const heir = rivalOf(bench);
    expect(bench.record(heir).state).toBe('healthy');
  });

  it('E10: with leave to bump, one that is not healthy is replaced, and one that is healthy is not', () => {
    const { bench, host } = busy({ mayBumpUnhealthy: true });
    expect(rivalOf(bench).end).toBe('refused');
    bench.pass(5_000, host);
    const heir = rivalOf(bench);
    expect([bench.record(heir).state, bench.record(host).state]).toEqual(['healthy', 'must-die']);
  });

  it('E11: one that is replaced is told to die; its tasks are dropped when it is dead', () => {
    const { bench, host } = busy({ mayBumpUnhealthy: true });
    bench.pass(5_000, host);
    const heir = rivalOf(bench);
    expect(bench.onWay(host)).toContain('die');
    expect(bench.attempt(1)).toBe('running');
    bench.flow();
    bench.pass(10_000);
    expect([host.end, bench.record(host).state, bench.started]).toEqual(['dismissed', 'gone', [1, 2]]);
    expect([...heir.alive]).toEqual([2]);
  });

  it('E11: a newer instance that holds the same host lock proves the death: its tasks are dropped at once', () => {
    const { bench, host } = busy();
    host.finish();
    const heir = bench.spawn('a');
    bench.connect(heir);
    bench.deliver(heir, 'controller');
    expect([bench.record(host).state, bench.task(1)]).toEqual(['gone', 'queued']);
  });

  it('E12, E47: one that was displaced and comes back is told to die, and the other goes on', () => {
    const { bench, host } = busy({ mayBumpUnhealthy: true });
    bench.pass(5_000, host);
    bench.dropWire(host);
    const heir = bench.ready('a', { lock: 'other' });
    bench.connect(host);
    bench.flow();
    expect(host.end).toBe('dismissed');
    expect([heir.end, bench.record(heir).state]).toEqual([undefined, 'healthy']);
  });

  it('E48: an end that a lost worker had still to tell is accepted, when it must die and when it is gone', () => {
    for (const ms of [2_500, 8_000]) {
      const { bench, host } = busy();
      bench.pass(11_000, host);
      host.endTask(1, 0, bench.now);
      const update = bench.takeBack(host, 'update');
      bench.pass(ms, host);
      expect(bench.record(host).state).toBe(ms === 2_500 ? 'must-die' : 'gone');
      bench.say(host.wire?.id ?? 0, update);
      expect(bench.task(1)).toBe('done');
      expect(bench.onWay(host)).toContain('ack');
    }
  });

  it('E74: a worker that is told to die quits with all it runs, and counts as one that crashed', () => {
    const { bench, host } = busy();
    bench.hand(host, { t: 'die', instance: host.instance, why: 'asked to', isForGood: false });
    expect(host.end).toBe('dismissed');
    bench.pass(bench.timeouts.killGraceMs);
    expect([host.isDead, host.alive.size]).toEqual([true, 0]);
    expect([bench.record(host).state, bench.task(1)]).toEqual(['gone', 'queued']);
    expect(bench.record(host).goneFor).toContain('ended by itself');
  });

  it('E74: a request to die that is meant for another instance does nothing', () => {
    const { bench, host } = busy();
    bench.hand(host, { t: 'die', instance: 'another', why: 'asked to', isForGood: false });
    expect(host.end).toBeUndefined();
  });
});
