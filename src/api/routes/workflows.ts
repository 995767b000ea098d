import { Type } from '@fastify/type-provider-typebox';
import type { Reply, Request, RequestKey } from '../../controller/messages.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { assert } from '../../model/errors.ts';
import { printWorkflow, type WorkflowId } from '../../model/ids.ts';
import { longPollMsMax, pageRowsMax } from '../../model/limits.ts';
import { haltModes, isEndedWorkflow } from '../../model/states.ts';
import { oneOf } from '../../protocol/schema.ts';
import { TaskBatch, WorkflowSpec } from '../../protocol/spec.ts';
import { Comparison, Warnings } from '../../protocol/views/submissions.ts';
import { EdgeList } from '../../protocol/views/tasks.ts';
import { ResetResult, RetryResult, WorkflowSurroundings, WorkflowView } from '../../protocol/views/workflows.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import type { Comparer } from '../comparison.ts';
import { keyOf } from '../idempotency.ts';
import { outsideOf } from '../outside.ts';
import { edgePage } from '../query/edges.ts';
import { workflowView } from '../query/workflows.ts';
import { workflowOf } from '../reference.ts';
import { optional, renderSurroundings } from '../render.ts';

interface Wait {
  readonly after: number;
  readonly until: number;
  /** Before this only the end is news. */
  readonly from: number;
}

/** Answers when the workflow has changed since that version, or has ended, or the time is over. */
async function nextView(
  shell: ControllerShell,
  workflow: WorkflowId,
  { after, until, from }: Wait,
): Promise<WorkflowView> {
  const isNews = (cluster: Cluster): boolean => {
    const { version, state } = cluster.workflow(workflow);
    return isEndedWorkflow(state) || (version > after && shell.now() >= from);
  };
  while (!(await shell.read(isNews)) && shell.now() < until) {
    await shell.changed(shell.now() < from ? Math.min(from, until) : until);
  }
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
  const Body = Type.Object(
    { spec: WorkflowSpec, batch: Type.Optional(TaskBatch), replaces: Type.Optional(Type.Boolean()) },
    { additionalProperties: false },
  );
  const Compared = { comparison: Type.Optional(Comparison), warnings: Type.Optional(Warnings) };
  // It was there already, and nothing was made.
  const Known = { known: Type.Optional(Type.Literal(true)) };
  const Registered = Type.Union([
    Type.Object({ ...WorkflowView.properties, ...Compared, ...Known }),
    Type.Object({ id: Type.String(), ...Known }),
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
      const { spec, batch, replaces = false } = request.body;
      const reply = await askOnce(shell, keyOf(request), async () => {
        const asked = await comparer.submission(spec, batch);
        const outside = batch?.outside === undefined ? {} : { outside: await outsideOf(shell, batch) };
        return { ...asked, ...outside, ...(replaces ? { replaces } : {}) } as Request;
      });
      assert(reply.type === 'registered', 'what is registered is answered so');
      const { workflow, comparison, isKnown, warnings } = reply;
      const known = optional('known', isKnown);
      if (batch === undefined) return { id: printWorkflow(workflow), ...known };
      const view = await workflowView(shell, workflow);
      const noted = { ...optional('comparison', comparison), ...optional('warnings', warnings && [...warnings]) };
      return { ...view, ...noted, ...known };
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
      const outside = request.body.outside && (await outsideOf(shell, request.body));
      const more = outside === undefined ? {} : { outside };
      const reply = await comparer.extend(workflow, request.body, (asked) =>
        shell.request({ ...asked, ...more } as Request, key),
      );
      assert(reply.type === 'extended', 'what is extended is answered so');
      const { type: _, warnings, ...answer } = reply;
      return { ...answer, ...optional('warnings', warnings && [...warnings]) };
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
  const ResetBody = Type.Object({ all: Type.Boolean() }, { additionalProperties: false });
  app.post(
    '/api/v1/workflows/:id/reset',
    {
      schema: {
        summary: 'Let the tasks of a workflow begin anew',
        params: Reference,
        body: ResetBody,
        response: { 200: ResetResult },
      },
    },
    ({ params, body }) => reset(shell, workflowOf(params.id), body.all),
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

async function reset(shell: ControllerShell, workflow: WorkflowId, all: boolean): Promise<ResetResult> {
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const reply = await shell.request({ type: 'reset', workflow, all, after });
    assert(reply.type === 'reset', 'what is reset is answered so');
    count += reply.count;
    after = reply.next;
  }
  return { reset: count, workflow: await workflowView(shell, workflow) };
}

function registerReading(app: App, shell: ControllerShell): void {
  const WaitQuery = Type.Object({
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: longPollMsMax })),
    paceMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: longPollMsMax, description: 'before this, only the end is news' }),
    ),
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
    ({ params, query: { after = -1, waitMs = 0, paceMs = 0 } }) => {
      const now = shell.now();
      return nextView(shell, workflowOf(params.id), { after, until: now + waitMs, from: now + paceMs });
    },
  );
  app.get(
    '/api/v1/workflows/:id/surroundings',
    {
      schema: {
        summary: 'Look at where and how the tasks of a workflow run',
        params: Reference,
        response: { 200: WorkflowSurroundings },
      },
    },
    async ({ params }) => {
      const id = workflowOf(params.id);
      await shell.read((cluster) => cluster.workflow(id));
      const spec = await shell.store.workflowSpec(id);
      assert(spec !== undefined, `${params.id} has no specification`);
      return renderSurroundings(spec);
    },
  );
  const EdgeQuery = Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageRowsMax, description: 'rows of a page' })),
    cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next` of the page before' })),
  });
  app.get(
    '/api/v1/workflows/:id/edges',
    {
      schema: {
        summary: 'List what waits for what in a workflow',
        params: Reference,
        querystring: EdgeQuery,
        response: { 200: EdgeList },
      },
    },
    ({ params, query }) => edgePage(shell, workflowOf(params.id), query),
  );
}
