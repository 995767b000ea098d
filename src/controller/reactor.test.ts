import { describe, expect, it } from 'vitest';
import { plainSpec as spec } from '../../test/controller/spec.ts';
import { Cluster } from '../core/cluster.ts';
import { checkInvariants } from '../core/invariants.ts';
import { attemptId, type TaskId, workerId, workflowId } from '../model/ids.ts';
import { usageLimits } from '../model/limits.ts';
import type { Outcome } from '../model/outcome.ts';
import { presets } from '../model/timeouts.ts';
import type { TaskSpec } from '../protocol/spec.ts';
import { type AttemptEnd, type FromWorker, type ToWorker, workerProtocolVersion } from '../protocol/worker.ts';
import type { Effect, Input, Request, StepResult } from './messages.ts';
import { Controller, defaultSettings } from './reactor.ts';

const none = { bytes: 0, tail: '' };
const identity = { shard: 's', lock: 'l', instance: 'i1', host: 'h', pid: 1 };
const w1 = workflowId(1);
const timeouts = presets.interactive;
/** A healthy worker that falls silent is unhealthy after this, must die when it was that for too long, then is gone. */
const unhealthyMs = timeouts.heartbeatMs + timeouts.heartbeatGraceMs;
const goneMs = unhealthyMs + timeouts.loseAfterMs + timeouts.marginMs;

/** A controller with a hand that plays its workers and clients; every step is checked. */
class Bench {
  readonly cluster: Cluster;
  readonly controller: Controller;
  now = 10_000;
  #tickets = 0;
  #beats = 0;

  constructor(cluster = new Cluster()) {
    this.cluster = cluster;
    const start = { scheduler: 'c1', generation: 'g1', versionAtStart: 0, settings: defaultSettings };
    this.controller = new Controller({ cluster, outputEnd: { file: 0, length: 0 }, ...start });
  }

  step(...inputs: Input[]): StepResult {
    const result = this.controller.step(inputs, this.now);
    checkInvariants(this.cluster);
    return result;
  }

  request(request: Request): Effect {
    const ticket = ++this.#tickets;
    const { effects } = this.step({ type: 'request', ticket, request });
    return effects.find((one) => 'ticket' in one && one.ticket === ticket) as Effect;
  }

  submit(...tasks: TaskSpec[]): void {
    this.request({ type: 'register', spec });
    const workflow = workflowId(this.cluster.workflows.size);
    this.request({ type: 'extend', workflow, batch: { tasks, edges: [] } });
    this.last = this.step({ type: 'request', ticket: 0, request: { type: 'close', workflow } });
  }

  last: StepResult | undefined;

  say(link: number, message: FromWorker): ToWorker[] {
    this.last = this.step({ type: 'link-message', link, message });
    return this.sentTo(link);
  }

  sentTo(link: number): ToWorker[] {
    return (this.last?.effects ?? []).flatMap((effect) =>
      effect.type === 'send' && effect.link === link ? [effect.message] : [],
    );
  }

  launches(): number[] {
    return (this.last?.effects ?? []).flatMap((effect) =>
      effect.type === 'run' ? effect.attempts.map(({ attempt }) => attempt) : [],
    );
  }

