import { Type } from '@fastify/type-provider-typebox';
import type { Reply, Request, RequestKey } from '../../controller/messages.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { assert } from '../../model/errors.ts';
import { printWorkflow, type WorkflowId } from '../../model/ids.ts';
import { longPollMsMax } from '../../model/limits.ts';
import { haltModes, isEndedWorkflow } from '../../model/states.ts';
import { oneOf } from '../../protocol/schema.ts';
import { TaskBatch, WorkflowSpec } from '../../protocol/spec.ts';
import { Comparison, RetryResult, WorkflowView } from '../../protocol/views.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import type { Comparer } from '../comparison.ts';
import { keyOf } from '../idempotency.ts';
import { workflowView } from '../query/workflows.ts';
import { workflowOf } from '../reference.ts';

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
  return workflowView(shell, workflow);
}

const example = {
  spec: {
    ...{ cwd: '/data', shell: '/bin/bash', env: { PATH: '/usr/bin:/bin' }, maxAttempts: 2, terminationMs: 3_000 },
    ...{ failFast: false, open: false },
  },
  batch: {
    tasks: [
      { command: 'gzip -k a.txt', tags: { kind: 'pack' } },
      { command: 'ls -l', priority: 5 },
    ],
    edges: [{ parents: [1, 1], children: [2, 2], after: 'success' }],
  },
};

export function registerWorkflowRoutes(app: App, { shell }: ApiOptions, comparer: Comparer): void {
  registerDefining(app, shell, comparer);
  registerSteering(app, shell, comparer);
  registerReading(app, shell);
}

function registerDefining(app: App, shell: ControllerShell, comparer: Comparer): void {
  // With a batch it is the whole workflow, which is closed at once.
  const Body = Type.Object({ spec: WorkflowSpec, batch: Type.Optional(TaskBatch) }, { additionalProperties: false });
  const Compared = { comparison: Type.Optional(Comparison) };
  const Registered = Type.Union([
    Type.Object({ ...WorkflowView.properties, ...Compared }),
    Type.Object({ id: Type.String() }),
  ]);
  app.post(
    '/api/v1/workflows',
    {
      schema: {
        summary: 'Register a workflow, or submit a whole one',
        body: Body,
        bodyExample: example,
        response: { 200: Registered },
      },
    },
    async (request) => {
      const { spec, batch } = request.body;
      const reply = await askOnce(shell, keyOf(request), () => comparer.submission(spec, batch));
      assert(reply.type === 'registered', 'what is registered is answered so');
      const { workflow, comparison } = reply;
      if (batch === undefined) return { id: printWorkflow(workflow) };
      return { ...(await workflowView(shell, workflow)), ...(comparison === undefined ? {} : { comparison }) };
    },
  );
  const Extended = Type.Object({ firstIndex: Type.Integer(), count: Type.Integer(), ...Compared });
  app.post(
    '/api/v1/workflows/:id/tasks',
    {
      schema: {
        summary: 'Add tasks and edges to a workflow',
        params: Reference,
        body: TaskBatch,
        response: { 200: Extended },
      },
    },
    async (request) => {
      const workflow = workflowOf(request.params.id);
      const key = keyOf(request);
      const reply = await comparer.extend(workflow, request.body, (asked) => shell.request(asked, key));
      assert(reply.type === 'extended', 'what is extended is answered so');
      const { type: _, ...answer } = reply;
      return answer;
    },
  );
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
    return workflowView(shell, workflow);
  };
  const response = { 200: WorkflowView };
  const summaries = {
    close: 'Say that a workflow has all of its tasks',
    abort: 'Give up a workflow that is being registered',
    cancel: 'End a workflow for good',
  } as const;
  for (const type of ['close', 'abort', 'cancel'] as const) {
    app.post(
      `/api/v1/workflows/:id/${type}`,
      { schema: { summary: summaries[type], params: Reference, response } },
      (request) => {
        const workflow = workflowOf(request.params.id);
        comparer.forget(workflow);
        return answer(workflow, { type, workflow }, keyOf(request));
      },
    );
  }
  app.post(
    '/api/v1/workflows/:id/retry',
    {
      schema: {
        summary: 'Try all failed tasks of a workflow again',
        params: Reference,
        response: { 200: RetryResult },
      },
    },
    (request) => retryFailed(shell, workflowOf(request.params.id)),
  );
  const HaltBody = Type.Object({ mode: oneOf(haltModes) }, { additionalProperties: false });
  app.post(
    '/api/v1/workflows/:id/halt',
    { schema: { summary: 'Stop a workflow for now', params: Reference, body: HaltBody, response } },
    ({ params, body }) => {
      const workflow = workflowOf(params.id);
      return answer(workflow, { type: 'halt', workflow, mode: body.mode });
    },
  );
  const ResumeBody = Type.Object({ how: oneOf(['hot', 'cold']) }, { additionalProperties: false });
  app.post(
    '/api/v1/workflows/:id/resume',
    { schema: { summary: 'Go on with a workflow that was halted', params: Reference, body: ResumeBody, response } },
    ({ params, body }) => {
      const workflow = workflowOf(params.id);
      return answer(workflow, { type: 'resume', workflow, how: body.how });
    },
  );
}

async function retryFailed(shell: ControllerShell, workflow: WorkflowId): Promise<RetryResult> {
  let retried = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const reply = await shell.request({ type: 'retry-failed', workflow, after });
    if (reply.type !== 'retried') break;
    retried += reply.count;
    after = reply.next;
  }
  return { retried, workflow: await workflowView(shell, workflow) };
}

function registerReading(app: App, shell: ControllerShell): void {
  const WaitQuery = Type.Object({
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: longPollMsMax })),
  });
  app.get(
    '/api/v1/workflows/:id',
    {
      schema: {
        summary: 'Look at a workflow, or wait for its next change',
        params: Reference,
        querystring: WaitQuery,
        response: { 200: WorkflowView },
      },
    },
    ({ params, query }) => nextView(shell, workflowOf(params.id), query.after ?? -1, shell.now() + (query.waitMs ?? 0)),
  );
}
