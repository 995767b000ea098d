/** Submission as a stream of lines, over HTTP, at a real controller in this process. */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workflowId } from '../../src/model/ids.ts';
import { commandBytesMax, ndjsonLineBytesMax, submitTasksMax } from '../../src/model/limits.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;

beforeEach(async () => {
  controller = await startController();
  client = new Client(controller.access);
});

afterEach(() => controller.close());

async function send(path: string, body: string | Uint8Array | ReadableStream) {
  const response = await fetch(`${controller.access.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${controller.access.token}`, 'content-type': 'application/x-ndjson' },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit);
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of it.
  return { status: response.status, body: (await response.json()) as any };
}

const lines = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n');
const edge = (parents: [number, number], children: [number, number], after = 'success') => ({
  parents,
  children,
  after,
});
const commands = async () => (await Array.fromAsync(client.eachTask())).map(({ command }) => command);

describe('lines that are added to a workflow', () => {
  let id: string;
  beforeEach(async () => {
    id = (await client.register(plainSpec)).id;
  });

  it('are its tasks and edges, in their order', async () => {
    const body = `${lines({ command: 'a' }, { command: 'b', priority: 3 })}\n\n  \r\n${lines({}, edge([1, 2], [3, 3], 'any'))}\n`;
    expect(await send(`workflows/${id}/tasks`, body)).toEqual({
      status: 200,
      body: { firstIndex: 1, count: 3, lines: 6 },
    });
    const more = lines(edge([3, 3], [4, 5]), { command: 'c' }, { command: 'ü 🐑' });
    expect((await send(`workflows/${id}/tasks`, more)).body).toEqual({ firstIndex: 4, count: 2, lines: 3 });
    expect(await commands()).toEqual(['a', 'b', undefined, 'c', 'ü 🐑']);
    await client.close(id);
    await eventually(async () => expect((await client.workflow(id)).state).toBe('done'));
    const started = (await Array.fromAsync(client.eachAttempt())).map((attempt) => attempt.id);
    expect(started.slice(2).sort()).toEqual([`${id}.4#1`, `${id}.5#1`]);
  });

  it('are taken batch by batch, however many they are, with edges over all of them', async () => {
    const count = 2 * submitTasksMax + 5;
    async function* produce() {
      yield Buffer.from(`${lines({}, edge([1, 1], [2, count]))}\n`);
      for (let at = 2; at <= count; at++) yield Buffer.from(`{"command":"x ${at}","held":true}\n`);
      yield Buffer.from(lines(edge([2, count], [count + 1, count + 1], 'any'), {}));
    }
    const answer = await send(`workflows/${id}/tasks`, ReadableStream.from(produce()));
    expect(answer).toEqual({ status: 200, body: { firstIndex: 1, count: count + 1, lines: count + 3 } });
    const { events } = await client.eventPage({ where: 'type=tasks-added' });
    expect(events.length).toBeGreaterThan(2);
    expect(Math.max(...events.map((event) => Number(event.count)))).toBeLessThanOrEqual(submitTasksMax);
    const edges = await controller.shell.read(({ graph, workflows }) => {
      const tasks = [...(workflows.get(workflowId(1))?.tasks() ?? [])];
      return [[...graph.children(tasks[0] as never)].length, [...graph.parents(tasks.at(-1) as never)].length];
    });
    expect(edges).toEqual([count - 1, count - 1]);
  });

  it.each<[string, string | Uint8Array, number]>([
    ['not JSON', '{"command": "x"', 3],
    ['no object', '7', 3],
    ['of the wrong type', lines({ command: 7 }), 3],
    ['with an unknown field', lines({ comand: 'x' }), 3],
    ['with negative resources', lines({ command: 'x', resources: { memoryBytes: -1 } }), 3],
    ['of a command that is too long', lines({ command: 'x'.repeat(commandBytesMax + 1) }), 3],
    ['too long', lines({ command: 'x'.repeat(ndjsonLineBytesMax) }), 3],
    ['an edge to a task behind', lines({ command: 'c' }, edge([1, 1], [2, 2])), 4],
    ['an edge backwards', lines(edge([2, 2], [1, 1])), 3],
    ['an edge from many to many', lines(edge([1, 2], [3, 4])), 3],
    ['an edge of another kind', lines({ ...edge([1, 1], [3, 3]), after: 'maybe' }), 3],
    ['an edge to a task that never comes', lines(edge([1, 1], [3, 9]), { command: 'c' }), 3],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 3],
  ])('are refused by their number where one is %s, and those before it are kept', async (_, bad, line) => {
    const before = Buffer.from(`${lines({ command: 'a' }, { command: 'b' })}\n`);
    const answer = await send(`workflows/${id}/tasks`, Buffer.concat([before, Buffer.from(bad), Buffer.from('\n')]));
    const { error } = answer.body;
    expect(answer.status).toBe(error.code === 'too-large' ? 413 : 400);
    expect(error.message).toContain(`line ${line}`);
    const kept = await commands();
    expect(error.details).toMatchObject({ line, tasks: kept.length, nextIndex: kept.length + 1 });
    expect(kept.slice(0, 2)).toEqual(['a', 'b']);
    // One can go on from there.
    expect((await send(`workflows/${id}/tasks`, lines({ command: 'z' }))).status).toBe(200);
    expect((await client.close(id)).state).not.toBe('aborted');
  });

  it('are refused where there is no such workflow, or it takes none any more', async () => {
    expect((await send('workflows/w9/tasks', lines({ command: 'x' }))).body.error.code).toBe('workflow-unknown');
    expect((await send('workflows/nonsense/tasks', '')).body.error.code).toBe('bad-reference');
    await client.abort(id);
    expect((await send(`workflows/${id}/tasks`, lines({ command: 'x' }))).status).toBe(409);
  });
});

