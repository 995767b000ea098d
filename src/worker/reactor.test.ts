import { describe, expect, it } from 'vitest';
import { reportWaitMs, spawnerPingMs, spawnerPingsMax, startAheadMs } from '../model/limits.ts';
import { ownLoseAfterMs } from '../model/timeouts.ts';
import { Bench, files, none, order, outcomes, sent, spec, starts, timeouts, toSpawner } from './bench.testing.ts';
import type { Effect } from './messages.ts';

/** It is unhealthy when an answer is late, and dies when it was that for too long. */
const silenceMs = timeouts.heartbeatMs + timeouts.heartbeatGraceMs + ownLoseAfterMs(timeouts);

describe('a worker', () => {
  it('E33, E35: sends a heartbeat when connected, and another one at once after it said what it runs', () => {
    const bench = new Bench();
    expect(sent(bench.step({ type: 'connected' })).map(({ t }) => t)).toEqual(['heartbeat']);
    bench.reply('new');
    expect(sent(bench.tell({ t: 'get-running', scheduler: 'c' })).map(({ t }) => t)).toEqual(['running', 'heartbeat']);
  });

  it('renews the deadline of the spawner with each answer, from when that was asked for', () => {
    const bench = new Bench().ready();
    bench.now += 1_000;
    bench.step({ type: 'tick' });
    bench.now += 400;
    expect(toSpawner(bench.reply('healthy'))).toEqual([{ t: 'renew', ms: 12_600 }]);
    bench.now += 300;
    const next = bench.step({ type: 'spawner', message: { t: 'ready', pid: 9, launcher: 'posix_spawn' } });
    expect(toSpawner(next)).toContainEqual({ t: 'renew', ms: 12_300 });
  });

  it('C3, C25: runs as many as it has slots, in order, and the next when one has ended', () => {
    const bench = new Bench(2).ready();
    expect(starts(bench.run(order(1), order(2), order(3)))).toEqual([1, 2]);
    bench.started(1);
    expect(starts(bench.ended(1))).toEqual([3]);
  });

  it('gives the spawner as many beyond its slots as it starts in a moment, once it knows how long they take', () => {
    const bench = new Bench(2).ready();
    bench.wallMs = startAheadMs / 2;
    const many = Array.from({ length: 20 }, (_, at) => order(at + 1));
    expect(starts(bench.run(...many))).toEqual([1, 2]);
    expect(starts(bench.ended(1))).toEqual([3, 4, 5, 6, 7]);
    expect(starts(bench.ended(2))).toEqual([8]);
  });

  it('tells the ends of one moment in one message, long ones in several', () => {
    const bench = new Bench(4).ready();
    bench.run(order(1), order(2), order(3), order(4));
    const tail = 'A'.repeat(80_000);
    const end = (key: number, out = none) => {
      const message = { t: 'ended', key, cpuMs: 1, wallMs: 1, at: bench.now, out, err: none, exit: 0 } as const;
      return { type: 'spawner', message } as const;
    };
    const updates = (effects: Effect[]) => sent(effects).flatMap((m) => (m.t === 'update' ? [m.ends.length] : []));
    expect(updates(bench.step(end(1), end(2)))).toEqual([2]);
    const long = { bytes: 60_000, tail };
    expect(updates(bench.step(end(3, long), end(4, long)))).toEqual([1, 1]);
  });

  it('lets ends wait for others as long as there is plenty to start, but not for long', () => {
    const bench = new Bench(1).ready();
    bench.run(order(1), order(2), order(3), order(4));
    expect(outcomes(bench.ended(1))).toEqual([]);
    expect(bench.worker.nextDeadline(bench.now)).toBe(bench.now + reportWaitMs);
    bench.now += reportWaitMs;
    expect(outcomes(bench.step({ type: 'tick' }))).toEqual([[1, { kind: 'succeeded' }]]);
    expect(outcomes(bench.ended(2))).toEqual([[2, { kind: 'succeeded' }]]);
  });

  it('gives a task its environment: the submitter’s without an outer run’s variables, and its own', () => {
    const bench = new Bench().ready();
    const messages = toSpawner(bench.run(order(1, { arrayIndex: 42, name: 'n' })));
    const own = ['DROVER_WORKFLOW_ID=w1', 'DROVER_WORKER=k3', 'DROVER_CPUS=1', 'DROVER_REAP=t'];
    expect(messages).toContainEqual({ t: 'env', id: 1, env: ['HOME=/home', ...own] });
    const [start] = messages.filter((m) => m.t === 'queue');
    expect(start?.vars).toEqual([
      ...['DROVER_TASK_ID=w1.1', 'DROVER_TASK_NAME=n', 'DROVER_INDEX=42', 'DROVER_ATTEMPT=1', 'DROVER_ATTEMPT_ID=1'],
    ]);
  });

  it('E24: repeats an end on every new connection until it is acknowledged, then forgets it', () => {
    const bench = new Bench().ready();
    bench.run(order(1));
    bench.started(1);
    expect(outcomes(bench.ended(1, { exit: 3 }))).toEqual([[1, { kind: 'exited', code: 3 }]]);
    bench.reconnect();
    expect(sent(bench.tell({ t: 'get-running', scheduler: 'c' }))[0]).toMatchObject({
      t: 'running',
      attempts: [{ attempt: 1, task: 1, phase: 'ended' }],
    });
    expect(outcomes(bench.reply('healthy'))).toEqual([[1, { kind: 'exited', code: 3 }]]);
    bench.tell({ t: 'ack', attempts: [1] });
    bench.reconnect();
    expect(outcomes(bench.reply('healthy'))).toEqual([]);
    expect(sent(bench.tell({ t: 'get-running', scheduler: 'c' }))[0]).toMatchObject({ t: 'running', attempts: [] });
  });

  it('E69: an end while it is not connected is kept for the next controller', () => {
    const bench = new Bench().ready();
    bench.run(order(1));
    bench.started(1);
    bench.step({ type: 'disconnected' });
    expect(outcomes(bench.ended(1))).toEqual([]);
    bench.step({ type: 'connected' });
    bench.reply('new', 'another');
    bench.tell({ t: 'get-running', scheduler: 'another' });
    expect(sent(bench.reply('healthy', 'another'))).toMatchObject([{ t: 'update', scheduler: 'another' }]);
  });

  it('E42, E66: ignores what another controller sent or another instance is meant by, and refuses a second attempt of a task', () => {
    const bench = new Bench().ready();
    const run = { t: 'run', scheduler: 'c', instance: 'i', seq: 0, specs: [{ workflow: 1, spec }] } as const;
    const orders = [order(9)];
    expect(bench.tell({ ...run, specs: [...run.specs], orders, scheduler: 'old' })).toEqual([]);
    expect(bench.tell({ ...run, specs: [...run.specs], orders, instance: 'other' })).toEqual([]);
    bench.run(order(10));
    const refused = [[11, { kind: 'never-started', why: 'refused', message: expect.any(String) }]];
    expect(outcomes(bench.run(order(11, { task: 10 })))).toEqual(refused);
  });

  it('E44: tells another controller nothing of what the one before had asked about', () => {
    const bench = new Bench().ready();
    const notify = { t: 'notify', scheduler: 'c', instance: 'i', seq: 1, attempts: [5] } as const;
    expect(outcomes(bench.tell({ ...notify, attempts: [5] }))).toMatchObject([[5, { why: 'not-running' }]]);
    bench.reconnect();
    expect(outcomes(bench.reply('healthy'))).toMatchObject([[5, { why: 'not-running' }]]);
    bench.reconnect();
    bench.reply('new', 'another');
    bench.tell({ t: 'get-running', scheduler: 'another' });
    expect(outcomes(bench.reply('unhealthy', 'another'))).toEqual([]);
  });

  it('E37: tells the result of a health check again on the next link, until it is acknowledged', () => {
    const bench = new Bench().ready();
    bench.tell({ t: 'check', scheduler: 'c', instance: 'i', check: 9, command: 'true' });
    const checked = { t: 'checked', scheduler: 'c', instance: 'i', check: 9, isGood: true };
    expect(sent(bench.ended(-9))).toEqual([checked]);
    bench.reconnect();
    expect(sent(bench.reply('healthy'))).toEqual([checked]);
    bench.tell({ t: 'check-ack', scheduler: 'c', instance: 'i', check: 9 });
    bench.reconnect();
    expect(sent(bench.reply('healthy'))).toEqual([]);
  });

  it('E3: a failed health check counts at once, since the controller may know of it although its answer is lost', () => {
    const bench = new Bench().ready();
    bench.tell({ t: 'check', scheduler: 'c', instance: 'i', check: 9, command: 'false' });
    expect(sent(bench.ended(-9, { exit: 1 }))).toMatchObject([
      { t: 'checked', isGood: false, message: 'it exited with 1' },
    ]);
    bench.tell({ t: 'check', scheduler: 'c', instance: 'i', check: 10, command: 'df' });
    const printed = { bytes: 5, tail: Buffer.from('full\n').toString('base64') };
    expect(sent(bench.ended(-10, { exit: 1 }, printed))).toMatchObject([{ message: 'it exited with 1: full' }]);
    expect(bench.worker.health.health(bench.now)).toMatchObject({ state: 'unhealthy', why: 'its health check failed' });
    expect(outcomes(bench.run(order(1)))).toMatchObject([[1, { why: 'refused' }]]);
  });

  it('E31: runs a check once, however often it is asked for, and drops one that a newer check has overtaken', () => {
    const bench = new Bench().ready();
    const ask = (check: number) => bench.tell({ t: 'check', scheduler: 'c', instance: 'i', check, command: 'true' });
    expect(starts(ask(8))).toEqual([-8]);
    expect(starts(ask(8))).toEqual([]);
    expect(starts(ask(9))).toEqual([-9]);
    expect(sent(bench.ended(-9))).toMatchObject([{ check: 9, isGood: true }]);
    bench.tell({ t: 'check-ack', scheduler: 'c', instance: 'i', check: 9 });
    expect(sent(bench.ended(-8, { exit: 1 }))).toEqual([]);
    expect(bench.worker.health.health(bench.now).state).toBe('healthy');
  });

  it('reports a start only of what runs longer than a moment', () => {
    const bench = new Bench().ready();
    bench.run(order(1), order(2));
    bench.started(1);
    bench.started(2);
    bench.ended(1);
    bench.now += 60;
    expect(bench.worker.nextDeadline(bench.now)).toBeLessThanOrEqual(bench.now);
    expect(sent(bench.step({ type: 'tick' }))).toContainEqual({ t: 'started', attempts: [{ attempt: 2, at: 1_000 }] });
  });

  it('takes back what has not started, and only that', () => {
    const bench = new Bench(1).ready();
    bench.run(order(1), order(2));
    bench.started(1);
    expect(outcomes(bench.tell({ t: 'retract', attempts: [1, 2] }))).toMatchObject([[2, { why: 'retracted' }]]);
    expect(starts(bench.ended(1))).toEqual([]);
  });

  it('takes back what waits for a slot with the spawner, unless that has just started it', () => {
    const bench = new Bench().ready();
    bench.run(order(1), order(2));
    const effects = bench.tell({ t: 'retract', attempts: [1, 2] });
    const drops = [1, 2].map((key) => ({ t: 'drop', key }));
    expect([outcomes(effects), toSpawner(effects)]).toEqual([[], drops]);
    bench.started(1);
    const dropped = bench.step({ type: 'spawner', message: { t: 'dropped', key: 2 } });
    expect(outcomes(dropped)).toMatchObject([[2, { kind: 'never-started', why: 'retracted' }]]);
    expect(outcomes(bench.ended(1))).toEqual([[1, { kind: 'succeeded' }]]);
  });

  it('A35, A36: a kill is TERM, then KILL after the time that the task has; the end says whether KILL was needed', () => {
    const bench = new Bench().ready();
    bench.run(order(1), order(2));
    bench.started(1);
    bench.started(2);
    const kill = toSpawner(bench.tell({ t: 'kill', attempts: [1, 2], why: 'cancel' }));
    expect(kill[0]).toEqual({ t: 'kill', key: 1, how: 'term-kill', graceMs: 700, why: 'cancel' });
    const soft = bench.ended(1, { signal: 15, signalled: { why: 'cancel', killed: false } });
    expect(outcomes(soft)).toEqual([[1, { kind: 'cancelled', signal: 15 }]]);
    const hard = bench.ended(2, { signal: 9, signalled: { why: 'cancel', killed: true } });
    expect(outcomes(hard)).toEqual([[2, { kind: 'cancelled' }]]);
  });

  it('A34: a kill of what has ended by itself changes nothing', () => {
    const bench = new Bench().ready();
    bench.run(order(1));
    bench.started(1);
    bench.ended(1, { exit: 4 });
    expect(bench.tell({ t: 'kill', attempts: [1], why: 'cancel' })).toEqual([]);
  });

  it('a kill that comes between the order to start and the start is not lost', () => {
    const bench = new Bench().ready();
    bench.run(order(1));
    expect(toSpawner(bench.tell({ t: 'kill', attempts: [1], why: 'halt' }))).toMatchObject([
      { t: 'kill', key: 1, why: 'halt' },
    ]);
    const dropped = bench.step({ type: 'spawner', message: { t: 'dropped', key: 1 } });
    expect(outcomes(dropped)).toEqual([[1, { kind: 'cancelled' }]]);
  });

  it('C41: kills what runs longer than it may, and says that time ran out', () => {
    const bench = new Bench().ready();
    bench.run(order(1, { timeoutMs: 500 }));
    bench.started(1);
    bench.now += 500;
    expect(bench.worker.nextDeadline(bench.now)).toBeLessThanOrEqual(bench.now);
    expect(toSpawner(bench.step({ type: 'tick' }))).toMatchObject([{ t: 'kill', key: 1, why: 'timeout' }]);
    const end = bench.ended(1, { signal: 15, signalled: { why: 'timeout', killed: false } });
    expect(outcomes(end)).toEqual([[1, { kind: 'resource', resource: 'runtime', by: 'timeout' }]]);
  });

  it('what could not be started is reported as such, and frees its slot', () => {
    const bench = new Bench(1).ready();
    bench.run(order(1), order(2));
    const effects = bench.step({
      type: 'spawner',
      message: { t: 'failed', key: 1, code: 'cwd-missing', message: 'no /work', permanent: true },
    });
    expect(outcomes(effects)).toEqual([[1, { kind: 'never-started', why: 'impossible', message: 'no /work' }]]);
    expect(starts(effects)).toEqual([2]);
  });

  it('the death of its spawner loses what ran; what was only accepted goes to the next one', () => {
    const bench = new Bench(1).ready();
    bench.run(order(1), order(2));
    bench.started(1);
    const effects = bench.step({ type: 'spawner-gone' });
    expect(outcomes(effects)).toEqual([[1, { kind: 'lost', what: 'cylinder' }]]);
    expect(starts(effects)).toEqual([]);
    const next = bench.step({ type: 'spawner', message: { t: 'ready', pid: 9, launcher: 'posix_spawn' } });
    expect(toSpawner(next).map(({ t }) => t)).toEqual(['slots', 'env', 'renew', 'queue', 'ping']);
    expect(starts(next)).toEqual([2]);
  });

  it('kills a spawner that leaves many pings unanswered, but not one that it did not ask while it was stopped itself', () => {
    const bench = new Bench(1, true);
    bench.step({ type: 'spawner', message: { t: 'ready', pid: 2, launcher: 'posix_spawn' } });
    const tickAfter = (ms: number): string[] => {
      bench.now += ms;
      return bench.step({ type: 'tick' }).map((effect) => (effect.type === 'spawner' ? effect.message.t : effect.type));
    };
    expect(tickAfter(1_000 * spawnerPingMs)).toEqual(['ping']);
    bench.step({ type: 'spawner', message: { t: 'pong' } });
    const asked = Array.from({ length: spawnerPingsMax }, () => tickAfter(spawnerPingMs));
    expect(asked).toEqual(asked.map(() => ['ping']));
    expect([tickAfter(spawnerPingMs), tickAfter(spawnerPingMs)]).toEqual([['kill-spawner'], []]);
  });

  it('E5: ends itself when no controller has answered for too long', () => {
    const bench = new Bench().ready();
    bench.now += silenceMs - 1;
    expect(bench.step({ type: 'tick' }).some(({ type }) => type === 'exit')).toBe(false);
    bench.now += 1;
    expect(bench.step({ type: 'tick' })).toContainEqual(expect.objectContaining({ type: 'exit', end: 'cut-off' }));
  });

  it('waits for its first controller as long as it takes, if it is patient, and from then on as any other', () => {
    const bench = new Bench(1, true);
    bench.now += 1_000_000;
    expect(bench.step({ type: 'tick' })).toEqual([]);
    expect(bench.worker.nextDeadline(bench.now)).toBe(Number.POSITIVE_INFINITY);
    bench.ready();
    bench.now += silenceMs;
    expect(bench.step({ type: 'tick' })).toContainEqual(expect.objectContaining({ type: 'exit', end: 'cut-off' }));
  });

  it.each([
    ['protocol-version', 'incompatible'],
    ['worker-wrong', 'refused'],
  ] as const)('a refusal by the controller (%s) ends it with the reason', (code, end) => {
    const bench = new Bench();
    const effects = bench.tell({ t: 'refused', instance: 'i', code, message: 'too old' });
    expect(effects).toMatchObject([{ type: 'exit', end, why: expect.stringContaining('too old') }]);
  });

  it('E72: answers for the output of what runs and of what is kept, and says when it has none', () => {
    const bench = new Bench().ready();
    bench.run(order(1));
    bench.started(1);
    const fetch = (attempt: number) =>
      bench.tell({ t: 'fetch', request: 8, attempt, stream: 'stdout', offset: 2, limit: 10 });
    expect(fetch(1)).toEqual([{ type: 'fetch', request: 8, place: { path: files.stdout }, offset: 2, limit: 10 }]);
    bench.ended(1, { exit: 0, files }, { bytes: 100_000, tail: 'AAAA' });
    expect(fetch(1)).toMatchObject([{ place: { path: files.stdout, bytes: 100_000 } }]);
    expect(fetch(2)).toMatchObject([{ place: undefined }]);
  });

  it('keeps a file whose output did not travel with the end, until the controller has taken it', () => {
    const bench = new Bench(1).ready();
    bench.run(order(1), order(2));
    bench.ended(1, { exit: 0, files }, { bytes: 200_000, tail: 'AAAA' });
    bench.tell({ t: 'ack', attempts: [1] });
    bench.reconnect();
    const kept = { t: 'kept', instance: 'i', kept: [{ attempt: 1, stdout: 200_000, stderr: 0 }] };
    expect(sent(bench.reply('healthy'))).toContainEqual(kept);
    expect(bench.tell({ t: 'drop-output', attempts: [1] })).toEqual([
      { type: 'remove-files', paths: [files.stdout, files.stderr] },
    ]);
  });

  it('keeps the environments of what it has when its spawner dies after a reconnection', () => {
    const bench = new Bench(1).ready();
    bench.run(order(1), order(2));
    bench.started(1);
    bench.reconnect();
    bench.step({ type: 'spawner-gone' });
    const ready = { t: 'ready', pid: 9, launcher: 'posix_spawn' } as const;
    const messages = toSpawner(bench.step({ type: 'spawner', message: ready }));
    expect(messages.map(({ t }) => t)).toEqual(['slots', 'env', 'renew', 'queue', 'ping']);
    expect(messages).toContainEqual({ t: 'slots', count: 1, directory: '/d' });
  });

  it('counts its time from when an answered heartbeat was sent, not from when the answer came', () => {
    const bench = new Bench().ready();
    bench.now += 1_000;
    bench.step({ type: 'tick' });
    const sentAt = bench.now;
    bench.now += 5_000;
    bench.reply('healthy');
    expect(bench.worker.nextDeadline(bench.now)).toBeLessThanOrEqual(sentAt + silenceMs);
    bench.now = sentAt + silenceMs;
    expect(bench.step({ type: 'tick' })).toContainEqual(expect.objectContaining({ type: 'exit' }));
  });
});
