import { describe, expect, it } from 'vitest';
import { Bench } from '../bench.ts';

describe('seed E: the association', () => {
  it('E18: the core calls maintain association, health and running tasks on both sides, and doubt on the controller alone', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.flow();
    expect(host.worker.health).toMatchObject({ scheduler: bench.scheduler, worker: bench.record(host).id });
    expect([bench.record(host).state, bench.health(host)]).toEqual(['healthy', 'healthy']);
    expect([[...bench.record(host).attempts], [...host.worker.held.keys()]]).toEqual([[1], [1]]);
    bench.submit();
    bench.cut(host);
    expect(bench.attempt(2)).toBe('unsure');
    expect([...host.worker.held.keys()]).toEqual([1]);
  });

  it('E25: a new worker is asked what it runs before anything is sent to it', () => {
    const bench = new Bench();
    bench.submit();
    const host = bench.spawn();
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.onWay(host)).toEqual(['heartbeat-reply', 'get-running']);
    bench.deliverUntil(host, 'worker');
    expect(bench.onWayBack(host)).toEqual(['running', 'heartbeat']);
    expect(bench.task(1)).toBe('queued');
    bench.flow();
    expect(bench.started).toEqual([1]);
  });

  it('E25, E30: only a new worker is asked; after that a lost link changes nothing by itself', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.flow();
    bench.cut(host);
    bench.connect(host);
    bench.deliver(host, 'controller');
    expect(bench.onWay(host)).not.toContain('get-running');
    expect([...bench.record(host).attempts]).toEqual([1]);
  });

  it('E40: a heartbeat without a change of the other side leaves running tasks, doubts and numbers as they are', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.cut(host);
    bench.connect(host);
    bench.flow();
    const before = [
      bench.controller.sessions.seqOf(bench.record(host).id),
      host.worker.health.seq,
      bench.started.length,
    ];
    expect(before).toEqual([1, 1, 1]);
    bench.pass(10_000);
    const { id, attempts } = bench.record(host);
    expect([bench.controller.sessions.seqOf(id), host.worker.health.seq, attempts.size]).toEqual(before);
  });

  it('E40, E42: a worker that switches controllers keeps what it runs and begins its numbers anew', () => {
    const bench = new Bench();
    const host = bench.ready();
    bench.submit();
    bench.cut(host);
    bench.connect(host);
    bench.flow();
    expect(host.worker.health.seq).toBe(1);
    bench.restart();
    bench.connect(host);
    bench.flow();
    expect(host.worker.health).toMatchObject({ scheduler: 's2', seq: 0 });
    expect(bench.started).toEqual([2]);
    expect([...bench.record(host).attempts]).toEqual([2]);
  });
});
