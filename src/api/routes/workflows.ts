import { Type } from '@fastify/type-provider-typebox';
import type { Request } from '../../controller/messages.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { printWorkflow, type WorkflowId, workflowId } from '../../model/ids.ts';
import { longPollMsMax } from '../../model/limits.ts';
import { haltModes, isEndedWorkflow } from '../../model/states.ts';
import { oneOf } from '../../protocol/schema.ts';
import { TaskBatch, WorkflowSpec } from '../../protocol/spec.ts';
import { FailureList, RetryResult, WorkflowView } from '../../protocol/views.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { failuresOf } from '../failures.ts';
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

export function registerWorkflowRoutes(app: App, { shell }: ApiOptions): void {
  registerDefining(app, shell);
  registerSteering(app, shell);
  registerReading(app, shell);
}

function registerDefining(app: App, shell: ControllerShell): void {
  // With a batch it is the whole workflow, which is closed at once.
  const Body = Type.Object({ spec: WorkflowSpec, batch: Type.Optional(TaskBatch) }, { additionalProperties: false });
  app.post('/api/v1/workflows', { schema: { body: Body } }, async ({ body: { spec, batch } }) => {
    const reply = await shell.request(
      batch === undefined ? { type: 'register', spec } : { type: 'submit', spec, batch },
    );
    const workflow = reply.type === 'registered' ? reply.workflow : workflowId(0);
    return batch === undefined ? { id: printWorkflow(workflow) } : workflowView(shell, workflow);
  });
  app.post('/api/v1/workflows/:id/tasks', { schema: { params: Reference, body: TaskBatch } }, async (request) => {
    const workflow = workflowOf(request.params.id);
    const reply = await shell.request({ type: 'extend', workflow, batch: request.body });
    return reply.type === 'extended' ? { firstIndex: reply.firstIndex, count: reply.count } : {};
  });
}

function registerSteering(app: App, shell: ControllerShell): void {
  const answer = async (workflow: WorkflowId, request: Request): Promise<WorkflowView> => {
    await shell.request(request);
    return workflowView(shell, workflow);
  };
  for (const type of ['close', 'abort', 'cancel'] as const) {
    app.post(`/api/v1/workflows/:id/${type}`, { schema: { params: Reference } }, ({ params }) => {
      const workflow = workflowOf(params.id);
      return answer(workflow, { type, workflow });
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
  return { retried, workflow: await workflowView(shell, workflow) };
}

function registerReading(app: App, shell: ControllerShell): void {
  const WaitQuery = Type.Object({
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: longPollMsMax })),
  });
  app.get(
    '/api/v1/workflows/:id',
    { schema: { params: Reference, querystring: WaitQuery, response: { 200: WorkflowView } } },
    ({ params, query }) => nextView(shell, workflowOf(params.id), query.after ?? -1, shell.now() + (query.waitMs ?? 0)),
  );
  app.get(
    '/api/v1/workflows/:id/failures',
    { schema: { params: Reference, response: { 200: FailureList } } },
    async ({ params }) => ({ groups: await failuresOf(shell, workflowOf(params.id)) }),
  );
}
