/**
 * Requests made up from the document of the API, good and bad, to every route of a real controller over HTTP: none makes it
 * fail, and what is refused changes nothing. `npm run properties -- 20 7 test/api/fuzz`
 * makes up more.
 */
import { hash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextDeadline } from '../../src/core/settle.ts';
import { filterTables } from '../../src/protocol/filter/fields.ts';
import { operators } from '../../src/protocol/filter/types.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';
import { madeUp, times } from '../set-up/made-up.ts';
import { mutated, type Resolve, type Schema, text, valid } from './arbitraries.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: Schema;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Made {
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

let controller: InProcessController;
let routes: readonly [name: string, operation: Operation][] = [];
let resolve: Resolve;

/** Some tasks ran, others are held; from then on the worker gets none, so that nothing changes but by requests. */
beforeAll(async () => {
  controller = await startController();
  const client = new Client(controller.access);
  const tasks = [{ command: 'a' }, { command: 'fail b' }, { command: 'c', held: true as const }, { command: 'd' }];
  await client.submitWhole(plainSpec, { tasks, edges: [{ parents: [3, 3], children: [4, 4], after: 'success' }] });
  await eventually(async () => expect((await client.tasks({ where: 'state=done,failed' })).tasks).toHaveLength(2));
  await client.drainWorker('k1');
  const response = await fetch(`${controller.access.url}/api/v1/openapi.json`);
  const { paths, components } = (await response.json()) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  resolve = (reference) => components.schemas[reference.split('/').at(-1) ?? ''] ?? {};
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
});

afterAll(() => controller.close());

/** These would let the worker run or end, and what it then does would be taken for the doing of a refused request. */
const sparesWorker = (path: string): boolean => /workers\/\{id\}\/(release|stop)/.test(path);

function idFor(path: string): Arbitrary<string> {
  const known = path.includes('/workers/')
    ? sparesWorker(path)
      ? []
      : ['k1']
    : ['w1', 'w1.1', 'w1.2', 'w1.3', 'w1.4', 'w2'];
  const made = text.map((one) => encodeURIComponent(one.isWellFormed() ? one : 'x').replace('.', '%2E') || 'x');
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...known, 'w9', 'k9', 'w1.99', 'w1.1%231') },
    { weight: 1, arbitrary: made },
  );
}

const fieldNames = Object.values(filterTables).flatMap((fields) => fields.map(({ name }) => name.replace('*', 'x')));
const clauses = fc
  .tuple(
    fc.constantFrom(...fieldNames, 'nonsense'),
    fc.constantFrom(...operators),
    fc.oneof(text, fc.constantFrom('1', 'w1', 'k1', 'true', 'failed', '-1h', '1GB')),
  )
  .map(([name, operator, value]) => encodeURIComponent(`${name}${operator}${value.toWellFormed()}`));

function queryFor({ parameters }: Operation): Arbitrary<string> {
  const own = parameters.filter((one) => one.in === 'query' && !fieldNames.includes(one.name));
  const filters = parameters.some(({ name }) => name === 'where') ? [fc.array(clauses, { maxLength: 2 })] : [];
  const each = own.map(({ name, schema }) =>
    // A wait is waited for: a short one, or none that is one.
    fc
      .oneof(name === 'waitMs' ? fc.integer({ min: -1, max: 3 }) : valid(schema, resolve), text)
      .map((value) => [`${name}=${encodeURIComponent(String(value).toWellFormed())}`]),
  );
  const optional = each.map((one) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: one }),
  );
  return fc.tuple(...optional, ...filters).map((parts) => parts.flat().join('&'));
}

function bodyFor({ requestBody }: Operation): Arbitrary<Omit<Made, 'path'>> {
  const made = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => {
    if (type === 'application/x-ndjson') return linesFor(type);
    const values = fc.oneof(valid(schema, resolve), mutated(schema, resolve));
    return fc
      .oneof(
        { weight: 9, arbitrary: values.map((value) => JSON.stringify(value) ?? 'null') },
        { weight: 1, arbitrary: text },
      )
      .map((body) => ({ type, body: body.toWellFormed() }));
  });
  return made.length === 0 ? fc.constantFrom({}, { type: 'application/json', body: '{}' }) : fc.oneof(...made);
}