  heartbeat(link: number, changed: Partial<typeof identity> = {}, slots = 2): ToWorker[] {
    const worker = { ...identity, ...changed };
    return this.say(link, { t: 'heartbeat', version: workerProtocolVersion, beat: ++this.#beats, worker, slots });
  }

  running(link: number, attempts: number[] = [], instance = 'i1'): ToWorker[] {
    const running = attempts.map((attempt) => ({ attempt, task: attempt, phase: 'running' as const, startedAt: 1 }));
    return this.say(link, { t: 'running', scheduler: 'c1', instance, seq: 0, attempts: running });
  }

  /** Answers the health check that was asked for last. */
  checked(link: number, isGood = true, instance = 'i1'): ToWorker[] {
    const [check] = this.sentTo(link).flatMap((message) => (message.t === 'check' ? [message.check] : []));
    return this.say(link, { t: 'checked', scheduler: 'c1', instance, check: check ?? 0, isGood });
  }

  /** All that makes a worker healthy. */
  connect(link: number, changed: Partial<typeof identity> = {}, running: number[] = []): void {
    const { instance } = { ...identity, ...changed };
    this.heartbeat(link, changed);
    this.running(link, running, instance);
    this.checked(link, true, instance);
  }

  /** A worker that is known, on another link. */
  reconnect(link: number): ToWorker[] {
    this.step({ type: 'link-closed', link: link - 1 });
    return this.heartbeat(link);
  }

  end(link: number, attempt: number, outcome: Outcome, output: Partial<AttemptEnd> = {}): ToWorker[] {
    const end = { attempt, outcome, stdout: none, stderr: none, ...output };
    return this.say(link, { t: 'update', scheduler: 'c1', ends: [end] });
  }

  state(task: number): string {
    return this.cluster.tasks.state(task as TaskId);
  }
}

describe('a whole workflow in one request', () => {
  it('is registered, filled, closed and launched in one turn', () => {
    const bench = new Bench();
    bench.connect(1);
    const batch = { tasks: [{ command: 'a' }, { command: 'b' }], edges: [] };
    bench.last = bench.step({ type: 'request', ticket: 1, request: { type: 'submit', spec, batch } });
    expect(bench.launches()).toEqual([1, 2]);
    expect(bench.last.effects).toContainEqual({
      ...{ type: 'reply', ticket: 1, reply: { type: 'registered', workflow: w1 } },
    });
  });

  it('leaves nothing behind when its batch is refused', () => {
    const bench = new Bench();
    const edges = [{ parents: [2, 2], children: [1, 1], after: 'any' }] as const;
    const batch = { tasks: [{ command: 'a' }, { command: 'b' }], edges: [...edges] as never };
    expect(bench.request({ type: 'submit', spec, batch })).toMatchObject({ type: 'refuse' });
    expect(bench.cluster.workflows.size).toBe(0);
    expect(bench.cluster.tasks.size).toBe(0);
  });
});

describe('what attempts use', () => {
  const part = (attempt: number, ...values: number[]) => ({
    ...{ attempt, metric: 'memory' as const, samples: values.map((value, at) => ({ at: at + 0.4, value })) },
  });
  const usage = { t: 'usage', scheduler: 'c1', instance: 'i1' } as const;

  it('is kept as a worker over HTTP would have reported it, and changes nothing', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    bench.say(1, { ...usage, series: [part(1, 10, 20)] });
    expect(bench.last?.samples).toEqual([
      { attempt: 1, metric: 'memory', at: 0, value: 10 },
      { attempt: 1, metric: 'memory', at: 1, value: 20 },
    ]);
    expect([bench.last?.changes, bench.last?.effects]).toEqual([[], []]);
    expect(bench.step({ type: 'tick' }).samples).toEqual([]);
    const samples = bench.last?.samples ?? [];
    const report = { type: 'request', ticket: 9, request: { type: 'report-usage', samples } } as const;
    expect(bench.step(report).samples).toEqual(samples);
  });

  it('is not taken from a worker that does not run them, nor after their end', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.connect(2, { shard: 's2', lock: 'l2', instance: 'i2' });
    bench.submit({ command: 'a' });
    const [attempt = 0] = bench.launches();
    const { worker } = bench.cluster.attempts.get(attempt as never) ?? {};
    const [own, other] = worker === 1 ? ['i1', 'i2'] : ['i2', 'i1'];
    const links = { i1: 1, i2: 2 } as Readonly<Record<string, number>>;
    const tell = (instance: string) => {
      bench.say(links[instance] ?? 0, { ...usage, instance, series: [part(attempt, 10), part(77, 10)] });
      return bench.last?.samples?.length;
    };
    expect([tell(own), tell(other)]).toEqual([1, 0]);
    bench.end(links[own] ?? 0, attempt, { kind: 'succeeded' });
    expect(tell(own)).toBe(0);
  });

  it('is kept up to a limit in one turn', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    const series = [part(1, ...Array<number>(usageLimits.messageSamplesMax).fill(1))];
    const inputs = Array.from({ length: 20 }, () => ({
      ...{ type: 'link-message' as const, link: 1, message: { ...usage, series } },
    }));
    expect(bench.step(...inputs).samples).toHaveLength(usageLimits.turnSamplesMax);
  });
});

