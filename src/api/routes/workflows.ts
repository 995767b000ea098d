import { Type } from '@fastify/type-provider-typebox';
import type { Reply, Request, RequestKey } from '../../controller/messages.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { DroverError } from '../../model/errors.ts';
import { printWorkflow, type TaskId, type WorkflowId, workflowId } from '../../model/ids.ts';
import { longPollMsMax, pageRowsMax } from '../../model/limits.ts';
import { haltModes, isEndedWorkflow, type TaskState, taskStates } from '../../model/states.ts';
import { oneOf } from '../../protocol/schema.ts';
import { TaskBatch, WorkflowSpec } from '../../protocol/spec.ts';
import { FailureList, RetryResult, TaskList, WorkflowList, WorkflowView } from '../../protocol/views.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { Comparer } from '../comparison.ts';
import { failuresOf } from '../failures.ts';
import { keyOf } from '../idempotency.ts';
import { workflowOf } from '../reference.ts';
import { renderTask, renderWorkflow } from '../render.ts';

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: pageRowsMax }));

async function viewOf(shell: ControllerShell, workflow: WorkflowId): Promise<WorkflowView> {
  const spec = await shell.store.workflowSpec(workflow);
  return shell.read((cluster, now) => renderWorkflow(cluster, cluster.workflow(workflow), spec, now));
}

/** Answers when the workflow has changed since that version, or has ended, or the time is over. */
async function nextView(
  shell: ControllerShell,
  workflow: WorkflowId,
  after: number,
  until: number,
): Promise<WorkflowView> {
  const isNews = (cluster: Cluster): boolean => {
    const { version, state } = cluster.workflow(workflow);
    return version > after || isEndedWorkflow(state);
  };
  while (!(await shell.read(isNews)) && shell.now() < until) await shell.changed(until);
  return viewOf(shell, workflow);
}

export function registerWorkflowRoutes(app: App, { shell, gate }: ApiOptions): void {
  const comparer = new Comparer(shell, gate.secrets.digest);
  registerDefining(app, shell, comparer);
  registerSteering(app, shell, comparer);
  registerReading(app, shell);
}

function registerDefining(app: App, shell: ControllerShell, comparer: Comparer): void {
  // With a batch it is the whole workflow, which is closed at once.
  const Body = Type.Object({ spec: WorkflowSpec, batch: Type.Optional(TaskBatch) }, { additionalProperties: false });
  app.post('/api/v1/workflows', { schema: { body: Body } }, async (request) => {
    const { spec, batch } = request.body;
    const reply = await askOnce(shell, keyOf(request), () => comparer.submission(spec, batch));
    if (reply.type !== 'registered') return {};
    const { workflow, comparison } = reply;
    if (batch === undefined) return { id: printWorkflow(workflow) };
    return { ...(await viewOf(shell, workflow)), ...(comparison === undefined ? {} : { comparison }) };
  });
  app.post('/api/v1/workflows/:id/tasks', { schema: { params: Reference, body: TaskBatch } }, async (request) => {
    const workflow = workflowOf(request.params.id);
    const key = keyOf(request);
    const reply = await comparer.extend(workflow, request.body, (asked) => shell.request(asked, key));
    const { type: _, ...answer } = reply;
    return answer;
  });
}

/** What can't be prepared any more may have been done: then the answer is the one that it had. */
async function askOnce(
  shell: ControllerShell,
  key: RequestKey | undefined,
  prepare: () => Promise<Request>,
): Promise<Reply> {
  let asked: Request;
  try {
    asked = await prepare();
  } catch (error) {
    const answered = key && (await shell.answerTo(key));
    if (answered !== undefined) return answered;
    throw error;
  }
  return shell.request(asked, key);
}

function registerSteering(app: App, shell: ControllerShell, comparer: Comparer): void {
  const answer = async (workflow: WorkflowId, request: Request, key?: RequestKey): Promise<WorkflowView> => {
    await shell.request(request, key);
    return viewOf(shell, workflow);
  };
  for (const type of ['close', 'abort', 'cancel'] as const) {
    app.post(`/api/v1/workflows/:id/${type}`, { schema: { params: Reference } }, (request) => {
      const workflow = workflowOf(request.params.id);
      comparer.forget(workflow);
      return answer(workflow, { type, workflow }, keyOf(request));
    });
  }
  app.post(
    '/api/v1/workflows/:id/retry',
    { schema: { params: Reference, response: { 200: RetryResult } } },
    (request) => retryFailed(shell, workflowOf(request.params.id)),
  );
  const HaltBody = Type.Object({ mode: oneOf(haltModes) });
  app.post('/api/v1/workflows/:id/halt', { schema: { params: Reference, body: HaltBody } }, ({ params, body }) => {
    const workflow = workflowOf(params.id);
    return answer(workflow, { type: 'halt', workflow, mode: body.mode });
  });
  const ResumeBody = Type.Object({ how: oneOf(['hot', 'cold']) });
  app.post('/api/v1/workflows/:id/resume', { schema: { params: Reference, body: ResumeBody } }, ({ params, body }) => {
    const workflow = workflowOf(params.id);
    return answer(workflow, { type: 'resume', workflow, how: body.how });
  });
}

