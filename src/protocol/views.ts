/** What readers of the API see. Times are ISO-8601 in UTC with ms; what is not there is absent, never null. */
import { type Static, Type } from 'typebox';
import { exhaustibles } from '../model/need.ts';
import {
  attemptStates,
  cancelReasons,
  failReasons,
  haltModes,
  outcomeKinds,
  outputStreams,
  taskStates,
  workerKinds,
  workerStates,
  workflowStates,
} from '../model/states.ts';
import { tokenRoles } from '../model/tokens.ts';
import { oneOf } from './schema.ts';
import { Amounts, Concurrency, EdgeSpec, Notification, Priority, Resources, Tags, WorkflowSpec } from './spec.ts';

export const apiVersion = 1;

const time = Type.String();
const count = Type.Integer({ minimum: 0 });

/** Tasks with a command, by where they stand. Barriers and other joins are not counted. */
export const Counts = Type.Object({
  total: count,
  /** registering, waiting, queued, triaging, adjusting */
  pending: count,
  /** launched, running, cancelling */
  running: count,
  done: count,
  failed: count,
  cancelled: count,
});
export type Counts = Static<typeof Counts>;

export const WorkflowView = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  state: oneOf(workflowStates),
  /** Set while what is left is being cancelled. */
  stop: Type.Optional(oneOf(['user', 'fail-fast'])),
  haltMode: Type.Optional(oneOf(haltModes)),
  /** The number of the last run, 0 before the first. */
  run: count,
  counts: Counts,
  /** How many of its tasks run at a time, where that is limited. */
  concurrency: Type.Optional(Concurrency),
  createdAt: time,
  /** Of the last run. */
  startedAt: Type.Optional(time),
  endedAt: Type.Optional(time),
  /** Of the last run, so far. */
  durationMs: count,
  /** Attempts that ended in the last run, as far as this controller has seen them. */
  attemptsEnded: count,
  /** Rises with every change of this workflow; give it back to wait for the next one. */
  version: count,
});
export type WorkflowView = Static<typeof WorkflowView>;

const { cwd, shell, args, attributes, maxAttempts, timeoutMs, terminationMs, failFast, onLost } =
  WorkflowSpec.properties;
const { resources, outputDir, stdin, like, commandLine } = WorkflowSpec.properties;

/** How the tasks of a workflow are run. Of the submitter's variables there is only how many: they may be secrets. */
export const WorkflowSurroundings = Type.Object({
  ...{ cwd, shell, args, attributes, maxAttempts, timeoutMs, terminationMs, failFast, onLost },
  ...{ resources, outputDir, stdin, like, commandLine },
  variables: count,
});
export type WorkflowSurroundings = Static<typeof WorkflowSurroundings>;

/** What became of a submission: a new workflow, or one that was there and goes on, was resumed, or has ended. */
export const Submitted = Type.Object({
  ...WorkflowView.properties,
  outcome: oneOf(['new', 'attached', 'resumed', 'done']),
});
export type Submitted = Static<typeof Submitted>;

/** How many rows match; at least so many where it is not exact. */
export const CountView = Type.Object({ matched: count, isExact: Type.Boolean() });
export type CountView = Static<typeof CountView>;

/** Of every page: it may be shorter than asked for, and even empty, while there is a next one. */
const pageEnd = {
  /** Give it as `cursor` for the next page; absent on the last. */
  next: Type.Optional(Type.String()),
  /** Where it was asked for. */
  count: Type.Optional(CountView),
};

export const WorkflowList = Type.Object({ workflows: Type.Array(WorkflowView), ...pageEnd });
export type WorkflowList = Static<typeof WorkflowList>;

/** What became of tasks that were compared with those of an earlier workflow. */
export const Comparison = Type.Object({
  /** Done there, and skipped here. */
  unchanged: count,
  /** There, but not done. */
  again: count,
  /** New or changed. */
  fresh: count,
});
export type Comparison = Static<typeof Comparison>;

/** Of tasks that were taken, and that no worker which is there now could run. */
export const Warnings = Type.Array(Type.String());
const names = Type.Object({ count, first: Type.Array(Type.String()) });
/** What the tasks and edges of a definition have in which those of a workflow differ; the first of each. */
export const Difference = Type.Object({
  added: names,
  removed: names,
  /** With another template, command or value. */
  changed: names,
  /** `+ align → count` is new, with `-` it is gone. */
  edges: names,
});
export type Difference = Static<typeof Difference>;