describe('the controller with a worker', () => {
  it('E25, E38, E63: sends nothing to run before the worker said what it runs and has passed a health check', () => {
    const bench = new Bench();
    bench.submit({ command: 'a' });
    const answers = bench.heartbeat(1);
    expect(answers.map(({ t }) => t)).toEqual(['heartbeat-reply', 'get-running']);
    expect(bench.launches()).toEqual([]);
    bench.running(1);
    expect(bench.launches()).toEqual([]);
    bench.checked(1);
    expect(bench.launches()).toEqual([1]);
  });

  it('E34: a heartbeat after that is answered as healthy', () => {
    const bench = new Bench();
    bench.connect(1);
    expect(bench.heartbeat(1)).toMatchObject([{ t: 'heartbeat-reply', state: 'healthy' }]);
  });

  it('E26: the attempt is in the same step that sends it, so it is durable before it is sent', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    const { changes, effects } = bench.last as StepResult;
    expect(changes).toContainEqual(expect.objectContaining({ type: 'attempt-recorded', attempt: 1 }));
    expect(effects.filter(({ type }) => type === 'run')).toHaveLength(1);
  });

  it('records an end and acknowledges it; a repeated one is acknowledged and changes nothing', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    expect(bench.end(1, 1, { kind: 'succeeded' })).toContainEqual({ t: 'ack', attempts: [1] });
    expect(bench.state(1)).toBe('done');
    expect(bench.end(1, 1, { kind: 'exited', code: 1 })).toContainEqual({ t: 'ack', attempts: [1] });
    expect(bench.last?.changes).toEqual([]);
    expect(bench.state(1)).toBe('done');
  });

  it('E70: takes no end from a worker that is still new, and does not acknowledge it', () => {
    const bench = new Bench();
    bench.heartbeat(1);
    expect(bench.end(1, 1, { kind: 'succeeded' })).toEqual([]);
    bench.running(1);
    expect(bench.end(1, 1, { kind: 'succeeded' })).toContainEqual({ t: 'ack', attempts: [1] });
  });

  it('E19, E20, E27: a worker that comes back is asked about what it may not have got, and what it has goes on', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' }, { command: 'b' });
    expect(bench.launches()).toEqual([1, 2]);
    bench.say(1, { t: 'accepted', attempts: [1] });
    const notify = { t: 'notify', scheduler: 'c1', instance: 'i1', seq: 1, attempts: [2] };
    expect(bench.reconnect(2)).toContainEqual(notify);
    expect(bench.launches()).toEqual([]);
    bench.end(2, 2, { kind: 'never-started', why: 'not-running', message: '' });
    expect(bench.launches()).toEqual([3]);
    expect(bench.state(2)).toBe('launched');
  });

  it('E31, E38: nothing is sent to a worker without a link, however healthy it is: it waits for the next one', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.step({ type: 'link-closed', link: 1 });
    bench.submit({ command: 'a' });
    expect(bench.state(1)).toBe('queued');
    bench.heartbeat(2);
    expect(bench.launches()).toEqual([1]);
  });

  it('an attempt that the store does not know is killed, nothing is launched before it ended, and its id is not given out again', () => {
    const bench = new Bench();
    bench.submit({ command: 'a' });
    bench.heartbeat(1);
    expect(bench.running(1, [77])).toContainEqual({ t: 'kill', attempts: [77], why: 'unknown' });
    bench.checked(1);
    expect(bench.launches()).toEqual([]);
    bench.end(1, 77, { kind: 'cancelled', signal: 15 });
    expect(bench.launches()).toEqual([78]);
  });

  it('E1: a newer instance with the same host lock replaces the older at once, and its attempts are lost', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    bench.step({ type: 'link-closed', link: 1 });
    bench.heartbeat(2, { instance: 'i2' });
    expect(bench.state(1)).toBe('queued');
    expect(bench.cluster.attempts.get(1 as never)?.outcome).toEqual({ kind: 'lost', what: 'worker' });
  });

  it('one that was cut off and comes back as a newer instance gets no tasks if it got none before', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.request({ type: 'drain-worker', worker: workerId(1) });
    bench.step({ type: 'link-closed', link: 1 });
    bench.connect(2, { instance: 'i2' });
    expect(bench.cluster.workers.get(workerId(2))).toMatchObject({ state: 'healthy', bar: { kind: 'drained' } });
    bench.submit({ command: 'a' });
    expect(bench.launches()).toEqual([]);
  });

  it('E9: another lock for the same shard is refused as long as the incumbent is not given up', () => {
    const bench = new Bench();
    bench.connect(1);
    expect(bench.heartbeat(2, { instance: 'i2', lock: 'other' })).toMatchObject([
      { t: 'refused', code: 'worker-wrong' },
    ]);
  });

  it('E6, E7: a silent worker is given up after its own end and a margin, and told to die when it comes back', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    bench.now += goneMs - timeouts.marginMs;
    bench.last = bench.step({ type: 'tick' });
    expect(bench.sentTo(1)).toMatchObject([{ t: 'die', instance: 'i1' }]);
    bench.now += timeouts.marginMs - 1;
    bench.step({ type: 'tick' });
    expect(bench.state(1)).toBe('launched');
    expect(bench.controller.nextDeadline(bench.now)).toBe(bench.now + 1);
    bench.now += 1;
    bench.step({ type: 'tick' });
    expect(bench.state(1)).toBe('queued');
    expect(bench.heartbeat(1)).toMatchObject([{ t: 'refused' }]);
  });

  it('a worker of another protocol version is refused, and told which', () => {
    const bench = new Bench();
    const answer = bench.say(1, { t: 'heartbeat', version: 99, beat: 1, worker: identity, slots: 1 });
    expect(answer).toMatchObject([{ t: 'refused', code: 'protocol-version' }]);
    expect(bench.last?.effects).toContainEqual({ type: 'close-link', link: 1 });
  });

  it('E45: an end from a worker that does not have the attempt changes nothing', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    bench.connect(2, { shard: 't', lock: 'm', instance: 'j1' });
    bench.end(2, 1, { kind: 'succeeded' });
    expect(bench.state(1)).toBe('launched');
  });

  it('A27: a cancelled running task is killed on its worker, and again when the worker was away', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    const cancel: Request = { type: 'cancel-task', task: 1 as TaskId };
    bench.last = bench.step({ type: 'request', ticket: 1, request: cancel });
    expect(bench.sentTo(1)).toEqual([{ t: 'kill', attempts: [1], why: 'cancel' }]);
    expect(bench.reconnect(2)).toContainEqual({ t: 'kill', attempts: [1], why: 'cancel' });
  });

  it('a drain takes back what has not started; a kill ends all', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' }, { command: 'b' });
    bench.say(1, { t: 'started', attempts: [{ attempt: 1, at: bench.now }] });
    const halt = (mode: 'drain' | 'kill'): Input => ({
      type: 'request',
      ticket: 1,
      request: { type: 'halt', workflow: w1, mode },
    });
    bench.last = bench.step(halt('drain'));
    expect(bench.sentTo(1)).toEqual([{ t: 'retract', attempts: [2] }]);
    bench.last = bench.step(halt('kill'));
    expect(bench.sentTo(1)).toEqual([{ t: 'kill', attempts: [1, 2], why: 'halt' }]);
  });
});

