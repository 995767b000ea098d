/** What the API is asked that makes no sense, one by one: its status, its code, and in the message what is wrong. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { submitBodyBytesMax } from '../../src/model/limits.ts';
import { type Call, callsTo } from '../controller/http.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let call: Call;

beforeAll(async () => {
  controller = await startController();
  call = callsTo(controller.access);
  await call('POST', 'workflows', { spec: plainSpec, batch: { tasks: [{ command: 'x', held: true }], edges: [] } });
});

afterAll(() => controller.close());

const version = () => controller.shell.read(() => controller.shell.controller.sessions.version);
const submission = (task: object, edges: object[] = []) => ({ spec: plainSpec, batch: { tasks: [task], edges } });
const json = { 'content-type': 'application/json' };
const deep = Buffer.from(`{"where":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
const badUtf8 = Buffer.concat([Buffer.from('{"where":"name='), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
const huge = Buffer.alloc(submitBodyBytesMax + 1, ' ');

it.each<[string, string, string, unknown, number, string, string]>([
  [
    'a wrong type',
    'POST',
    'workflows',
    submission({ command: 7 }),
    400,
    'bad-input',
    'body/batch/tasks/0/command must be string',
  ],
  [
    'an unknown field',
    'POST',
    'workflows',
    submission({ command: 'x', retries: 3 }),
    400,
    'bad-input',
    "unknown field: 'retries'",
  ],
  [
    'an unknown field of a specification',
    'POST',
    'workflows',
    { spec: { ...plainSpec, cores: 1 } },
    400,
    'bad-input',
    "body/spec has an unknown field: 'cores'",
  ],
  [
    'an unknown field of an operation',
    'POST',
    'tasks/bulk/cancel',
    { filter: 'state=done' },
    400,
    'bad-input',
    "'filter'",
  ],
  ['a missing field', 'POST', 'workflows', {}, 400, 'bad-input', "body lacks 'spec'"],
  [
    'negative resources',
    'POST',
    'workflows',
    submission({ command: 'x', resources: { cpus: -1 } }),
    400,
    'bad-input',
    'must be >= 0',
  ],
  [
    'an edge to itself',
    'POST',
    'workflows',
    submission({ command: 'x' }, [{ parents: [1, 1], children: [1, 1], after: 'any' }]),
    400,
    'bad-input',
    'edge 1-1',
  ],
  ['a body that is huge', 'POST', 'workflows', huge, 413, 'too-large', 'too large'],
  ['JSON that is deep', 'POST', 'tasks/bulk/cancel', deep, 400, 'bad-input', 'body/where must be string'],
  ['a body that is no UTF-8', 'POST', 'tasks/bulk/cancel', badUtf8, 400, 'bad-input', 'not UTF-8'],
  ['a body that is no JSON', 'POST', 'tasks/bulk/cancel', Buffer.from('{"where"'), 400, 'bad-input', 'not JSON'],
  ['an empty body', 'POST', 'tasks/bulk/cancel', Buffer.alloc(0), 400, 'bad-input', 'empty'],
  ['a workflow that is none', 'GET', 'workflows/w99', undefined, 404, 'workflow-unknown', 'w99'],
  ['a task that is none', 'GET', 'tasks/w1.99', undefined, 404, 'task-unknown', 'w1.99'],
  ['a worker that is none', 'GET', 'workers/k99', undefined, 404, 'worker-unknown', 'k99'],
  [
    'an attempt that is none',
    'GET',
    'tasks/w1.1/output?attempt=3',
    undefined,
    404,
    'attempt-unknown',
    'has no attempt 3',
  ],
  ['a cursor that is none', 'GET', 'tasks?cursor=AAAA', undefined, 400, 'bad-cursor', 'not a cursor'],
  [
    'a cursor of another list',
    'GET',
    `workers?cursor=${Buffer.from('tasks id 3').toString('base64url')}`,
    undefined,
    400,
    'bad-cursor',
    'of tasks by id',
  ],
  [
    'an address that is no UTF-8',
    'GET',
    'tasks?command~%C3%28',
    undefined,
    400,
    'bad-input',
    'not percent-encoded UTF-8',
  ],
  ['a route that is none', 'POST', 'tasks/bulk/explode', {}, 404, 'bad-input', 'there is no POST'],
])('%s', async (_, method, path, body, status, code, message) => {
  const before = await version();
  const answer = await call(method, path, body, body instanceof Uint8Array ? json : {});
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  expect(answer.body.error.message).toContain(message);
  expect(answer.body.error.hint).not.toBe('');
  expect(await version()).toBe(before);
});
