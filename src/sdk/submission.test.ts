import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { submitTasksMax } from '../model/limits.ts';
import type { EdgeSpec, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import { Client } from './client.ts';
import { type SubmissionItem, submit } from './submission.ts';

const spec: WorkflowSpec = {
  cwd: '/',
  shell: '/bin/sh',
  env: {},
  maxAttempts: 1,
  terminationMs: 3_000,
  failFast: false,
  open: false,
};

/** Takes submissions over HTTP and writes down what came. */
class Recorder {
  readonly requests: string[] = [];
  readonly batches: TaskBatch[] = [];
  refuseExtension = false;
  readonly server: Server = createServer(async (request, response) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece);
    const content = JSON.parse(Buffer.concat(pieces).toString() || '{}');
    this.requests.push(`${request.method} ${request.url}`);
    const batch = request.url?.endsWith('/tasks') ? content : content.batch;
    if (batch !== undefined) {
      this.batches.push(batch);
      if (this.refuseExtension) response.statusCode = 413;
    }
    response.end(
      JSON.stringify(response.statusCode === 413 ? { error: { code: 'too-large', message: 'no' } } : { id: 'w1' }),
    );
  });

  get tasks(): TaskSpec[] {
    return this.batches.flatMap((batch) => batch.tasks);
  }

  get edges(): EdgeSpec[] {
    return this.batches.flatMap((batch) => batch.edges);
  }
}

let recorder: Recorder;
let client: Client;

beforeEach(async () => {
  recorder = new Recorder();
  await new Promise<void>((resolve) => recorder.server.listen(0, '127.0.0.1', resolve));
  client = new Client({ url: `http://127.0.0.1:${(recorder.server.address() as AddressInfo).port}`, token: 't' });
});

afterEach(() => {
  vi.useRealTimers();
  recorder.server.close();
  recorder.server.closeAllConnections();
});

const task = (command: string): SubmissionItem => ({ command });
const barrier: SubmissionItem = { barrier: true };
const submitAll = (...items: SubmissionItem[]) => submit(client, { spec, items });

describe('order of requests', () => {
  it('submits what one batch holds in one request', async () => {
    await submitAll(task('a'), { command: 'b', name: 'second', arrayIndex: 7 });
    expect(recorder.requests).toEqual(['POST /api/v1/workflows']);
    expect(recorder.tasks).toEqual([{ command: 'a' }, { command: 'b', name: 'second', arrayIndex: 7 }]);
    expect(recorder.edges).toEqual([]);
  });

  it('registers, extends and closes what is longer', async () => {
    await submitAll(...Array.from({ length: submitTasksMax + 1 }, () => task('a')));
    expect(recorder.requests).toEqual([
      'POST /api/v1/workflows',
      'POST /api/v1/workflows/w1/tasks',
      'POST /api/v1/workflows/w1/tasks',
      'POST /api/v1/workflows/w1/close',
    ]);
  });

  it('submits a workflow without tasks', async () => {
    await submitAll();
    expect(recorder.requests).toHaveLength(1);
    expect(recorder.batches).toEqual([{ tasks: [], edges: [] }]);
  });

  it('registers nothing when a short stream fails', async () => {
    async function* items() {
      yield task('a');
      throw new Error('line 2');
    }
    await expect(submit(client, { spec, items: items() })).rejects.toThrow('line 2');
    expect(recorder.requests).toEqual([]);
  });

  it('aborts what it has registered when a long stream fails', async () => {
    async function* items() {
      for (let i = 0; i < submitTasksMax; i++) yield task('a');
      throw new Error('the last line');
    }
    await expect(submit(client, { spec, items: items() })).rejects.toThrow('the last line');
    expect(recorder.requests.at(-1)).toBe('POST /api/v1/workflows/w1/abort');
  });

  it('aborts when the controller refuses a batch', async () => {
    recorder.refuseExtension = true;
    const many = Array.from({ length: submitTasksMax }, () => task('a'));
    await expect(submitAll(...many)).rejects.toMatchObject({ code: 'too-large' });
    expect(recorder.requests.at(-1)).toBe('POST /api/v1/workflows/w1/abort');
  });

  it('stops at once on a signal although the source is silent', async () => {
    const stop = new AbortController();
    async function* items() {
      for (let i = 0; i < submitTasksMax; i++) yield task('a');
      await new Promise(() => undefined);
    }
    const submission = submit(client, {
      spec,
      items: items(),
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('interrupted')),
    });
    await expect(submission).rejects.toThrow('interrupted');
    expect(recorder.requests.at(-1)).toBe('POST /api/v1/workflows/w1/abort');
  });

  it('stops on a signal, and nobody minds that the source fails of it', async () => {
    const stop = new AbortController();
    const failed = Promise.withResolvers<void>();
    async function* items(): AsyncGenerator<SubmissionItem> {
      for (let i = 0; i < submitTasksMax; i++) yield task('a');
      await new Promise((after) => setImmediate(after));
      setImmediate(failed.resolve);
      throw new Error('the input was closed');
    }
    const onProgress = (): void => stop.abort(new Error('interrupted'));
    await expect(submit(client, { spec, items: items(), signal: stop.signal, onProgress })).rejects.toThrow(
      'interrupted',
    );
    // What nobody minded would have ended the process by then.
    await failed.promise;
  });

  it('sends what it has, or nothing, as a sign of life while the source is silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const goOn = Promise.withResolvers<void>();
    async function* items() {
      for (let i = 0; i <= submitTasksMax; i++) yield task('a');
      await goOn.promise;
    }
    const submission = submit(client, { spec, items: items() });
    await vi.waitFor(() => expect(recorder.batches).toHaveLength(1));
    for (const batches of [2, 3]) {
      await vi.advanceTimersByTimeAsync(21_000);
      await vi.waitFor(() => expect(recorder.batches).toHaveLength(batches));
    }
    goOn.resolve();
    await submission;
    expect(recorder.batches.map(({ tasks }) => tasks.length)).toEqual([submitTasksMax, 1, 0, 0]);
  });
});

