/** Every method of the client against a real controller: what it answers is what the schemas say, no less and no more. */
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AvailableList, ExecutionHistory, ExecutionInfo } from '../../src/protocol/http-worker.ts';
import { EdgeSpec } from '../../src/protocol/spec.ts';
import { AttemptList, AttemptView } from '../../src/protocol/views/attempts.ts';
import { EventList, EventView } from '../../src/protocol/views/events.ts';
import { ConcurrencyView, LimitList, LimitView } from '../../src/protocol/views/limits.ts';
import { NotificationList } from '../../src/protocol/views/notifications.ts';
import { SearchLine } from '../../src/protocol/views/output.ts';
import { ResourceList, TaskResources } from '../../src/protocol/views/resources.ts';
import { ServerView } from '../../src/protocol/views/server.ts';
import { FailureList, StatisticsView } from '../../src/protocol/views/statistics.ts';
import { Difference, Submitted } from '../../src/protocol/views/submissions.ts';
import { BulkResult, EdgeList, TaskDetail, TaskList, TaskView } from '../../src/protocol/views/tasks.ts';
import { NewTokenView, TokenList } from '../../src/protocol/views/tokens.ts';
import { TaskWhyView, WorkflowWhyView } from '../../src/protocol/views/why.ts';
import { WorkerList, WorkerView } from '../../src/protocol/views/workers.ts';
import {
  ResetResult,
  RetryResult,
  WorkflowList,
  WorkflowSurroundings,
  WorkflowView,
} from '../../src/protocol/views/workflows.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
  const tags = { model: 'x' };
  const tasks = [
    { command: 'a', name: 'first', tags, resources: { cpus: 1 }, expectedDurationMs: 5 },
    { command: 'fail b' },
    { command: 'hang c' },
    ...Array.from({ length: 9 }, () => ({ command: 'd', held: true as const })),
    { command: 'e' },
  ];
  const edges = [
    { parents: [4, 4] as [number, number], children: [13, 13] as [number, number], after: 'any' as const },
  ];
  await client.submitWhole({ ...plainSpec, name: 'named' }, { tasks, edges });
  await eventually(async () => expect((await client.tasks({ where: 'state=done,failed' })).tasks).toHaveLength(2));
});

afterAll(async () => {
  await client.cancel('w1');
  await eventually(async () => expect((await client.workflow('w1')).state).toBe('cancelled'));
  await controller.close();
});

const held = (index: number): string => `w1.${index}`;
const register = async (): Promise<string> => (await client.register(plainSpec)).id;
const first = async <T>(rows: AsyncIterable<T>): Promise<T> => {
  for await (const row of rows) return row;
  throw new Error('there is none');
};
const begun = async (): Promise<string> =>
  (await client.submitWhole(plainSpec, { tasks: [{ command: 'x', held: true }], edges: [] })).id;
const halted = async (): Promise<string> => (await client.halt(await begun(), 'drain')).id;

const Extended = Type.Object({ firstIndex: Type.Integer(), count: Type.Integer() });
const ExtendedByLines = Type.Object({ ...Extended.properties, lines: Type.Integer() });
const points = Type.Array(Type.Object({ at: Type.Integer(), value: Type.Number() }));
const time = Type.Optional(Type.Integer());
const UsageOverTime = Type.Object({
  ...{ attempt: Type.Integer(), startedAt: time, endedAt: time, memory: points, cpu: points, gpu: points },
});
const Nothing = Type.Union([Type.Undefined(), Type.Null()]);

const definition = { name: 'defined', cwd: '/', tasks: [{ name: 'x', command: 'x' }] };

type Method = Exclude<keyof Client, 'transport'>;
type Case = readonly [call: () => Promise<unknown>, schema: TSchema];