describe('the custody of output', () => {
  const text = (length: number, from = 0) => Buffer.from(Array.from({ length }, (_, i) => 65 + ((from + i) % 26)));

  it('keeps the tail that comes with an end', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.submit({ command: 'a' });
    const stdout = { bytes: 3, tail: text(3).toString('base64') };
    const sent = bench.end(1, 1, { kind: 'succeeded' }, { stdout });
    expect(bench.last?.output).toEqual([{ attempt: 1, stream: 'stdout', offset: 0, length: 3, file: 1, position: 0 }]);
    expect(bench.last?.writes[0]?.data).toEqual(text(3));
    expect(sent).toEqual([{ t: 'ack', attempts: [1] }]);
  });

  it('fetches what came before the tail, piece by piece, and lets the worker drop it only then', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.say(2, { t: 'output-hello', instance: 'i1' });
    bench.submit({ command: 'a' });
    const bytes = 200_000;
    const stdout = { bytes, tail: text(1_000, bytes - 1_000).toString('base64') };
    expect(bench.end(1, 1, { kind: 'succeeded' }, { stdout })).not.toContainEqual(
      expect.objectContaining({ t: 'drop-output' }),
    );
    let offset = 0;
    for (;;) {
      const [fetch] = bench.sentTo(2);
      if (fetch?.t !== 'fetch') break;
      expect(fetch.offset).toBe(offset);
      const data = text(fetch.limit, offset).toString('base64');
      offset += fetch.limit;
      bench.say(2, { t: 'output', request: fetch.request, data, bytes, isOpen: false });
    }
    expect(offset).toBe(bytes - 1_000);
    expect(bench.sentTo(2)).toEqual([{ t: 'drop-output', attempts: [1] }]);
    expect(bench.controller.sessions.pulls.left).toBe(0);
  });

  it('fetches again what was under way when its link, or the acknowledgement, was lost', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.say(2, { t: 'output-hello', instance: 'i1' });
    bench.submit({ command: 'a' });
    const output = { stdout: { bytes: 100_000, tail: text(1_000).toString('base64') } };
    bench.end(1, 1, { kind: 'succeeded' }, output);
    const first = bench.sentTo(2);
    expect(first).toMatchObject([{ t: 'fetch', offset: 0, limit: 99_000 }]);
    bench.say(3, { t: 'output-hello', instance: 'i1' });
    expect(bench.sentTo(3)).toEqual([]);
    bench.last = bench.step({ type: 'link-closed', link: 2 });
    expect(bench.sentTo(3)).toMatchObject([{ t: 'fetch', offset: 0, limit: 99_000 }]);
    bench.step({ type: 'link-closed', link: 1 });
    bench.heartbeat(4);
    bench.end(4, 1, { kind: 'succeeded' }, output);
    expect(bench.controller.sessions.pulls.left).toBe(1);
    expect(bench.last?.output).toHaveLength(1);
  });

  it('shows clients what is still with the worker, also when the attempt has ended', () => {
    const bench = new Bench();
    bench.connect(1);
    bench.say(2, { t: 'output-hello', instance: 'i1' });
    bench.submit({ command: 'a' });
    bench.end(1, 1, { kind: 'succeeded' }, { stdout: { bytes: 100_000, tail: text(1_000).toString('base64') } });
    const [pull] = bench.sentTo(2);
    const read = { type: 'read-output', attempt: attemptId(1), stream: 'stdout', offset: 5, limit: 10 } as const;
    bench.last = bench.step({ type: 'request', ticket: 9, request: read });
    const [fetch] = bench.sentTo(2);
    expect(fetch).toMatchObject({ t: 'fetch', attempt: 1, offset: 5, limit: 10 });
    if (pull?.t !== 'fetch' || fetch?.t !== 'fetch') throw new Error('nothing was asked for');
    const answer = (request: number, data: Buffer) =>
      bench.say(2, { t: 'output', request, data: data.toString('base64'), bytes: 100_000, isOpen: false });
    answer(fetch.request, text(10, 5));
    expect(bench.last?.effects).toContainEqual(
      expect.objectContaining({
        ticket: 9,
        reply: { type: 'output', live: expect.objectContaining({ bytes: 100_000 }) },
      }),
    );
    answer(pull.request, text(99_000));
    expect(bench.request(read)).toMatchObject({ reply: { type: 'output', live: undefined } });
  });

  it('goes on fetching after a restart, from what the worker says it still keeps', () => {
    const bench = new Bench();
    bench.heartbeat(1);
    bench.say(2, { t: 'output-hello', instance: 'i1' });
    bench.running(1);
    bench.say(1, { t: 'kept', instance: 'i1', kept: [{ attempt: 1, stdout: 100_000, stderr: 10 }] });
    expect(bench.sentTo(2)).toMatchObject([
      { t: 'fetch', attempt: 1, stream: 'stdout', offset: 0, limit: 100_000 - 65_536 },
    ]);
  });
});

