/** The lists, over HTTP, at a real controller in this process. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskSpec } from '../../src/protocol/spec.ts';
import type { AttemptView } from '../../src/protocol/views/attempts.ts';
import type { EventView } from '../../src/protocol/views/events.ts';
import type { TaskView } from '../../src/protocol/views/tasks.ts';
import type { WorkflowView } from '../../src/protocol/views/workflows.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type Call, callsTo } from '../controller/http.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';
import { madeUp } from '../set-up/made-up.ts';

let controller: InProcessController;
let client: Client;
let call: Call;

const models = ['x', 'y'];
/** Every third fails, every fifth is held, and each says something of itself. */
const task = (at: number): TaskSpec => ({
  command: at % 3 === 0 ? `fail ${at}` : `echo ${at}`,
  ...(at % 5 === 0 ? { held: true as const } : {}),
  ...(at % 2 === 0 ? { name: `even-${at}` } : {}),
  tags: { model: models[at % 2] ?? '' },
  priority: (at % 7) - 3,
  resources: { memoryBytes: at * 1e8, cpus: (at + 1) / 4, pools: { licences: at % 3 } },
  expectedDurationMs: at * 10_000,
});

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
  call = callsTo(controller.access);
  const range = (count: number) => Array.from({ length: count }, (_, at) => task(at + 1));
  // Two that are written in turns, so that neither has all of its tasks side by side.
  const [first, second] = [await client.register(plainSpec), await client.register({ ...plainSpec, name: 'second' })];
  for (let turn = 0; turn < 3; turn++) {
    for (const { id } of [first, second]) await client.extend(id, { tasks: range(10), edges: [] });
  }
  await client.extend(first.id, {
    tasks: [{}, { command: 'late' }],
    edges: [
      { parents: [1, 30], children: [31, 31], after: 'any' },
      { parents: [31, 31], children: [32, 32], after: 'success' },
    ],
  });
  for (const { id } of [first, second]) await client.close(id);
  await eventually(async () => expect(await pending()).toBe(0));
});

afterAll(() => controller.close());

/** Tasks that will go on by themselves. */
async function pending(): Promise<number> {
  const { count } = await client.tasks({ where: 'state!=done,failed,waiting&held=false', count: true });
  return count?.matched ?? Number.NaN;
}

const ids = (tasks: readonly { readonly id: string }[]): string[] => tasks.map(({ id }) => id);

async function all(options: Parameters<Client['tasks']>[0] = {}): Promise<TaskView[]> {
  return Array.fromAsync(client.eachTask(options));
}

