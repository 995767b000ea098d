/** What clients ask for, as operations on the cluster. A request is answered only when what it did is durable. */

import type { TaskSeed } from '../core/change.ts';
import { makeAvailable } from '../core/task/availability.ts';
import { addContinuations, removeContinuations } from '../core/task/dependencies.ts';
import { retryTask } from '../core/task/retrying.ts';
import type { Turn } from '../core/turn.ts';
import type { WorkflowRecord } from '../core/workflow/record.ts';
import {
  abortWorkflow,
  cancelWorkflow,
  checkExtension,
  closeWorkflow,
  extendWorkflow,
  registerWorkflow,
} from '../core/workflow/registration.ts';
import { resetWorkflow } from '../core/workflow/resetting.ts';
import { DroverError } from '../model/errors.ts';
import { taskId, type WorkflowId } from '../model/ids.ts';
import { commandBytesMax, commitRowsMax, environmentBytesMax } from '../model/limits.ts';
import type { Need } from '../model/need.ts';
import type { WorkflowState } from '../model/states.ts';
import type { TaskBatch, WorkflowSpec } from '../protocol/spec.ts';
import type { TaskDefinition } from '../store/store.ts';
import type { HttpWorkers } from './http-workers.ts';
import { type Identities, identityOf } from './identities.ts';
import { groupTasks, limitWarnings, setConcurrency, setLimit } from './limit-requests.ts';
import type { Effect, Reply, Request } from './messages.ts';
import { checkNotifications, type Notices } from './notices.ts';
import { kindOf } from './task-kind.ts';
import { needOf, needOfTask } from './task-need.ts';
import { steerTasks } from './task-steering.ts';
import type { Tokens } from './tokens.ts';
import type { UsageSamples } from './usage-samples.ts';
import { warningsOf } from './warnings.ts';
import { administer } from './worker-administration.ts';
import type { WorkerSessions } from './worker-sessions.ts';

/** What the store must keep besides the changes. */
export interface Collected {
  readonly specs: { readonly workflow: WorkflowId; readonly spec: WorkflowSpec }[];
  readonly definitions: TaskDefinition[];
  /** Those of the definitions that have tags: found while each is looked at anyway. */
  readonly tagged: TaskDefinition[];
}

export interface RequestContext {
  readonly turn: Turn;
  readonly sessions: WorkerSessions;
  readonly tokens: Tokens;
  readonly notices: Notices;
  readonly httpWorkers: HttpWorkers;
  readonly identities: Identities;
  readonly usage: UsageSamples;
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
      return known(context, request) ?? { type: 'registered', workflow: register(context, request) };
    case 'submit':
      return known(context, request) ?? submit(context, request);
    case 'extend':
      checkCommands(request.batch);
      return extend(context, request);
    case 'close':
      context.identities.mayClose(request.workflow);
      closeWorkflow(turn, request.workflow);
      context.identities.note(request.workflow);
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
    case 'set-limit':
      setLimit(turn, request.name, request.max);
      return done;
    case 'set-concurrency':
      setConcurrency(turn, request.workflow, request.patch);
      return done;
    case 'group-tasks':
      return { type: 'tasks-grouped', count: groupTasks(turn, request.tag, request.tasks) };
    case 'retry-failed':
      return retryFailed(turn, request.workflow, request.after);
    case 'reset':
      return { type: 'reset', ...resetWorkflow(turn, request, commitRowsMax) };
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
      context.usage.add(request.samples);
      return done;
    case 'dismiss-workers':
      context.sessions.dismissAll(context.effects);
      return done;
    case 'add-token':
      return { type: 'token-added', token: context.tokens.add(request.token, turn.now) };
    case 'revoke-token':
      context.tokens.revoke(request.token, turn.now);
      return done;
    case 'note':
      context.notices.note(request.notices, request.cursor, turn.now);
      return done;
    case 'notice-tried':
      context.notices.tried(request.tried);
      return done;
    default:
      return context.httpWorkers.handle(turn, request, context.sessions.isWaiting(turn.now), context.effects);
  }
}