/** In this order: one may need what another leaves. */
const cases: Readonly<Record<Method, Case>> = {
  server: [() => client.server(), ServerView],
  announce: [() => client.announce(), ServerView],
  leave: [() => client.leave(), Nothing],
  restartLoopDelay: [() => client.restartLoopDelay(), ServerView],
  workflows: [() => client.workflows({ count: true, limit: 1 }), WorkflowList],
  workflow: [() => client.workflow('w1', { after: 0, waitMs: 10 }), WorkflowView],
  surroundings: [() => client.surroundings('w1'), WorkflowSurroundings],
  tasks: [() => client.tasks({ count: true }), TaskList],
  tasksOf: [() => client.tasksOf('w1', { limit: 2, count: true }), TaskList],
  edges: [() => client.edges('w1', { limit: 1 }), EdgeList],
  eachEdge: [() => first(client.eachEdge('w1')), EdgeSpec],
  attempts: [() => client.attempts({ count: true }), AttemptList],
  workers: [() => client.workers({ all: true, count: true }), WorkerList],
  notifications: [() => client.notifications('w1'), NotificationList],
  searchOutput: [() => first(client.searchOutput({ pattern: 'out' })), SearchLine],
  searchOutputPieces: [() => first(client.searchOutputPieces({ pattern: 'out' })), Type.Array(SearchLine)],
  eventPage: [() => client.eventPage(), EventList],
  eachWorkflow: [() => first(client.eachWorkflow()), WorkflowView],
  eachTask: [() => first(client.eachTask({ where: 'hasContinuations=true' })), TaskView],
  eachAttempt: [() => first(client.eachAttempt()), AttemptView],
  eachWorker: [() => first(client.eachWorker()), WorkerView],
  events: [() => first(client.events({ after: 0 })), EventView],
  task: [() => client.task('w1.2'), TaskDetail],
  taskResources: [() => client.taskResources('w1.1'), TaskResources],
  workflowResources: [() => client.workflowResources('w1', { limit: 2 }), ResourceList],
  eachResources: [() => first(client.eachResources('w1')), TaskResources],
  setLimit: [() => client.setLimit('a b/c', 2.5), LimitView],
  limit: [() => client.limit('a b/c'), LimitView],
  limits: [() => client.limits(), LimitList],
  liftLimit: [() => client.liftLimit('a b/c'), LimitView],
  setConcurrency: [() => client.setConcurrency('w1', { workflow: 9, tags: { 'model=x': 3 } }), ConcurrencyView],
  failures: [() => client.failures('w1', { by: 'host' }), FailureList],
  why: [() => client.why('w1.2'), TaskWhyView],
  whyOf: [() => client.whyOf('w1'), WorkflowWhyView],
  statistics: [() => client.statistics({ where: 'attempts>0', by: 'tag:model' }), StatisticsView],
  statisticsOf: [() => client.statisticsOf('w1', { by: 'template', interval: 'second', waitMs: 10 }), StatisticsView],
  worker: [() => client.worker('k1'), WorkerView],
  output: [() => first(client.output('w1.1', { stream: 'stdout' })), Type.Unsafe(Type.Object({}))],
  holdTask: [() => client.holdTask(held(5)), TaskDetail],
  setPriority: [() => client.setPriority(held(5), 7), TaskDetail],
  releaseTask: [() => client.releaseTask(held(5)), TaskDetail],
  cancelTask: [() => client.cancelTask(held(6)), TaskDetail],
  retryTask: [() => client.retryTask('w1.2'), TaskDetail],
  retryFailed: [() => client.retryFailed('w1'), RetryResult],
  addToken: [() => client.addToken({ role: 'read', name: 'x', expiresInMs: 60_000 }), NewTokenView],
  tokens: [() => client.tokens(), TokenList],
  revokeToken: [() => client.revokeToken('t1'), Nothing],
  availableTasks: [() => client.availableTasks({ limit: 3, fields: ['id', 'command', 'tags'] }), AvailableList],
  addContinuations: [() => client.addContinuations(held(7), [held(8), held(9)], 'any'), TaskDetail],
  removeContinuations: [() => client.removeContinuations(held(7), [held(8), held(9)]), TaskDetail],
  executionInfo: [() => client.executionInfo('w1.1', 1), ExecutionInfo],
  usage: [() => client.usage('w1.1'), UsageOverTime],
  currentHistory: [() => client.currentHistory('w1.1'), ExecutionHistory],
  steerTasks: [() => client.steerTasks('cancel', { where: 'held=true' }), BulkResult],
  register: [() => client.register(plainSpec), Type.Object({ id: Type.String() })],
  submitWhole: [() => client.submitWhole(plainSpec, { tasks: [{ command: 'x' }], edges: [] }), WorkflowView],
  define: [() => client.define({ definition }), Submitted],
  difference: [() => client.difference('w1', { definition }), Difference],
  extend: [async () => client.extend(await register(), { tasks: [{ command: 'x' }], edges: [] }), Extended],
  extendByLines: [async () => client.extendByLines(await register(), [{ command: 'x' }]), ExtendedByLines],
  submitByLines: [() => client.submitByLines(plainSpec, [{ command: 'x' }, { command: 'y' }]), WorkflowView],
  close: [async () => client.close(await register()), WorkflowView],
  abort: [async () => client.abort(await register()), WorkflowView],
  halt: [async () => client.halt(await begun(), 'drain'), WorkflowView],
  resume: [async () => client.resume(await halted(), 'hot'), WorkflowView],
  reset: [async () => client.reset(await halted(), true), ResetResult],
  cancel: [async () => client.cancel(await halted()), WorkflowView],
  drainWorker: [() => client.drainWorker('k1'), WorkerView],
  releaseWorker: [() => client.releaseWorker('k1'), WorkerView],
  resizeWorker: [() => client.resizeWorker('k1', 3), WorkerView],
  stopWorker: [() => client.stopWorker('k1', false), WorkerView],
  stopServer: [() => client.stopServer().catch(({ code }) => code), Type.Literal('transition-not-allowed')],
};

it('this has every method that the client has', () => {
  const methods = Object.getOwnPropertyNames(Client.prototype);
  const own = ['constructor', 'read', 'change', 'make'];
  expect(Object.keys(cases).sort()).toEqual(methods.filter((name) => !own.includes(name)).sort());
});

it.each(Object.entries(cases))('%s', async (name, [call, schema]) => {
  const answer = await call();
  // Events have what their type says, and bytes are no object.
  const isOpen = /event/i.test(name) || name === 'output' || answer === undefined;
  const [error] = Value.Errors(isOpen ? schema : closed(schema), answer);
  expect(error === undefined ? 'as its schema says' : `${error.instancePath} ${error.message}`).toBe(
    'as its schema says',
  );
});

/** With every object closed, so that what no schema names is found. */
function closed(schema: TSchema): TSchema {
  return JSON.parse(JSON.stringify(schema), (_, value) =>
    value?.type === 'object' && value.properties !== undefined ? { ...value, additionalProperties: false } : value,
  ) as TSchema;
}