describe('a list of tasks', () => {
  it('has the tasks of all workflows, in the order in which they were added', async () => {
    const tasks = await all();
    expect(tasks).toHaveLength(62);
    expect(ids(tasks.slice(9, 11))).toEqual(['w1.10', 'w2.1']);
    expect(ids(await all({ sort: '-id' }))).toEqual(ids(tasks).reverse());
  });

  it.each([
    ['state=failed&workflow=w2', 9],
    ['exit=1', 18],
    ['exit=0', 30],
    ['exit!=0', 32],
    ['outcome=exited&tag.model=x', 6],
    ['id=w1.3,w2.30,w9.1,w1.99', 2],
    ['workflow=w1&index>=10&index<13', 3],
    ['workflow=w9', 0],
    ['held=true', 12],
    ['command~fail 3,fail 6', 12],
    ['name=even-2', 6],
    ['requestedResources.memory>900MB', 6],
    ['requestedResources.cpus<=0.5', 6],
    ['requestedResources.pools.licences=2', 18],
    ['expectedDuration<30s', 12],
    ['priority<0&workflow=w2', 15],
    ['hasContinuations=true', 31],
    ['pendingDependencies>0', 2],
    ['host=here', 48],
    ['host~nowhere', 0],
    ['worker=k1&startedAt>-1h&endedAt>-1h', 48],
    ['startedAt<-1h', 0],
    ['attempts=1', 48],
    ['reason=attempts', 18],
    ['createdAt>-1h', 62],
    ['wall<1h&peak>1', 0],
  ])('has what its filter lets through: %s', async (where, count) => {
    const tasks = await all({ where, limit: 7 });
    expect(tasks).toHaveLength(count);
    const page = await client.tasks({ where, limit: 1, count: true });
    expect(page.count).toEqual({ matched: count, isExact: true });
  });

  it('takes the clauses as parameters of the address, encoded or not', async () => {
    const matched = async (query: string) => (await call('GET', `tasks?count=true&${query}`)).body.count.matched;
    expect(await matched('state=failed,queued&workflow=w2')).toBe(9);
    expect(await matched('state=failed%2Cqueued&workflow=w2')).toBe(9);
    expect(await matched('requestedResources.memory>900MB')).toBe(6);
    expect(await matched('requestedResources.memory%3E%3D900MB')).toBe(12);
    expect(await matched('index<=2&index!=2')).toBe(2);
    expect(await matched(`where=${encodeURIComponent('command~fail 3')}&tag.model=y`)).toBe(6);
    expect(await matched('command~fail+3')).toBe(6);
  });

  it('is the same as a look at every task, whatever the filter, the order and the size of the pages', async () => {
    const everything = await all();
    const clause = fc.oneof(
      fc.subarray(['done', 'failed', 'waiting', 'queued'], { minLength: 1 }).map((states) => ({
        text: `state=${states.join(',')}`,
        test: ({ state }: TaskView) => states.includes(state),
      })),
      fc.record({ index: fc.nat(33), op: fc.constantFrom('<', '<=', '>', '>=', '=', '!=') }).map(({ index, op }) => ({
        text: `index${op}${index}`,
        test: (view: TaskView) => compare(view.index, op, index),
      })),
      fc.constantFrom('w1', 'w2').map((workflow) => ({
        text: `workflow=${workflow}`,
        test: ({ id }: TaskView) => id.startsWith(`${workflow}.`),
      })),
      fc.constantFrom(...models).map((model) => ({
        text: `tag.model=${model}`,
        test: ({ tags }: TaskView) => tags?.model === model,
      })),
      fc.constantFrom(0, 1, 2).map((exit) => ({
        text: `exit=${exit}`,
        test: ({ outcome }: TaskView) => (outcome?.kind === 'succeeded' ? 0 : outcome?.code) === exit,
      })),
      fc.integer({ min: -3, max: 3 }).map((priority) => ({
        text: `priority>${priority}`,
        test: (view: TaskView) => view.priority > priority,
      })),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(clause, { maxLength: 4 }),
        fc.constantFrom('id', '-id'),
        fc.integer({ min: 1, max: 20 }),
        async (clauses, sort, limit) => {
          const where = clauses.map(({ text }) => text).join('&');
          const wanted = ids(everything.filter((view) => clauses.every(({ test }) => test(view))));
          expect(ids(await all({ where, sort, limit }))).toEqual(sort === 'id' ? wanted : wanted.reverse());
        },
      ),
      madeUp(60),
    );
  });

  it('has only the fields asked for', async () => {
    const { tasks } = await client.tasks({ fields: ['id', 'state'], limit: 1 });
    expect(tasks).toEqual([{ id: 'w1.1', state: 'done' }]);
    expect((await client.tasks({ fields: ['command', 'outcome'], limit: 1 })).tasks).toEqual([
      { command: 'echo 1', outcome: { kind: 'succeeded' } },
    ]);
  });

  it('of one workflow is refused where there is no such workflow', async () => {
    expect(ids((await client.tasksOf('w2', { limit: 2 })).tasks)).toEqual(['w2.1', 'w2.2']);
    expect((await call('GET', 'workflows/w9/tasks')).body.error.code).toBe('workflow-unknown');
  });
});

function compare(a: number, operator: string, b: number): boolean {
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  if (operator === '>') return a > b;
  if (operator === '>=') return a >= b;
  return operator === '=' ? a === b : a !== b;
}

describe('a list of attempts', () => {
  const attempts = async (where: string): Promise<AttemptView[]> =>
    Array.fromAsync(client.eachAttempt({ where, limit: 7 }));

  it('has all of them, in the order in which they were decided on, or backwards', async () => {
    const found = await attempts('');
    expect(found).toHaveLength(48);
    const backwards = await Array.fromAsync(client.eachAttempt({ sort: '-id', limit: 13 }));
    expect(ids(backwards)).toEqual(ids(found).reverse());
  });

  it.each([
    ['exit=1', 18],
    ['task=w1.3', 1],
    ['id=w1.3#1', 1],
    ['id=w1.3#2', 0],
    ['workflow=w2&outcome=succeeded', 15],
    ['state=ended', 48],
    ['state!=ended', 0],
    ['host=here&worker=k1', 48],
    ['number>1', 0],
    ['recordedAt>-1h&cpu<1h', 48],
  ])('has what its filter lets through: %s', async (where, count) => {
    expect(await attempts(where)).toHaveLength(count);
    expect((await client.attempts({ where, count: true })).count).toEqual({ matched: count, isExact: true });
  });
});

describe('a list of workflows', () => {
  const workflows = async (where: string): Promise<WorkflowView[]> =>
    Array.fromAsync(client.eachWorkflow({ where, limit: 1 }));

  it('begins with the newest, unless it is to be sorted the other way', async () => {
    expect(ids(await workflows(''))).toEqual(['w2', 'w1']);
    expect(ids((await client.workflows({ sort: 'id' })).workflows)).toEqual(['w1', 'w2']);
  });

  it.each([
    ['name=second', ['w2']],
    ['name!=second', ['w1']],
    ['state=running', ['w2', 'w1']],
    ['total>30&failed>=7', ['w1']],
    ['done=0', []],
    ['id=w1&createdAt>-1h&startedAt>-1h', ['w1']],
    ['endedAt>-1h', []],
  ])('has what its filter lets through: %s', async (where, wanted) => {
    expect(ids(await workflows(where))).toEqual(wanted);
    expect((await client.workflows({ where, count: true })).count).toEqual({ matched: wanted.length, isExact: true });
  });
});