/** Submitting the same again makes nothing: whoever asks goes on with what is there. */
function known({ identities }: RequestContext, { spec, replaces }: Asked<'register' | 'submit'>): Reply | undefined {
  const workflow = replaces === true ? undefined : identities.find(spec);
  return workflow === undefined ? undefined : { type: 'registered', workflow, isKnown: true };
}

type Asked<Type extends Request['type']> = Extract<Request, { readonly type: Type }>;

/** Checked as a whole before any of it is done: what is refused leaves nothing behind. */
function submit(context: RequestContext, request: Asked<'submit'>): Reply {
  const { batch, outside, comparison } = request;
  checkCommands(batch);
  checkExtension('the workflow', 0, batch.tasks.length, batch.edges, outside);
  const workflow = register(context, request);
  const { warnings } = extend(context, { ...request, type: 'extend', workflow });
  closeWorkflow(context.turn, workflow);
  context.identities.note(workflow);
  const compared = comparison === undefined ? {} : { comparison };
  return { type: 'registered', workflow, ...compared, ...(warnings === undefined ? {} : { warnings }) };
}

function register({ turn, collected }: RequestContext, { spec, replaces }: Asked<'register' | 'submit'>): WorkflowId {
  let environmentBytes = 0;
  for (const [key, value] of Object.entries(spec.env))
    environmentBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (environmentBytes > environmentBytesMax) {
    throw new DroverError('too-large', `the environment has more than ${environmentBytesMax} bytes`);
  }
  checkNotifications(spec.notify ?? []);
  const { maxAttempts, failFast, open, onLost, maxResourceRetries, concurrency, resources } = spec;
  const identity = identityOf(spec, replaces === true);
  const workflow = registerWorkflow(turn, {
    ...{ maxAttempts, failFast, open },
    ...(onLost === undefined ? {} : { onLost }),
    ...(maxResourceRetries === undefined ? {} : { maxResourceRetries }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(resources === undefined ? {} : { need: needOf(resources) }),
    ...(identity === undefined ? {} : { identity }),
  });
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

const seedsOf = ({ tasks }: TaskBatch, { rules, concurrency }: WorkflowRecord): TaskSeed[] =>
  tasks.map((spec) => ({
    kind: kindOf(spec),
    ...seedNeed(needOfTask(spec, rules.need, concurrency?.tags)),
    ...(spec.maxResourceRetries === undefined ? {} : { maxResourceRetries: spec.maxResourceRetries }),
    ...(spec.held === undefined ? {} : { held: spec.held }),
    ...(spec.maxAttempts === undefined ? {} : { maxAttempts: spec.maxAttempts }),
    ...(spec.until === undefined ? {} : { until: spec.until }),
    ...(spec.priority === undefined ? {} : { priority: spec.priority }),
  }));

const seedNeed = (need: Need | undefined): Pick<TaskSeed, 'need'> => (need === undefined ? {} : { need });

function extend(
  { turn, collected }: RequestContext,
  { workflow, batch, outside = [], comparison }: Asked<'extend'>,
): Extract<Reply, { readonly type: 'extended' }> {
  const { tasks, edges } = batch;
  const record = turn.cluster.workflow(workflow);
  const seeds = seedsOf(batch, record);
  const { first, firstIndex } = extendWorkflow(turn, workflow, { seeds, edges, outside });
  tasks.forEach((spec, offset) => {
    const definition = { id: taskId(first + offset), workflow, index: firstIndex + offset, spec };
    collected.definitions.push(definition);
    if (spec.tags !== undefined) collected.tagged.push(definition);
  });
  const warnings = [
    ...warningsOf(turn.cluster, workflow, firstIndex, seeds, turn.now),
    ...limitWarnings(
      turn.cluster,
      seeds.map(({ need }) => need ?? record.rules.need),
    ),
  ];
  return {
    ...{ type: 'extended', firstIndex, count: tasks.length },
    ...(comparison === undefined ? {} : { comparison }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
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
