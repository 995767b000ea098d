/** What clients ask for, as operations on the cluster. A request is answered only when what it did is durable. */

import type { TaskSeed } from '../core/change.ts';
import { makeAvailable } from '../core/task/availability.ts';
import { addContinuations, removeContinuations } from '../core/task/dependencies.ts';
import { retryTask } from '../core/task/retrying.ts';
import type { Turn } from '../core/turn.ts';
import {
  abortWorkflow,
  cancelWorkflow,
  checkExtension,
  closeWorkflow,
  extendWorkflow,
  registerWorkflow,
} from '../core/workflow/registration.ts';
import { DroverError } from '../model/errors.ts';
import { taskId, type WorkflowId } from '../model/ids.ts';
import { commandBytesMax, commitRowsMax, environmentBytesMax } from '../model/limits.ts';
import type { Need } from '../model/need.ts';
import type { WorkflowState } from '../model/states.ts';
import type { TaskBatch, WorkflowSpec } from '../protocol/spec.ts';
import type { Comparison } from '../protocol/views.ts';
import type { TaskDefinition, UsageSample } from '../store/store.ts';
import type { HttpWorkers } from './http-workers.ts';
import type { Effect, Reply, Request } from './messages.ts';
import { kindOf } from './task-kind.ts';
import { needOf, needOfTask } from './task-need.ts';
import { steerTasks } from './task-steering.ts';
import type { Tokens } from './tokens.ts';
import { administer } from './worker-administration.ts';
import type { WorkerSessions } from './worker-sessions.ts';

/** What the store must keep besides the changes. */
export interface Collected {
  readonly specs: { readonly workflow: WorkflowId; readonly spec: WorkflowSpec }[];
  readonly definitions: TaskDefinition[];
  readonly samples: UsageSample[];
  /** Those of the definitions that have tags: found while each is looked at anyway. */
  readonly tagged: TaskDefinition[];
}

export interface RequestContext {
  readonly turn: Turn;
  readonly sessions: WorkerSessions;
  readonly tokens: Tokens;
  readonly httpWorkers: HttpWorkers;
  readonly effects: Effect[];
  readonly collected: Collected;
  readonly ticket: number;
}

const done: Reply = { type: 'done' };

/** `undefined`: the reply comes later. */
export function handleRequest(context: RequestContext, request: Request): Reply | undefined {
  const { turn } = context;
  switch (request.type) {
    case 'register':
      return { type: 'registered', workflow: register(context, request.spec) };
    case 'submit':
      return submit(context, request.spec, request.batch, request.comparison);
    case 'extend':
      checkCommands(request.batch);
      return extend(context, request.workflow, request.batch, request.comparison);
    case 'close':
      closeWorkflow(turn, request.workflow);
      return done;
    case 'abort':
      abortWorkflow(turn, request.workflow);
      return done;
    case 'cancel':
      cancelWorkflow(turn, request.workflow);
      return done;
    case 'halt':
      turn.mustWorkflow(request.workflow, { type: 'halt', mode: request.mode }, 'definer');
      return done;
    case 'resume':
      turn.mustWorkflow(request.workflow, { type: 'resume', how: request.how }, 'definer');
      return done;
    case 'cancel-task':
      turn.mustTask(request.task, { type: 'cancel', reason: 'user' }, 'definer');
      return done;
    case 'retry-task':
      retryTask(turn, request.task);
      return done;
    case 'hold-task':
      turn.mustTask(request.task, { type: 'hold' }, 'definer');
      return done;
    case 'release-task':
      turn.mustTask(request.task, { type: 'release' }, 'definer');
      return done;
    case 'make-available':
      makeAvailable(turn, request.task);
      return done;
    case 'set-priority':
      turn.mustTask(request.task, { type: 'prioritise', priority: request.priority }, 'definer');
      return done;
    case 'steer-tasks':
      return { type: 'tasks-steered', ...steerTasks(turn, request.tasks, request.steering, request.mask) };
    case 'retry-failed':
      return retryFailed(turn, request.workflow, request.after);
    case 'halt-interrupted':
      return haltInterrupted(turn);
    case 'read-output':
      return context.sessions.readOutput(context.ticket, request, context.effects);
    case 'drain-worker':
    case 'release-worker':
    case 'stop-worker':
    case 'resize-worker':
      administer(context, request);
      return done;
    case 'add-continuations':
      addContinuations(turn, request.task, request.continuations, request.after);
      return done;
    case 'remove-continuations':
      removeContinuations(turn, request.task, request.continuations);
      return done;
    case 'report-usage':
      context.collected.samples.push(...request.samples);
      return done;
    case 'dismiss-workers':
      context.sessions.dismissAll(context.effects);
      return done;
    case 'add-token':
      return { type: 'token-added', token: context.tokens.add(request.token, turn.now) };
    case 'revoke-token':
      context.tokens.revoke(request.token, turn.now);
      return done;
    default:
      return context.httpWorkers.handle(turn, request, context.sessions.isWaiting(turn.now), context.effects);
  }
}