export const OutcomeView = Type.Object({
  kind: oneOf(outcomeKinds),
  code: Type.Optional(Type.Integer()),
  signal: Type.Optional(Type.Integer()),
  resource: Type.Optional(oneOf(['memory', 'runtime'])),
  /** Of a resource: not what it asked for, but its definer's timeout, or all that the machine had. */
  by: Type.Optional(oneOf(['timeout', 'machine'])),
  what: Type.Optional(oneOf(['worker', 'cylinder'])),
  why: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});
export type OutcomeView = Static<typeof OutcomeView>;

export const AttemptView = Type.Object({
  id: Type.String(),
  number: count,
  state: oneOf(attemptStates),
  worker: Type.String(),
  host: Type.String(),
  recordedAt: time,
  startedAt: Type.Optional(time),
  endedAt: Type.Optional(time),
  /** What it was given; absent where nothing was asked for: one slot. */
  resources: Type.Optional(Resources),
  outcome: Type.Optional(OutcomeView),
  /** Why the worker signalled it: cancel, halt, timeout, runtime, memory. */
  signalledFor: Type.Optional(Type.String()),
  wallMs: Type.Optional(count),
  cpuMs: Type.Optional(count),
  peakBytes: Type.Optional(count),
});
export type AttemptView = Static<typeof AttemptView>;

export const AttemptList = Type.Object({ attempts: Type.Array(AttemptView), ...pageEnd });
export type AttemptList = Static<typeof AttemptList>;

/** What a task would have needed that ran out of a resource for good. */
export const Shortfall = Type.Object({
  resource: oneOf(exhaustibles),
  resources: Resources,
  why: Type.String(),
});
export type Shortfall = Static<typeof Shortfall>;

export const TaskView = Type.Object({
  id: Type.String(),
  index: count,
  name: Type.Optional(Type.String()),
  /** Absent for a barrier or another join. */
  command: Type.Optional(Type.String()),
  state: oneOf(taskStates),
  reason: Type.Optional(oneOf([...failReasons, ...cancelReasons])),
  held: Type.Optional(Type.Literal(true)),
  /** Why it need not run. */
  skipped: Type.Optional(Type.String()),
  priority: Priority,
  requestedResources: Type.Optional(Resources),
  /** What its next attempt gets, or its last one got: what was not said is filled in, what it ran out of is raised. */
  resources: Type.Optional(Resources),
  /** Where it failed for want of a resource. */
  shortfall: Type.Optional(Shortfall),
  expectedDurationMs: Type.Optional(count),
  tags: Type.Optional(Tags),
  /** Which template it was made of. */
  template: Type.Optional(Type.String()),
  attributes: Type.Optional(Tags),
  /** Dependencies that are not met yet. */
  pendingDependencies: Type.Optional(count),
  /** It waits before its next attempt until then. */
  notBefore: Type.Optional(time),
  attempts: count,
  /** How the last attempt ended. */
  outcome: Type.Optional(OutcomeView),
});
export type TaskView = Static<typeof TaskView>;

export const TaskList = Type.Object({ tasks: Type.Array(TaskView), ...pageEnd });
export type TaskList = Static<typeof TaskList>;

/** Of tasks of the workflow, by their indices; each edge is in one row only. */
export const EdgeList = Type.Object({
  edges: Type.Array(EdgeSpec),
  /** Give it as `cursor` for the next page; absent on the last. */
  next: Type.Optional(Type.String()),
});
export type EdgeList = Static<typeof EdgeList>;

export const TaskDetail = Type.Object({
  ...TaskView.properties,
  workflow: Type.String(),
  cwd: Type.String(),
  /** What waits for it, or waited; the last thousand that were added. */
  continuations: Type.Array(Type.String()),
  history: Type.Array(AttemptView),
});
export type TaskDetail = Static<typeof TaskDetail>;

/** What one attempt used of what it was given. */
export const ResourceUse = Type.Object({
  attempt: Type.String(),
  outcome: Type.Optional(OutcomeView),
  wallMs: Type.Optional(count),
  cpuMs: Type.Optional(count),
  peakBytes: Type.Optional(count),
});
export type ResourceUse = Static<typeof ResourceUse>;

/**
 * `requested`: as the task says. `validated`: with what was filled in. `adjusted`: after an attempt ran out of a resource.
 * `refused`: what would have been next, and is nowhere to be had.
 */
export const ResourceRow = Type.Object({
  kind: oneOf(['requested', 'validated', 'adjusted', 'refused']),
  /** Of an adjustment, from 1. */
  number: Type.Optional(count),
  /** Of the rows of a task exactly one is: what its next attempt gets, or its last one got. */
  active: Type.Boolean(),
  resources: Resources,
  /** What was filled in and from where; or why it was raised. */
  why: Type.Array(Type.String()),
  at: time,
  /** Which one ran out, and in which attempt. */
  resource: Type.Optional(oneOf(exhaustibles)),
  attempt: Type.Optional(Type.String()),
  /** Those that ran with it. */
  attempts: Type.Array(ResourceUse),
});
export type ResourceRow = Static<typeof ResourceRow>;