describe('lines that are a whole workflow', () => {
  it('begin with its specification, and run', async () => {
    const { status, body } = await send(
      'workflows',
      lines({ ...plainSpec, name: 'whole' }, { command: 'a' }, { command: 'b' }),
    );
    expect([status, body.id, body.name, body.counts.total]).toEqual([200, 'w1', 'whole', 2]);
    await eventually(async () => expect((await client.workflow('w1')).state).toBe('done'));
  });

  it('are compared with an earlier workflow like any others', async () => {
    const earlier = await send('workflows', lines(plainSpec, { command: 'a' }, { command: 'b' }));
    await eventually(async () => expect((await client.workflow('w1')).state).toBe('done'));
    const spec = { ...plainSpec, like: earlier.body.id };
    await send('workflows', lines(spec, { command: 'a' }, { command: 'c' }, { command: 'b' }));
    const skipped = (await client.tasksOf('w2')).tasks.map((task) => task.skipped);
    expect(skipped).toEqual(['done as w1.1', undefined, 'done as w1.2']);
  });

  it('start nothing where one of them is bad', async () => {
    const { status, body } = await send('workflows', lines(plainSpec, { command: 'a' }, { command: '' }));
    expect([status, body.error.details]).toMatchObject([400, { line: 3, workflow: 'w1', state: 'aborted' }]);
    expect((await client.workflow('w1')).state).toBe('aborted');
  });

  it.each(['', '\n\n', '{}', '{"cwd":7}', 'x'])(
    'leave nothing behind where the specification is none: %j',
    async (body) => {
      expect((await send('workflows', body)).status).toBe(400);
      expect((await client.workflows()).workflows).toEqual([]);
    },
  );

  it('that break off are aborted', async () => {
    const url = new URL(`${controller.access.url}/api/v1/workflows`);
    const headers = { authorization: `Bearer ${controller.access.token}`, 'content-type': 'application/x-ndjson' };
    const sending = request(url, { method: 'POST', headers });
    sending.on('error', () => undefined);
    sending.write(`${lines(plainSpec, { command: 'a' })}\n{"command": `);
    await eventually(async () => expect((await client.workflows()).workflows).toHaveLength(1));
    sending.destroy();
    await eventually(async () => expect((await client.workflow('w1')).state).toBe('aborted'));
  });
});

it('a document is still a document, and names what is unknown in it', async () => {
  const post = async (body: unknown) => {
    const response = await fetch(`${controller.access.url}/api/v1/workflows`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${controller.access.token}`,
        'content-type': 'application/json; charset=utf-8',
      },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { error?: { message: string } }).error?.message;
  };
  const batch = (task: object) => ({ spec: plainSpec, batch: { tasks: [task], edges: [] } });
  expect(await post(batch({ command: 'x' }))).toBe(undefined);
  expect(await post(batch({ comand: 'x' }))).toBe("body/batch/tasks/0 has an unknown field: 'comand'");
  expect(await post({ spec: { ...plainSpec, cwd: undefined } })).toBe("body/spec lacks 'cwd'");
  expect(await post({ spec: { ...plainSpec, onLost: 'x' } })).toBe(
    'body/spec/onLost must be one of requeue, hold, fail',
  );
  expect(await post({ spec: { ...plainSpec, maxAttempts: 0 } })).toBe('body/spec/maxAttempts must be >= 1');
});
