/** Operations on all tasks that match, over HTTP, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workflowId } from '../../src/model/ids.ts';
import { bulkLimits } from '../../src/model/limits.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type Call, callsTo } from '../controller/http.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;
let call: Call;

beforeEach(async () => {
  controller = await startController();
  client = new Client(controller.access);
  call = callsTo(controller.access);
});

afterEach(() => controller.close());

/** Two that are done, one that failed, three that are held, and one that waits for the first of these. */
async function submitSome(): Promise<void> {
  const tasks = [
    ...[{ command: 'a' }, { command: 'b' }, { command: 'fail c' }],
    ...[1, 2, 3].map((at) => ({ command: `held ${at}`, held: true as const, tags: { at: String(at) } })),
    { command: 'after' },
  ];
  await client.submitWhole(plainSpec, { tasks, edges: [{ parents: [4, 4], children: [7, 7], after: 'success' }] });
  await eventually(async () => expect(await matching('state=done,failed')).toBe(3));
}

const matching = async (where: string): Promise<number | undefined> =>
  (await client.tasks({ where, count: true, limit: 1 })).count?.matched;

describe('what is done to all tasks that match', () => {
  beforeEach(submitSome);

  it('counts what matched, what changed, and by state what it is not allowed for', async () => {
    expect(await client.steerTasks('hold', { all: true })).toEqual({
      ...{ matched: 7, changed: 1, unchanged: 3, refused: { done: 2, failed: 1 } },
    });
    expect(await matching('held=true')).toBe(4);
  });

  it('is the same as it is for each of them', async () => {
    expect(await client.steerTasks('priority', { where: 'held=true&tag.at=1,3', priority: 9 })).toMatchObject({
      changed: 2,
    });
    expect((await client.tasks({ where: 'priority=9' })).tasks.map(({ id }) => id)).toEqual(['w1.4', 'w1.6']);
    expect(await client.steerTasks('retry', { where: 'state=failed' })).toMatchObject({ matched: 1, changed: 1 });
    await eventually(async () => expect(await matching('state=done')).toBe(3));
    expect(await client.steerTasks('release', { where: 'held=true&tag.at=1' })).toMatchObject({ changed: 1 });
    await eventually(async () => expect(await matching('state=done')).toBe(5));
    expect(await client.steerTasks('cancel', { where: 'held=true' })).toMatchObject({ matched: 2, changed: 2 });
    await eventually(async () => expect((await client.workflow('w1')).state).toBe('cancelled'));
  });

  it.each(['cancel', 'retry', 'hold', 'release'] as const)(
    'dry runs of %s count the same, and change nothing',
    async (verb) => {
      const before = [await controller.shell.store.lastChange(), await client.tasks()];
      const foreseen = await client.steerTasks(verb, { all: true, dryRun: true });
      expect([await controller.shell.store.lastChange(), await client.tasks()]).toEqual(before);
      expect(await client.steerTasks(verb, { all: true })).toEqual(foreseen);
    },
  );

  it('is refused without a filter, unless all are meant', async () => {
    for (const body of [{}, { where: '' }, { where: ' & ' }]) {
      const answer = await call('POST', 'tasks/bulk/cancel', body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'bad-filter']);
    }
  });

  it.each([
    ['cancel', { where: 'stat=x' }, 'bad-filter'],
    ['cancel', { where: 'state=done', cursor: 'x' }, 'bad-cursor'],
    ['cancel', { where: 'state=done', priority: 1 }, 'bad-input'],
    ['priority', { where: 'state=done' }, 'bad-input'],
    ['priority', { where: 'state=done', priority: 1_001 }, 'bad-input'],
    ['cancel', { where: 7 }, 'bad-input'],
    ['cancel', { all: false }, 'bad-input'],
  ])('is refused where it makes no sense: %s %j', async (verb, body, code) => {
    const answer = await call('POST', `tasks/bulk/${verb}`, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
  });
});

it('goes over many tasks in several turns, between which others have theirs', async () => {
  const tasks = Array.from({ length: 1.5 * bulkLimits.tasksAtOnce + 1 }, () => ({ command: 'x', held: true as const }));
  const { id } = await client.register(plainSpec);
  for (let part = 0; part < 2; part++) await client.extend(id, { tasks, edges: [] });
  await client.close(id);
  const total = 2 * tasks.length;
  const history = await controller.shell.store.lastChange();
  const seen: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      await controller.shell.changed(controller.shell.now() + 100);
      seen.push(await controller.shell.read((cluster) => cluster.workflow(workflowId(1)).count('cancelled')));
    }
  })();
  expect(await client.steerTasks('cancel', { where: 'held=true' })).toEqual({
    ...{ matched: total, changed: total, unchanged: 0, refused: {} },
  });
  isOver = true;
  await watching;
  const steps = [0, ...new Set(seen)].map((cancelled, at, all) => cancelled - (all[at - 1] ?? 0));
  expect(Math.max(...steps)).toBeLessThanOrEqual(bulkLimits.tasksAtOnce);
  const { events } = await client.eventPage({ cursor: String(history), where: 'type=task-changed', limit: 1 });
  expect(events).toMatchObject([{ to: 'cancelled', reason: 'user' }]);
  await eventually(async () => expect((await client.workflow(id)).state).toBe('cancelled'));
});