export const TaskResources = Type.Object({ task: Type.String(), rows: Type.Array(ResourceRow) });
export type TaskResources = Static<typeof TaskResources>;

export const ResourceList = Type.Object({ tasks: Type.Array(TaskResources), ...pageEnd });
export type ResourceList = Static<typeof ResourceList>;

/** Of what all workflows share. */
export const LimitView = Type.Object({
  name: Type.String(),
  /** Absent where nobody has set one: then it holds nobody back. */
  max: Type.Optional(Type.Number()),
  /** By attempts that have not ended. */
  used: Type.Number(),
  /** Workflows with tasks that wait for it. */
  waiting: count,
});
export type LimitView = Static<typeof LimitView>;

export const LimitList = Type.Object({ limits: Type.Array(LimitView) });
export type LimitList = Static<typeof LimitList>;

/** The limits of a workflow as they are now. */
export const ConcurrencyView = Type.Object({
  ...Concurrency.properties,
  /** Tasks that were added before their tag had a limit, and that it concerns from now on. */
  grouped: count,
  /** There may be more of these: give it as `cursor` to go on. */
  next: Type.Optional(Type.String()),
});
export type ConcurrencyView = Static<typeof ConcurrencyView>;

/**
 * How late the controller's event loop was, in ms: over the last minute or two, or since a client last began anew with
 * `POST server/loop-delay`. `overMs` is that time.
 */
export const LoopDelayView = Type.Object({
  p50: Type.Number({ minimum: 0 }),
  p99: Type.Number({ minimum: 0 }),
  max: Type.Number({ minimum: 0 }),
  overMs: count,
});
export type LoopDelayView = Static<typeof LoopDelayView>;

/** What the controller runs on. */
export const MachineView = Type.Object({
  host: Type.String(),
  /** For example `Linux 6.12.0 x64`. */
  os: Type.String(),
  cpus: count,
  memoryBytes: count,
});
export type MachineView = Static<typeof MachineView>;

export const VersionsView = Type.Object({
  node: Type.String(),
  /** Of the protocol of workers. */
  protocol: Type.Integer(),
  /** Of the schema of the store. */
  store: Type.Integer(),
});
export type VersionsView = Static<typeof VersionsView>;

export const ServerView = Type.Object({
  version: Type.String(),
  apiVersion: Type.Integer(),
  pid: Type.Integer(),
  uptimeMs: count,
  epoch: Type.Integer(),
  workers: count,
  slots: count,
  /** Absent where nobody measures it. */
  loopDelayMs: Type.Optional(LoopDelayView),
  machine: Type.Optional(MachineView),
  versions: Type.Optional(VersionsView),
});
export type ServerView = Static<typeof ServerView>;

export const WorkerView = Type.Object({
  id: Type.String(),
  /** Over a socket, or by plain requests. */
  kind: oneOf(workerKinds),
  /** For one over HTTP, the name that it gave itself. */
  shard: Type.String(),
  host: Type.String(),
  state: oneOf(workerStates),
  /** Why it gets no tasks although it is healthy: an operator's decision, or failures. */
  bar: Type.Optional(oneOf(['drained', 'stopping', 'quarantined'])),
  /** Why it is barred, not healthy, or gone; or that it is not connected. */
  reason: Type.Optional(Type.String()),
  slots: count,
  /** It gets tasks that ask for this queue. */
  queue: Type.String(),
  /** Absent: nobody knows, and nobody counts. */
  memoryBytes: Type.Optional(count),
  gpus: Type.Optional(count),
  pools: Type.Optional(Amounts),
  /** When it will end by itself. */
  endsAt: Type.Optional(time),
  /** Attempts that it has, started or not. */
  attempts: count,
  joinedAt: time,
  /** How long ago anything was heard of it; absent when it is gone. */
  heardAgoMs: Type.Optional(count),
});
export type WorkerView = Static<typeof WorkerView>;

export const WorkerList = Type.Object({ workers: Type.Array(WorkerView), ...pageEnd });
export type WorkerList = Static<typeof WorkerList>;

/**
 * One change of the history, as it was made: what it has beyond these fields is told by its type. Readers ignore types
 * and fields that they don't know; `v` rises when one of them changes its meaning.
 */