function linesFor(type: string): Arbitrary<Omit<Made, 'path'>> {
  const schemas = ['WorkflowSpec', 'TaskSpec', 'EdgeSpec'].map((name) => resolve(name));
  const line = fc.oneof(...schemas.flatMap((schema) => [valid(schema, resolve), mutated(schema, resolve)]));
  return fc.array(line, { maxLength: 4 }).map((lines) => ({
    type,
    body: lines
      .map((one) => JSON.stringify(one) ?? '')
      .join('\n')
      .toWellFormed(),
  }));
}

const requestFor = (path: string, operation: Operation): Arbitrary<Made> =>
  fc
    .tuple(idFor(path), fc.constantFrom('stdout', 'worker', 'x'), queryFor(operation), bodyFor(operation))
    .map(([id, other, query, body]) => ({
      path: path.replace('{id}', id).replace(/\{\w+\}/, other) + (query === '' ? '' : `?${query}`),
      ...body,
    }));

/** All that there is, as far as it is durable; nothing while a clock is about to change it. */
function digest(): Promise<string | undefined> {
  return controller.shell.read((cluster, now) => {
    if (nextDeadline(cluster) <= now) return undefined;
    const tasks = Array.from({ length: cluster.tasks.size }, (_, at) => cluster.tasks.row((at + 1) as never));
    const others = [...cluster.workflows.values(), ...cluster.workers.values()].map((one) => one.row());
    const { sessions, tokens } = controller.shell.controller;
    return hash('sha256', JSON.stringify([sessions.version, tasks, others, [...tokens.rows]]));
  });
}

/** A turn that did not get through with everything is followed by another at once. */
async function settled(): Promise<string | undefined> {
  let before = await digest();
  for (let same = 0; same < 3; ) {
    await new Promise((done) => setImmediate(done));
    const now = await digest();
    same = now !== undefined && now === before ? same + 1 : 0;
    before = now;
  }
  return before;
}

async function ask(method: string, { path, type, body }: Made): Promise<void> {
  const before = await settled();
  const response = await fetch(controller.access.url + path, {
    method,
    headers: {
      authorization: `Bearer ${controller.access.token}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined || method === 'GET' ? {} : { body }),
  });
  if (response.headers.get('content-type') === 'text/event-stream') return response.body?.cancel();
  const answer = await response.text();
  if (response.status === 201 && path.startsWith('/api/v1/workers')) await dismiss(answer);
  const isRefused = response.status >= 400;
  if (response.status >= 500 || (isRefused && !isErrorBody(answer))) throw new Error(`${response.status}: ${answer}`);
  // Of lines, those before one that is refused are taken.
  if (isRefused && type !== 'application/x-ndjson' && (await settled()) !== before) {
    throw new Error(`it was refused, and changed something: ${response.status}: ${answer}`);
  }
}

/** A worker that was made up would fall silent, and be given up in the midst of other requests. */
async function dismiss(worker: string): Promise<void> {
  const { id } = JSON.parse(worker) as { id: string };
  const headers = { authorization: `Bearer ${controller.access.token}` };
  await fetch(`${controller.access.url}/api/v1/workers/${id}`, { method: 'DELETE', headers });
}

function isErrorBody(answer: string): boolean {
  const { error } = JSON.parse(answer) as { error?: Record<string, unknown> };
  return [error?.code, error?.message, error?.hint].every((one) => typeof one === 'string' && one !== '');
}

describe('whatever a request is made of', () => {
  it('no route fails, and a request that is refused changes nothing', {
    // What there is grows with what is made up, and all of it is looked at after each request.
    timeout: 60_000 * times ** 2,
  }, async () => {
    expect(routes.length).toBeGreaterThan(30);
    for (const [name, operation] of routes) {
      const [method = '', path = ''] = name.split(' ');
      const made = fc.asyncProperty(requestFor(path, operation), (request) => ask(method, request));
      await fc.assert(made, madeUp(60)).catch((error: unknown) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      });
    }
  });
});