it.each([
  ['host=here&slots=4&state=healthy&bar!=drained', 1],
  ['shard~es&attempts=0&joinedAt>-1h', 1],
  ['bar=drained', 0],
])('a list of workers has what its filter lets through: %s', async (where, count) => {
  expect((await client.workers({ where, count: true })).count).toEqual({ matched: count, isExact: true });
});

describe('the history', () => {
  const read = async (where: string): Promise<EventView[]> => {
    const found: EventView[] = [];
    for (let cursor = '0'; ; ) {
      const { events, next } = await client.eventPage({ where, cursor, limit: 50 });
      found.push(...events);
      if (next === cursor) return found;
      cursor = next;
    }
  };

  it('has every change, numbered without gaps', async () => {
    const events = await read('');
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.length).toBe(await controller.shell.store.lastChange());
    expect(events.find(({ type }) => type === 'tasks-added')).toMatchObject({
      workflow: 'w1',
      firstIndex: 1,
      count: 10,
    });
    expect(events.find(({ type }) => type === 'edges-added')).toMatchObject({ children: ['w1.31', 'w1.31'] });
  });

  it('tells the life of a task', async () => {
    const events = await read('task=w1.3');
    const moves = events.map(({ type, to = '', attempt = '' }) => `${type} ${to} ${attempt}`.trim());
    // Of one that is over at once, the start may never be heard of.
    const isSure = (move: string): boolean => !/started|running/.test(move);
    expect(moves.filter(isSure)).toEqual([
      'attempt-recorded  w1.3#1',
      'task-changed launched w1.3#1',
      'attempt-ended  w1.3#1',
      'task-changed triaging',
      'task-changed failed',
    ]);
    expect(events.every(({ workflow, v }) => workflow === 'w1' && v === 1)).toBe(true);
  });

  it('is waited for, from now on', async () => {
    const waiting = client.eventPage({ cursor: 'now', where: 'type=workflow-registered', waitMs: 20_000 });
    const { id } = await client.register(plainSpec);
    const { events, next } = await waiting;
    expect(events).toMatchObject([{ type: 'workflow-registered', workflow: id }]);
    await client.abort(id);
    for await (const event of client.events({ after: next, where: 'type=workflow-moved' })) {
      expect(event).toMatchObject({ workflow: id, to: 'aborted' });
      break;
    }
  });

  it.each(['x', '-1', '1.5', '999999'])('begins nowhere with a cursor that is none: %s', async (cursor) => {
    expect((await call('GET', `events?cursor=${cursor}`)).body.error.code).toBe('bad-cursor');
  });
});

describe('a page is refused', () => {
  it.each([
    ['tasks?cursor=x', 'bad-cursor'],
    ['tasks?cursor=', 'bad-cursor'],
    [`tasks?cursor=${Buffer.from('workers id 1').toString('base64url')}`, 'bad-cursor'],
    [`tasks?sort=-id&cursor=${Buffer.from('tasks id 1').toString('base64url')}`, 'bad-cursor'],
    [`tasks?cursor=${Buffer.from('tasks id 1e3').toString('base64url')}`, 'bad-cursor'],
    ['tasks?sort=state', 'bad-input'],
    ['tasks?fields=id,stat', 'bad-input'],
    ['tasks?limit=0', 'bad-input'],
    ['tasks?limit=1001', 'bad-input'],
    ['tasks?stat=failed', 'bad-filter'],
    ['tasks?state=fialed', 'bad-filter'],
    ['tasks?state', 'bad-filter'],
    ['tasks?name=%ff', 'bad-input'],
    ['tasks?name=%', 'bad-input'],
    ['workers?sort=host', 'bad-input'],
    ['workflows?before=w3', 'bad-filter'],
    ['attempts?pid=3', 'bad-filter'],
    ['events?sort=id', 'bad-filter'],
    ['events?type=task-chnaged', 'bad-filter'],
  ])('%s: %s', async (path, code) => {
    const { status, body } = await call('GET', path);
    expect([status, body.error.code]).toEqual([400, code]);
  });

  it('with what can be sorted by, and the fields that there are', async () => {
    expect((await call('GET', 'tasks?sort=state')).body.error.hint).toContain('id and -id');
    expect((await call('GET', 'tasks?fields=stat')).body.error.hint).toBe('did you mean state?');
  });
});