/** Checked as a whole before any of it is done: what is refused leaves nothing behind. */
function submit(context: RequestContext, spec: WorkflowSpec, batch: TaskBatch, comparison?: Comparison): Reply {
  checkCommands(batch);
  checkExtension('the workflow', 0, batch.tasks.length, batch.edges);
  const workflow = register(context, spec);
  extend(context, workflow, batch, comparison);
  closeWorkflow(context.turn, workflow);
  return { type: 'registered', workflow, ...(comparison === undefined ? {} : { comparison }) };
}

function register({ turn, collected }: RequestContext, spec: WorkflowSpec): WorkflowId {
  let environmentBytes = 0;
  for (const [key, value] of Object.entries(spec.env))
    environmentBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (environmentBytes > environmentBytesMax) {
    throw new DroverError('too-large', `the environment has more than ${environmentBytesMax} bytes`);
  }
  const { maxAttempts, failFast, open, onLost } = spec;
  const loss = onLost === undefined ? {} : { onLost };
  const need = spec.resources === undefined ? {} : { need: needOf(spec.resources) };
  const workflow = registerWorkflow(turn, { maxAttempts, failFast, open, ...loss, ...need });
  collected.specs.push({ workflow, spec });
  return workflow;
}

function checkCommands({ tasks }: TaskBatch): void {
  tasks.forEach(({ command }, offset) => {
    if (command === undefined || Buffer.byteLength(command) <= commandBytesMax) return;
    throw new DroverError(
      'too-large',
      `task ${offset + 1} of the batch: its command has more than ${commandBytesMax} bytes`,
    );
  });
}

const seedsOf = ({ tasks }: TaskBatch, base: Need | undefined): TaskSeed[] =>
  tasks.map((spec) => ({
    kind: kindOf(spec),
    ...seedNeed(needOfTask(spec, base)),
    ...(spec.held === undefined ? {} : { held: spec.held }),
    ...(spec.maxAttempts === undefined ? {} : { maxAttempts: spec.maxAttempts }),
    ...(spec.until === undefined ? {} : { until: spec.until }),
    ...(spec.priority === undefined ? {} : { priority: spec.priority }),
  }));

const seedNeed = (need: Need | undefined): Pick<TaskSeed, 'need'> => (need === undefined ? {} : { need });

function extend(
  { turn, collected }: RequestContext,
  workflow: WorkflowId,
  batch: TaskBatch,
  comparison?: Comparison,
): Reply {
  const { tasks, edges } = batch;
  const seeds = seedsOf(batch, turn.cluster.workflow(workflow).rules.need);
  const { first, firstIndex } = extendWorkflow(turn, workflow, { seeds, edges });
  tasks.forEach((spec, offset) => {
    const definition = { id: taskId(first + offset), workflow, index: firstIndex + offset, spec };
    collected.definitions.push(definition);
    if (spec.tags !== undefined) collected.tagged.push(definition);
  });
  return { type: 'extended', firstIndex, count: tasks.length, ...(comparison === undefined ? {} : { comparison }) };
}

function retryFailed(turn: Turn, workflow: WorkflowId, after: number): Reply {
  const { tasks } = turn.cluster;
  let count = 0;
  for (const task of turn.cluster.workflow(workflow).tasks(after + 1)) {
    if (tasks.state(task) !== 'failed') continue;
    if (turn.changes.length >= commitRowsMax) return { type: 'retried', count, next: tasks.index(task) - 1 };
    retryTask(turn, task);
    count++;
  }
  return { type: 'retried', count };
}

const goingOn: readonly WorkflowState[] = ['queued', 'instantiating', 'launched', 'running'];

function haltInterrupted(turn: Turn): Reply {
  const interrupted: WorkflowId[] = [];
  for (const id of [...turn.cluster.active]) {
    const workflow = turn.cluster.workflow(id);
    if (workflow.state === 'registering') abortWorkflow(turn, id);
    if (!goingOn.includes(workflow.state)) continue;
    turn.workflow(id, { type: 'halt', mode: 'drain' }, 'controller');
    interrupted.push(id);
  }
  return { type: 'interrupted', workflows: interrupted };
}
