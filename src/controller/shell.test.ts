import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { plainSpec as spec } from '../../test/controller/spec.ts';
import type { WorkflowId } from '../model/ids.ts';
import type { LinkListener, Log } from '../platform/env.ts';
import { realClock } from '../platform/node/clock.ts';
import { type FromWorker, type ToWorker, workerProtocolVersion } from '../protocol/worker.ts';
import { MemoryDisk } from '../store/memory/store.ts';
import type { Batch, Store } from '../store/store.ts';
import { recoverController } from './recover.ts';
import type { ControllerShell } from './shell.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const noPacks = { write: async () => {}, read: async () => new Uint8Array(), close: async () => {} };

interface Started {
  readonly shell: ControllerShell;
  readonly fatal: unknown[];
}

/** A real controller on a real memory store whose commits the test can slow down or break. */
async function start(
  onCommit: (batch: Batch) => Promise<void>,
  log: Log = silent,
  clock = realClock(),
): Promise<Started> {
  const store = new MemoryDisk(randomUUID()).open();
  const commit = store.commit.bind(store);
  const watched: Store = Object.assign(store, {
    commit: async (batch: Batch) => {
      await onCommit(batch);
      await commit(batch);
    },
  });
  const fatal: unknown[] = [];
  const onFatal = (error: unknown): void => void fatal.push(error);
  const world = { clock, store: watched, packs: noPacks, log, defer: setImmediate, onFatal };
  return { shell: await recoverController(world, randomUUID()), fatal };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A worker with one slot that speaks when the test says so. */
class BusyWorker {
  held: number[] = [];
  readonly #listener: LinkListener;

  constructor(shell: ControllerShell) {
    const say = (message: FromWorker): void => this.#listener.onText(JSON.stringify([message]));
    const { scheduler } = shell;
    const onMessage = (message: ToWorker): void => {
      if (message.t === 'get-running') say({ t: 'running', scheduler, instance: '1-x', seq: 0, attempts: [] });
      if (message.t === 'check') say({ t: 'checked', scheduler, instance: '1-x', check: message.check, isGood: true });
      if (message.t === 'run') for (const { attempt } of message.orders) this.held.push(attempt);
    };
    const send = (text: string): boolean => {
      for (const message of JSON.parse(text) as ToWorker[]) onMessage(message);
      return true;
    };
    this.#listener = shell.acceptLink({ send, close: () => {} });
    const worker = { shard: 's', lock: 'l', instance: '1-x', host: 'h', pid: 1 };
    say({ t: 'heartbeat', version: workerProtocolVersion, beat: 1, worker, slots: 1 });
    this.end = (count) => {
      const ends = this.held.splice(0, count).map((attempt) => ({
        ...{ attempt, outcome: { kind: 'succeeded' as const }, startedAt: 1, usage: { wallMs: 1, cpuMs: 1 } },
        ...{ stdout: { bytes: 0, tail: '' }, stderr: { bytes: 0, tail: '' } },
      }));
      say({ t: 'update', scheduler, ends });
    };
  }

  readonly end: (count: number) => void;
}

describe('the shell of the controller', () => {
  it('answers a request only when it is durable, and shows nothing before', async () => {
    let release = (): void => {};
    const { shell } = await start(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    let isAnswered = false;
    const answer = shell.request({ type: 'register', spec }).then((reply) => {
      isAnswered = true;
      return reply;
    });
    const seen = shell.read((cluster) => ({ count: cluster.workflows.size, isAnswered }));
    await pause(20);
    expect(isAnswered).toBe(false);
    release();
    expect(await answer).toMatchObject({ type: 'registered' });
    expect(await seen).toMatchObject({ count: 1 });
    await shell.close();
  });

  it('holds the link of a worker that sends faster than turns are taken, until they are', async () => {
    let release = (): void => {};
    const { shell } = await start(() => new Promise((resolve) => (release = resolve)));
    const held: boolean[] = [];
    const listener = shell.acceptLink({ send: () => true, close: () => {}, hold: (isHeld) => held.push(isHeld) });
    void shell.request({ type: 'register', spec });
    await pause(5);
    const frame = JSON.stringify(Array.from({ length: 1_000 }, () => ({ t: 'output-hello', instance: 'x' })));
    for (let n = 0; n < 10; n++) listener.onText(frame);
    expect(held).toEqual([true]);
    release();
    await shell.read(() => {});
    await pause(5);
    expect(held).toEqual([true, false]);
    await shell.close();
  });

  it('lets readers look between turns, however many turns follow each other', async () => {
    const { shell } = await start(() => pause(2));
    let isOver = false;
    const load = (async () => {
      while (!isOver) {
        // The last ones find the controller closed.
        shell.request({ type: 'register', spec }).catch(() => {});
        await pause(0);
      }
    })();
    await pause(20);
    const looks = await Promise.all([1, 2, 3].map(() => shell.read((cluster) => cluster.workflows.size)));
    expect(looks.every((count) => count > 0)).toBe(true);
    isOver = true;
    await load;
    await shell.close();
  });

  it('lets messages of workers with work to spare wait for each other, but no request', async () => {
    let commits = 0;
    // On a clock that stands still a pause has no end.
    const clock = { now: () => 1_000, at: () => ({ cancel: () => {} }) };
    const { shell } = await start(async () => void commits++, silent, clock);
    const worker = new BusyWorker(shell);
    const { workflow } = (await shell.request({ type: 'register', spec })) as { workflow: WorkflowId };
    const tasks = Array.from({ length: 500 }, () => ({ command: 'true' }));
    await shell.request({ type: 'extend', workflow, batch: { tasks, edges: [] } });
    await shell.request({ type: 'close', workflow });
    // The first end tells that tasks are short: from then on more than its slot can take is sent.
    while (worker.held.length === 0) await pause(1);
    worker.end(1);
    while (worker.held.length < 50) await pause(1);
    const before = commits;
    for (let count = 0; count < 10; count++) {
      worker.end(1);
      await new Promise(setImmediate);
    }
    expect(commits).toBe(before);
    await shell.request({ type: 'retry-failed', workflow, after: 0 });
    expect(commits).toBe(before + 1);
    worker.end(worker.held.length);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(commits).toBe(before + 2);
    await shell.close();
  });

  it('ends the process when a commit fails, answers nothing, and can still be closed', async () => {
    const { shell, fatal } = await start(() => Promise.reject(new Error('disk full')));
    const answer = shell.request({ type: 'register', spec });
    answer.catch(() => {});
    while (fatal.length === 0) await pause(1);
    expect(fatal).toEqual([new Error('disk full')]);
    await shell.close();
    await expect(answer).rejects.toMatchObject({ code: 'controller-stopping' });
  });

  it('says at the level debug what it is doing, before it does it', async () => {
    const said: unknown[] = [];
    const log = { ...silent, debug: (facts: object) => void said.push(...Object.values(facts)) };
    const { shell } = await start(async () => void said.push('commit'), log);
    const registered = await shell.request({ type: 'register', spec });
    if (registered.type !== 'registered') throw new Error('not registered');
    while (said.at(-1) !== 'idle') await pause(1);
    await shell.request({ type: 'abort', workflow: registered.workflow });
    await shell.close();
    expect(said).toEqual(['recovering', 'submitting', 'commit', 'idle', 'committing', 'commit', 'idle']);
  });

  it('reports a refused request as an error with its code', async () => {
    const { shell } = await start(async () => {});
    await expect(shell.request({ type: 'cancel', workflow: 9 as never })).rejects.toMatchObject({
      code: 'workflow-unknown',
    });
    await shell.close();
  });
});
