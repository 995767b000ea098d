/** Workers over HTTP at a real controller in this process, played request by request. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, short } from '../../test/conformance/seed-a/bench.ts';

let bench: Bench;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
});

afterEach(() => bench.stop());

const command = { command: 'x' };

describe('a worker over HTTP', () => {
  it('registers, is listed with its kind, and leaves', async () => {
    const { status, body } = await bench.call('POST', 'workers', { name: 'mine', slots: 3, host: 'there' });
    expect([status, body]).toEqual([201, { id: 'k1', leaseMs: 13_000, marginMs: 5_000, heartbeatMs: 1_000 }]);
    const seen = { id: 'k1', kind: 'http', shard: 'mine', host: 'there', slots: 3, state: 'healthy', attempts: 0 };
    expect((await bench.call('GET', 'workers')).body.workers).toEqual([expect.objectContaining(seen)]);
    expect((await bench.call('DELETE', 'workers/k1')).status).toBe(200);
    expect((await bench.call('GET', 'workers')).body.workers).toEqual([]);
    const beat = await bench.call('POST', 'workers/k1/heartbeat');
    expect([beat.status, beat.body.error.code]).toEqual([404, 'worker-unknown']);
  });

  it('claims one task, and gets all that it needs to run it', async () => {
    const w = await bench.submit([{ command: 'echo hi', name: 'n', timeoutMs: 7_000, resources: { gpus: 1 } }]);
    const plain = await bench.worker();
    const { body: refusal } = await bench.claim(plain, `${w}.1`);
    expect(refusal.error).toMatchObject({ code: 'task-not-available', message: expect.stringContaining('k1 has') });
    expect((await bench.call('POST', `workers/${plain}/claims`, {})).body.claims).toEqual([]);
    const { body: registered } = await bench.call('POST', 'workers', { name: 'gpu', capacity: { gpus: 1 } });
    const k = registered.id;
    const { status, body } = await bench.claim(k, `${w}.1`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ state: 'running', attempt: 'w1.1#1', number: 1, task: 'w1.1', workflow: 'w1', name: 'n' },
      ...{ command: 'echo hi', cwd: '/', shell: '/bin/sh', timeoutMs: 7_000, terminationMs: 1_000 },
      requestedResources: { gpus: 1 },
      env: { DROVER_TASK_ID: 'w1.1', DROVER_ATTEMPT: '1', DROVER_WORKER: 'k2', DROVER_WORKFLOW_ID: 'w1' },
      lease: { leaseMs: 13_000, marginMs: 5_000 },
    });
    expect(await bench.state(`${w}.1`)).toBe('running');
  });

  it('claims many in the order of the scheduler, as far as it has room', async () => {
    const w = await bench.submit(Array.from({ length: 5 }, () => command));
    const k = await bench.worker(3);
    const { body } = await bench.call('POST', `workers/${k}/claims`, { max: 10 });
    expect(body.claims.map(({ attempt }: { attempt: string }) => attempt)).toEqual(['w1.1#1', 'w1.2#1', 'w1.3#1']);
    expect((await bench.call('POST', `workers/${k}/claims`, { max: 10 })).body.claims).toEqual([]);
    expect((await bench.claim(k, `${w}.4`)).body.error.code).toBe('worker-full');
    const held = (await bench.call('GET', `workers/${k}/claims`)).body.claims;
    expect(held).toEqual(body.claims);
  });

  it('waits for tasks as long as it likes', async () => {
    const k = await bench.worker();
    const claim = bench.call('POST', `workers/${k}/claims`, { max: 1, waitMs: 20_000 });
    const w = await bench.submit([command]);
    expect((await claim).body.claims).toMatchObject([{ task: `${w}.1` }]);
    expect((await bench.call('POST', `workers/${k}/claims`, { waitMs: 30 })).body.claims).toEqual([]);
  });

  it('waits for a task that is tried again after a while, too', async () => {
    const w = await bench.submit([command], { maxAttempts: 2 });
    const k = await bench.worker();
    await bench.run(k, `${w}.1`, { exit_status: 1 });
    const { body } = await bench.call('POST', `workers/${k}/claims`, { waitMs: 20_000 });
    expect(body.claims).toMatchObject([{ attempt: `${w}.1#2` }]);
  });

  it('is drained, and released', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.call('POST', `workers/${k}/drain`);
    expect((await bench.claim(k, `${w}.1`)).body.error.code).toBe('worker-barred');
    expect((await bench.call('POST', `workers/${k}/claims`, {})).body.claims).toEqual([]);
    expect((await bench.call('POST', `workers/${k}/heartbeat`)).body.bar).toBe('drained');
    await bench.call('POST', `workers/${k}/release`);
    expect((await bench.claim(k, `${w}.1`)).status).toBe(200);
    expect((await bench.call('POST', `workers/${k}/slots`, { slots: 7 })).body).toMatchObject({ slots: 7 });
  });

  it('that claims a task twice is told who has it, and runs it once', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    const { status, body } = await bench.claim(k, `${w}.1`);
    expect([status, body.error.code]).toEqual([409, 'task-not-available']);
    expect(body.error.details).toMatchObject({ state: 'running', worker: k, attempt: 'w1.1#1' });
  });

  it.each([
    ['POST', 'workers', {}],
    ['POST', 'workers', { name: '' }],
    ['POST', 'workers', { name: 'x', slots: 0 }],
    ['POST', 'workers', { name: 'x', colour: 'red' }],
    ['POST', 'workers/k1/claims', { max: 0 }],
    ['POST', 'workers/k1/claims', { max: 101 }],
    ['POST', 'workers/k1/heartbeat', { attempts: ['nonsense'] }],
    ['GET', 'tasks/available?fields=id,secret', undefined],
    ['GET', 'tasks/available?limit=0', undefined],
  ])('is refused with 400 what makes no sense: %s %s %j', async (method, path, body) => {
    await bench.worker();
    expect(await bench.call(method, path, body)).toMatchObject({ status: 400 });
  });

  it.each(['claims', 'heartbeat'])('that is unknown gets 404: %s', async (verb) => {
    expect(await bench.call('POST', `workers/k9/${verb}`, {})).toMatchObject({ status: 404 });
    expect(await bench.call('GET', 'workers/k9/orders')).toMatchObject({ status: 404 });
  });
});

describe('the end of an attempt', () => {
  it('that is repeated is answered as the first time', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    const first = await bench.end(k, `${w}.1`, { exit_status: 0, attempt: 1 });
    expect(first).toMatchObject({ status: 200, body: { state: 'done', outcome: { kind: 'succeeded' } } });
    expect(await bench.end(k, `${w}.1`, { exit_status: 1, attempt: 1 })).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect((await bench.task(`${w}.1`)).history).toHaveLength(1);
  });

  it('of an attempt before the last changes nothing any more', async () => {
    const w = await bench.submit([command], { maxAttempts: 2 });
    const k = await bench.worker();
    await bench.run(k, `${w}.1`, { exit_status: 3, attempt: 1 });
    await bench.call('POST', `workers/${k}/claims`, { waitMs: 20_000 });
    expect((await bench.end(k, `${w}.1`, { exit_status: 3, attempt: 1 })).status).toBe(200);
    expect(await bench.task(`${w}.1`)).toMatchObject({ state: 'running', attempts: 2 });
    expect((await bench.end(k, `${w}.1`, { exit_status: 0, attempt: 3 })).status).toBe(404);
  });

  it('that another worker tells of is refused with 403', async () => {
    const w = await bench.submit([command, command]);
    const [mine, other] = [await bench.worker(), await bench.worker()];
    await bench.claim(mine, `${w}.1`);
    for (const info of [{ exit_status: 0 }, { exit_status: 0, attempt: 1 }]) {
      const { status, body } = await bench.end(other, `${w}.1`, info);
      expect([status, body.error.code]).toEqual([403, 'not-your-attempt']);
    }
    expect((await bench.end(other, `${w}.2`)).status).toBe(403);
    expect(await bench.state(`${w}.1`)).toBe('running');
  });

  it.each([
    [{ signal: 9 }, 'failed', { kind: 'signalled', signal: 9 }],
    [{ exit_status: 7 }, 'failed', { kind: 'exited', code: 7 }],
    [{ resource: 'runtime' }, 'failed', { kind: 'resource', resource: 'runtime' }],
    [{ exit_status: 0, cpu_ms: 5, peak_bytes: 9 }, 'done', { kind: 'succeeded' }],
  ])('may be %j', async (info, state, outcome) => {
    const w = await bench.submit([command]);
    const { body } = await bench.run(await bench.worker(), `${w}.1`, info);
    expect(body).toMatchObject({ state, outcome });
  });

  it('that could not begin is tried again, and costs no attempt', async () => {
    const w = await bench.submit([command]);
    const { body } = await bench.run(await bench.worker(), `${w}.1`, { not_started: 'no such directory' });
    expect(body).toMatchObject({ state: 'queued', attempts: 1 });
  });

  it('needs to say how', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    expect((await bench.end(k, `${w}.1`, {})).body.error.message).toContain('how it ended');
    expect((await bench.end(k, `${w}.1`, { exit_status: null })).status).toBe(400);
    expect((await bench.end(k, `${w}.1`, { exit_status: 0, time_terminated: 'now' })).status).toBe(400);
    expect(await bench.state(`${w}.1`)).toBe('running');
  });
});

describe('the output of an attempt', () => {
  const put = (k: string, attempt: string, offset: number, text: string, stream = 'stdout') =>
    bench.call('PUT', `attempts/${attempt}/output/${stream}?worker=${k}&offset=${offset}`, Buffer.from(text));

  it('is appended, readable while it runs, and after', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    expect((await put(k, `${w}.1.1`, 0, 'one')).body).toEqual({ offset: 3 });
    expect((await bench.call('GET', `tasks/${w}.1/output`)).body).toBe('one');
    expect((await put(k, `${w}.1%231`, 3, 'two')).body).toEqual({ offset: 6 });
    expect((await put(k, `${w}.1.1`, 0, 'oops', 'stderr')).body).toEqual({ offset: 4 });
    await bench.end(k, `${w}.1`);
    const { body, headers } = await bench.call('GET', `tasks/${w}.1/output`);
    expect([body, headers.get('x-drover-complete')]).toEqual(['onetwo', 'true']);
    expect((await bench.call('GET', `tasks/${w}.1/output?stream=stderr`)).body).toBe('oops');
  });

  it('is taken once, however often a piece comes, and never with a gap', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    const attempt = `${w}.1.1`;
    await put(k, attempt, 0, 'abc');
    expect((await put(k, attempt, 0, 'abc')).body).toEqual({ offset: 3 });
    expect((await put(k, attempt, 1, 'bcde')).body).toEqual({ offset: 5 });
    const gap = await put(k, attempt, 9, 'x');
    expect([gap.status, gap.body.error.code, gap.body.error.details]).toEqual([409, 'output-gap', { expected: 5 }]);
    expect((await bench.call('GET', `tasks/${w}.1/output`)).body).toBe('abcde');
  });

  it('goes on where it was after a restart of the controller', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    await put(k, `${w}.1.1`, 0, 'before ');
    await bench.restart();
    expect((await put(k, `${w}.1.1`, 0, 'before after')).body).toEqual({ offset: 12 });
    await bench.end(k, `${w}.1`);
    expect((await bench.call('GET', `tasks/${w}.1/output`)).body).toBe('before after');
  });

  it('is refused from others, after the end, and where there is no such attempt', async () => {
    const w = await bench.submit([command]);
    const [mine, other] = [await bench.worker(), await bench.worker()];
    await bench.claim(mine, `${w}.1`);
    expect(await put(other, `${w}.1.1`, 0, 'x')).toMatchObject({ status: 403 });
    expect(await put(mine, `${w}.1.2`, 0, 'x')).toMatchObject({ status: 404 });
    expect(await put(mine, `${w}.1`, 0, 'x')).toMatchObject({ status: 400 });
    expect(await put(mine, `${w}.1.1`, 0, 'x'.repeat(1024 * 1024 + 1))).toMatchObject({ status: 413 });
    await bench.end(mine, `${w}.1`);
    const late = await put(mine, `${w}.1.1`, 0, 'x');
    expect([late.status, late.body.error.code]).toEqual([409, 'attempt-ended']);
  });
});

describe('a lease', () => {
  beforeEach(async () => {
    await bench.stop();
    bench = new Bench(short);
    await bench.start();
  });

  it('that ends makes its attempt lost; the task is tried again, and the worker is gone', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    await bench.eventually('it is lost', async () => (await bench.state(`${w}.1`)) === 'queued');
    expect((await bench.task(`${w}.1`)).history).toMatchObject([{ outcome: { kind: 'lost', what: 'worker' } }]);
    const beat = await bench.call('POST', `workers/${k}/heartbeat`);
    expect([beat.status, beat.body.error.message]).toEqual([404, `${k} is gone: its lease ended`]);
  });

  it('is renewed by heartbeats, which name what the worker has', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    for (const end = performance.now() + 3 * short.loseAfterMs; performance.now() < end; ) {
      const { body } = await bench.call('POST', `workers/${k}/heartbeat`);
      expect(body).toEqual({ leaseMs: 500, marginMs: 100, heartbeatMs: 50, cancel: [], attempts: [`${w}.1#1`] });
      await new Promise((done) => setTimeout(done, 20));
    }
    expect(await bench.state(`${w}.1`)).toBe('running');
  });

  it('of an attempt that its worker does not name runs out, and it is told so when it does', async () => {
    const w = await bench.submit([command, command]);
    const k = await bench.worker();
    await bench.call('POST', `workers/${k}/claims`, { max: 2 });
    const beat = (...attempts: string[]) => bench.call('POST', `workers/${k}/heartbeat`, { attempts });
    await bench.eventually('the other is lost', async () => {
      await beat(`${w}.1#1`);
      return (await bench.state(`${w}.2`)) === 'queued';
    });
    expect(await bench.state(`${w}.1`)).toBe('running');
    const { body } = await beat(`${w}.1#1`, `${w}.2#1`);
    expect(body.cancel).toEqual([{ attempt: `${w}.2#1`, why: 'gone' }]);
  });

  it('goes on after a restart of the controller, and is whole again', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    await bench.restart();
    expect((await bench.call('POST', `workers/${k}/heartbeat`)).body.attempts).toEqual([`${w}.1#1`]);
    expect(await bench.end(k, `${w}.1`)).toMatchObject({ status: 200, body: { state: 'done' } });
    await bench.restart();
    await bench.eventually(
      'nobody is left',
      async () => (await bench.call('GET', 'workers')).body.workers.length === 0,
    );
  });

  it('that ended does not keep a good end out, as long as the task has no other attempt', async () => {
    const w = await bench.submit([command, command]);
    const k = await bench.worker();
    for (const task of [`${w}.1`, `${w}.2`]) await bench.claim(k, task);
    await bench.eventually('both are lost', async () => (await bench.states(w)).every((state) => state === 'queued'));
    expect(await bench.end(k, `${w}.1`)).toMatchObject({ status: 200, body: { state: 'done' } });
    const other = await bench.worker(1);
    await bench.eventually('another has claimed it', async () => {
      const { claims } = (await bench.call('POST', `workers/${other}/claims`, {})).body;
      return claims[0]?.attempt === `${w}.2#2`;
    });
    const late = await bench.end(k, `${w}.2`);
    expect([late.status, late.body.error.code]).toEqual([409, 'attempt-superseded']);
  });
});

describe('a cancellation', () => {
  it('reaches the worker by its heartbeat, and by its orders, for which it can wait', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    const orders = bench.call('GET', `workers/${k}/orders?waitMs=20000`);
    await bench.call('POST', `tasks/${w}.1/cancel`);
    const cancel = [{ attempt: `${w}.1#1`, why: 'cancel' }];
    expect((await orders).body).toEqual({ cancel });
    expect((await bench.call('POST', `workers/${k}/heartbeat`)).body.cancel).toEqual(cancel);
    const known = await bench.call('GET', `workers/${k}/orders?waitMs=30&known=${w}.1%231`);
    expect(known.body).toEqual({ cancel });
    const { body } = await bench.end(k, `${w}.1`, { signal: 15 }, 'cancelled');
    expect(body).toMatchObject({ state: 'cancelled', outcome: { kind: 'cancelled', signal: 15 } });
    expect(await bench.orders(k)).toEqual([]);
  });

  it('that nobody asked for can not be what a worker says', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    const { status, body } = await bench.end(k, `${w}.1`, {}, 'cancelled');
    expect([status, body.error.code, body.error.details.state]).toEqual([409, 'transition-not-allowed', 'running']);
  });

  it('of a workflow that is halted ends the attempt, and the task can go on later', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    await bench.claim(k, `${w}.1`);
    await bench.call('POST', `workflows/${w}/halt`, { mode: 'kill' });
    expect((await bench.call('POST', `workers/${k}/heartbeat`)).body.cancel).toEqual([
      { attempt: `${w}.1#1`, why: 'halt' },
    ]);
    await bench.end(k, `${w}.1`, {}, 'cancelled');
    expect((await bench.call('GET', `workflows/${w}`)).body.state).toBe('halted');
    const refused = await bench.claim(k, `${w}.1`);
    expect(refused.body.error).toMatchObject({
      code: 'task-not-available',
      message: 'w1.1 is queued: its workflow is halted',
    });
    expect(await bench.available()).toEqual([]);
  });
});

describe('a worker is spoken for', () => {
  it('with the token that it was registered with, or by an admin, and with no other', async () => {
    const w = await bench.submit([command, command, command]);
    const [mine, other] = [await bench.callsAs('worker'), await bench.callsAs('worker')];
    const k: string = (await mine('POST', 'workers', { name: 'mine', slots: 3 })).body.id;
    await mine('POST', `workers/${k}/claims`, {});
    const info = { worker: k, exit_status: 0 };
    const requests = [
      ['POST', `workers/${k}/claims`, {}],
      ['GET', `workers/${k}/claims`, undefined],
      ['POST', `workers/${k}/heartbeat`, {}],
      ['GET', `workers/${k}/orders`, undefined],
      ['PUT', `attempts/${w}.1.1/output/stdout?worker=${k}&offset=0`, Buffer.from('x')],
      ['PATCH', `tasks/${w}.3`, { state: 'running', execution_info: { worker: k } }],
      ['POST', `tasks/${w}.1/execution_info/time_started`, { worker: k }],
      ['POST', `tasks/${w}.1/report_memory_usage`, { value: 1 }],
      ['PATCH', `tasks/${w}.1`, { state: 'terminated', execution_info: info }],
      ['DELETE', `workers/${k}`, undefined],
    ] as const;
    for (const [method, path, body] of requests) {
      expect([path, (await other(method, path, body)).body.error?.code]).toEqual([path, 'worker-wrong']);
    }
    expect((await bench.call('POST', `workers/${k}/heartbeat`)).body.attempts).toEqual([`${w}.1#1`]);
    for (const [method, path, body] of requests) {
      expect([path, (await mine(method, path, body)).status]).toEqual([path, 200]);
    }
  });

  it('by workers only, and workers only speak for themselves', async () => {
    const w = await bench.submit([command]);
    const k = await bench.worker();
    const [submitter, worker] = [await bench.callsAs('submit'), await bench.callsAs('worker')];
    const claim = { state: 'running', execution_info: { worker: k } };
    expect((await submitter('PATCH', `tasks/${w}.1`, claim)).body.error.code).toBe('worker-wrong');
    expect((await submitter('POST', 'workers', { name: 'x' })).body.error.code).toBe('role-not-allowed');
    for (const state of ['cancelled', 'available']) {
      expect((await worker('PATCH', `tasks/${w}.1`, { state })).body.error.code).toBe('role-not-allowed');
    }
    expect((await submitter('PATCH', `tasks/${w}.1`, { state: 'cancelled' })).body.state).toBe('cancelled');
  });

  it('with that token also after a restart of the controller', async () => {
    const mine = await bench.callsAs('worker');
    const k: string = (await mine('POST', 'workers', { name: 'mine' })).body.id;
    await bench.restart();
    const other = await bench.callsAs('worker');
    expect((await other('POST', `workers/${k}/heartbeat`)).body.error.code).toBe('worker-wrong');
  });
});