export const EventView = Type.Object({
  /** Counts all changes of the store, from 1 without gaps. */
  seq: count,
  v: count,
  at: time,
  type: Type.String(),
  workflow: Type.Optional(Type.String()),
  task: Type.Optional(Type.String()),
  attempt: Type.Optional(Type.String()),
  worker: Type.Optional(Type.String()),
});
export type EventView = Static<typeof EventView> & Record<string, unknown>;

/** `next` is always there: with it one goes on, or waits for what is yet to happen. */
export const EventList = Type.Object({ events: Type.Array(EventView), next: Type.String() });
export type EventList = Omit<Static<typeof EventList>, 'events'> & { events: EventView[] };
export const TokenView = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  role: oneOf(tokenRoles),
  createdAt: time,
  expiresAt: Type.Optional(time),
  revokedAt: Type.Optional(time),
  /** As far as this controller has seen it, since its start. */
  lastUsedAt: Type.Optional(time),
});
export type TokenView = Static<typeof TokenView>;

/** The token itself is told this once, and kept nowhere. */
export const NewTokenView = Type.Object({ ...TokenView.properties, token: Type.String() });
export type NewTokenView = Static<typeof NewTokenView>;

export const TokenList = Type.Object({ tokens: Type.Array(TokenView) });
export type TokenList = Static<typeof TokenList>;

export const RetryResult = Type.Object({ retried: count, workflow: WorkflowView });
export type RetryResult = Static<typeof RetryResult>;

export const ResetResult = Type.Object({
  /** Tasks that begin anew. */
  reset: count,
  workflow: WorkflowView,
});
export type ResetResult = Static<typeof ResetResult>;

/** What became of the tasks that matched. In a dry run: what would. */
export const BulkResult = Type.Object({
  matched: count,
  changed: count,
  /** Those that were so already. */
  unchanged: count,
  /** Those that it is not allowed for, by their state. */
  refused: Type.Record(Type.String(), count),
  /** There is more to do: give it as `cursor` to go on. */
  next: Type.Optional(Type.String()),
});
export type BulkResult = Static<typeof BulkResult>;

/** A line of output that matches, or stands near one that does. */
export const SearchLine = Type.Object({
  task: Type.String(),
  attempt: count,
  stream: oneOf(outputStreams),
  /** Counted from 1. */
  line: count,
  /** What is no UTF-8 is replaced. */
  text: Type.String(),
  /** Where it matches, as positions in `text`; none in a line that only stands near. */
  spans: Type.Array(Type.Tuple([count, count])),
  /** More of the line was left out, before or behind. */
  isCut: Type.Optional(Type.Literal(true)),
});
export type SearchLine = Static<typeof SearchLine>;

/** The last line of a search, and where output is missing. */
export const SearchEnd = Type.Object({
  /** Tasks whose output was looked at, and how many bytes of it. */
  tasks: count,
  bytes: count,
  matches: count,
  /** Bytes that are lost. */
  missing: count,
  /** There is more to look at: give it as `cursor` to go on. */
  next: Type.Optional(Type.String()),
});
export type SearchEnd = Static<typeof SearchEnd>;

export const NoticeView = Type.Object({
  id: Type.String(),
  /** Of the workflow: each is told once for each run. */
  run: count,
  at: time,
  state: oneOf(['pending', 'delivered', 'given-up']),
  tries: count,
  nextTryAt: Type.Optional(time),
  settledAt: Type.Optional(time),
  /** What went wrong last. */
  error: Type.Optional(Type.String()),
});

export const NotificationList = Type.Object({
  notifications: Type.Array(
    Type.Object({
      on: Notification.properties.on,
      /** Its origin only: the rest may be a secret. */
      webhook: Type.String(),
      isSigned: Type.Boolean(),
      notices: Type.Array(NoticeView),
    }),
  ),
});
export type NotificationList = Static<typeof NotificationList>;

export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    hint: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
});
export type ErrorBody = Static<typeof ErrorBody>;

/** Names a request, so that it can be repeated without harm. */
export const idempotencyHeader = 'idempotency-key';

/** Headers of an output response; its body is the bytes. */
export const outputHeaders = {
  /** Where the body begins. */
  offset: 'x-drover-offset',
  /** Where the next read goes on. */
  nextOffset: 'x-drover-next-offset',
  /** `true` when the attempt has ended and these are its last bytes. */
  isComplete: 'x-drover-complete',
  attempt: 'x-drover-attempt',
  /** `true` when there may be more, with a worker that can't be asked now. */
  isAway: 'x-drover-away',
  /** `true`, with the last bytes, when its worker was lost: what that had not handed over is gone. */
  isLost: 'x-drover-lost',
} as const;