describe('requests', () => {
  it('are answered in the step that makes them durable', () => {
    const bench = new Bench();
    expect(bench.request({ type: 'register', spec })).toMatchObject({ type: 'reply', reply: { type: 'registered' } });
  });

  it('that are bad are refused and change nothing', () => {
    const bench = new Bench();
    const unknown = bench.request({ type: 'cancel', workflow: workflowId(5) });
    expect(unknown).toMatchObject({ type: 'refuse', error: { code: 'workflow-unknown' } });
    bench.request({ type: 'register', spec });
    const edges = [
      { parents: [2, 2] as [number, number], children: [1, 1] as [number, number], after: 'any' as const },
    ];
    const batch = { tasks: [{ command: 'a' }, { command: 'b' }], edges };
    expect(bench.request({ type: 'extend', workflow: w1, batch })).toMatchObject({ error: { code: 'bad-input' } });
    expect(bench.cluster.tasks.size).toBe(0);
    const huge = { tasks: [{ command: 'x'.repeat(1024 * 1024 + 1) }], edges: [] };
    expect(bench.request({ type: 'extend', workflow: w1, batch: huge })).toMatchObject({
      error: { code: 'too-large' },
    });
  });

  it('halt what a host that died had left going on', () => {
    const bench = new Bench();
    bench.submit({ command: 'a' });
    expect(bench.request({ type: 'halt-interrupted' })).toMatchObject({
      reply: { type: 'interrupted', workflows: [w1] },
    });
    expect(bench.cluster.workflow(w1).state).toBe('halted');
  });
});