async function retryFailed(shell: ControllerShell, workflow: WorkflowId): Promise<RetryResult> {
  let retried = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const reply = await shell.request({ type: 'retry-failed', workflow, after });
    if (reply.type !== 'retried') break;
    retried += reply.count;
    after = reply.next;
  }
  return { retried, workflow: await viewOf(shell, workflow) };
}

function registerReading(app: App, shell: ControllerShell): void {
  const ListQuery = Type.Object({ limit, before: Type.Optional(Type.String()) });
  app.get('/api/v1/workflows', { schema: { querystring: ListQuery, response: { 200: WorkflowList } } }, ({ query }) =>
    listWorkflows(shell, query.limit ?? 100, query.before === undefined ? undefined : workflowOf(query.before)),
  );
  const WaitQuery = Type.Object({
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: longPollMsMax })),
  });
  app.get(
    '/api/v1/workflows/:id',
    { schema: { params: Reference, querystring: WaitQuery, response: { 200: WorkflowView } } },
    ({ params, query }) => nextView(shell, workflowOf(params.id), query.after ?? -1, shell.now() + (query.waitMs ?? 0)),
  );
  const TaskQuery = Type.Object({ limit, state: Type.Optional(Type.String()), after: Type.Optional(Type.Integer()) });
  app.get(
    '/api/v1/workflows/:id/tasks',
    { schema: { params: Reference, querystring: TaskQuery, response: { 200: TaskList } } },
    ({ params, query }) =>
      listTasks(shell, workflowOf(params.id), statesOf(query.state), query.after ?? 0, query.limit ?? 100),
  );
  app.get(
    '/api/v1/workflows/:id/failures',
    { schema: { params: Reference, response: { 200: FailureList } } },
    async ({ params }) => ({ groups: await failuresOf(shell, workflowOf(params.id)) }),
  );
}

async function listWorkflows(
  shell: ControllerShell,
  most: number,
  before: WorkflowId | undefined,
): Promise<WorkflowList> {
  const count = await shell.read((cluster) => cluster.workflows.size);
  const workflows: WorkflowView[] = [];
  let id = Math.min(count, (before ?? count + 1) - 1);
  for (; id >= 1 && workflows.length < most; id--) workflows.push(await viewOf(shell, workflowId(id)));
  return id >= 1 ? { workflows, next: printWorkflow(workflowId(id + 1)) } : { workflows };
}

function statesOf(text: string | undefined): ReadonlySet<TaskState> {
  if (text === undefined) return new Set(taskStates);
  const states = text.split(',');
  const unknown = states.find((state) => !(taskStates as readonly string[]).includes(state));
  if (unknown !== undefined) {
    throw new DroverError('bad-input', `'${unknown}' is not a state of a task`, {
      hint: `one of ${taskStates.join(', ')}`,
    });
  }
  return new Set(states as TaskState[]);
}

async function listTasks(
  shell: ControllerShell,
  workflow: WorkflowId,
  states: ReadonlySet<TaskState>,
  after: number,
  most: number,
): Promise<TaskList> {
  const found = await shell.read((cluster) => {
    const tasks: TaskId[] = [];
    for (const task of cluster.workflow(workflow).tasks(after + 1)) {
      if (!states.has(cluster.tasks.state(task))) continue;
      tasks.push(task);
      if (tasks.length > most) break;
    }
    return tasks;
  });
  const page = found.slice(0, most);
  const definitions = await shell.store.definitions(page);
  const attempts = await shell.read((cluster) => page.map((task) => cluster.tasks.lastAttempt(task)));
  const rows = await shell.store.attempts(attempts.map((attempt) => attempt ?? (0 as never)));
  const tasks = await shell.read((cluster) =>
    definitions.map((definition, at) => renderTask(cluster, definition.id, definition, rows[at])),
  );
  const last = tasks.at(-1);
  return found.length > most && last !== undefined ? { tasks, next: last.index } : { tasks };
}