describe('batches', () => {
  it('have a limit of tasks', async () => {
    await submit(client, { spec, items: Array.from({ length: 2 * submitTasksMax + 1 }, (_, i) => task(`echo ${i}`)) });
    expect(recorder.batches.map(({ tasks }) => tasks.length)).toEqual([submitTasksMax, submitTasksMax, 1]);
    expect(recorder.tasks.at(-1)).toEqual({ command: `echo ${2 * submitTasksMax}` });
  });

  it('have a limit of text', async () => {
    await submitAll(...Array.from({ length: 5 }, () => task('x'.repeat(400_000))));
    expect(recorder.batches.map(({ tasks }) => tasks.length)).toEqual([3, 2]);
  });

  it('report how many tasks went, barriers not counted', async () => {
    const seen: number[] = [];
    const items = [barrier, ...Array.from({ length: submitTasksMax }, () => task('a'))];
    await submit(client, { spec, items, onProgress: (tasks) => seen.push(tasks) });
    expect(seen).toEqual([submitTasksMax - 1]);
  });
});

describe('barriers', () => {
  it('wait for the tasks before them, and those after wait for them', async () => {
    await submitAll(task('a'), task('b'), barrier, task('c'), { barrier: true, check: true }, task('d'));
    expect(recorder.tasks).toEqual([
      { command: 'a' },
      { command: 'b' },
      {},
      { command: 'c' },
      { check: true },
      { command: 'd' },
    ]);
    expect(recorder.edges).toEqual([
      { parents: [1, 2], children: [3, 3], after: 'any' },
      { parents: [3, 3], children: [4, 4], after: 'success' },
      { parents: [4, 4], children: [5, 5], after: 'any' },
      { parents: [3, 3], children: [5, 5], after: 'success' },
      { parents: [5, 5], children: [6, 6], after: 'success' },
    ]);
  });

  it('may come first, last and in a row', async () => {
    await submitAll(barrier, barrier, task('a'), barrier);
    expect(recorder.edges).toEqual([
      { parents: [1, 1], children: [2, 2], after: 'success' },
      { parents: [2, 2], children: [3, 3], after: 'success' },
      { parents: [3, 3], children: [4, 4], after: 'any' },
      { parents: [2, 2], children: [4, 4], after: 'success' },
    ]);
  });

  it('hold back the tasks of every later batch', async () => {
    const batch = submitTasksMax;
    const many = Array.from({ length: batch + 1 }, () => task('x'));
    await submitAll(task('a'), barrier, ...many, barrier, task('z'));
    expect(recorder.batches[0]?.edges).toEqual([
      { parents: [1, 1], children: [2, 2], after: 'any' },
      { parents: [2, 2], children: [3, batch], after: 'success' },
    ]);
    expect(recorder.batches[1]?.edges).toEqual([
      { parents: [2, 2], children: [batch + 1, batch + 3], after: 'success' },
      { parents: [3, batch + 3], children: [batch + 4, batch + 4], after: 'any' },
      { parents: [2, 2], children: [batch + 4, batch + 4], after: 'success' },
      { parents: [batch + 4, batch + 4], children: [batch + 5, batch + 5], after: 'success' },
    ]);
  });
});
