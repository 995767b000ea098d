/**
 * What workers that take part by plain requests say, and what they are told. Resources of the API speak camelCase; a
 * task's `state` and `execution_info` are also understood in the words of the task server that this API follows.
 */
import { type Static, Type } from 'typebox';
import {
  claimsMax,
  continuationsMax,
  longPollMsMax,
  nameBytesMax,
  pageRowsMax,
  reportSamplesMax,
  shardBytesMax,
  slotsMax,
} from '../model/limits.ts';
import { edgeKinds } from '../model/states.ts';
import { count, oneOf } from './schema.ts';
import { Resources, Tags } from './spec.ts';
import { WorkerCapacity } from './worker.ts';

const strict = { additionalProperties: false } as const;
/** For example `k3`. */
const worker = Type.String({ maxLength: 20 });
/** For example `w3.14#2`, or in paths, where `#` means something else, `w3.14.2`. */
const attempt = Type.String({ maxLength: 40 });
const waitMs = Type.Integer({ minimum: 0, maximum: longPollMsMax });
/** ISO 8601, or ms since the epoch. */
const time = Type.Union([Type.Integer({ minimum: 0, maximum: 8.64e15 }), Type.String({ maxLength: 40 })]);

export const WorkerRegistration = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: shardBytesMax }),
    /** How many attempts it may have at a time; 1 when absent. */
    slots: Type.Optional(Type.Integer({ minimum: 1, maximum: slotsMax })),
    host: Type.Optional(Type.String({ minLength: 1, maxLength: nameBytesMax })),
    /** What it has besides slots: it is given no task that needs more. */
    capacity: Type.Optional(
      Type.Object({ ...WorkerCapacity.properties, queue: Type.Optional(WorkerCapacity.properties.queue) }, strict),
    ),
  },
  strict,
);
export type WorkerRegistration = Static<typeof WorkerRegistration>;

/** All in ms, counted by the worker from when it sent the request. */
export const LeaseTerms = Type.Object({
  leaseMs: count,
  /** What runs must be dead so long before the end of its lease. */
  marginMs: count,
  /** How often to renew. */
  heartbeatMs: count,
});
export type LeaseTerms = Static<typeof LeaseTerms>;

export const Registered = Type.Object({ id: worker, ...LeaseTerms.properties });
export type Registered = Static<typeof Registered>;

export const ClaimRequest = Type.Object(
  { max: Type.Optional(Type.Integer({ minimum: 1, maximum: claimsMax })), waitMs: Type.Optional(waitMs) },
  strict,
);

/** All that is needed to run an attempt. */
export const ClaimView = Type.Object({
  attempt,
  number: count,
  task: Type.String(),
  workflow: Type.String(),
  name: Type.Optional(Type.String()),
  command: Type.String(),
  cwd: Type.String(),
  /** `shell -c command`. */
  shell: Type.String(),
  /** The whole environment: nothing of the worker's own belongs to it. */
  env: Type.Record(Type.String(), Type.String()),
  stdin: Type.Optional(Type.String()),
  /** An attempt that takes longer is killed, and ends with `resource: runtime`. */
  timeoutMs: Type.Optional(count),
  /** Between TERM and KILL. */
  terminationMs: count,
  requestedResources: Type.Optional(Resources),
  lease: LeaseTerms,
});
export type ClaimView = Static<typeof ClaimView>;

export const ClaimList = Type.Object({ claims: Type.Array(ClaimView) });
export type ClaimList = Static<typeof ClaimList>;

export const HeartbeatRequest = Type.Object(
  {
    /** Those that it runs: only these are renewed. All that it has when absent. */
    attempts: Type.Optional(Type.Array(attempt, { maxItems: slotsMax })),
  },
  strict,
);

export const StopList = Type.Object({
  /** To be ended now: they were cancelled, their workflow is halted, or they are over for the controller. */
  cancel: Type.Array(Type.Object({ attempt, why: oneOf(['cancel', 'halt', 'gone']) })),
});
export type StopList = Static<typeof StopList>;

export const HeartbeatAnswer = Type.Object({
  ...LeaseTerms.properties,
  ...StopList.properties,
  /** All that the controller knows it to have. */
  attempts: Type.Array(attempt),
  /** It gets no more tasks; one that is `stopping` should end when it has ended what it runs. */
  bar: Type.Optional(oneOf(['drained', 'stopping', 'quarantined'])),
});
export type HeartbeatAnswer = Static<typeof HeartbeatAnswer>;

export const OrdersQuery = Type.Object({
  waitMs: Type.Optional(waitMs),
  /** Attempts that it knows it has to end, separated by commas: the answer waits for others. */
  known: Type.Optional(Type.String({ maxLength: 100_000 })),
});

/** What may be known of a task that is available; the first three are what a worker needs to choose. */
export const availableFields = [
  'id',
  'maxTerminationMs',
  'requestedResources',
  'workflow',
  'name',
  'command',
  'priority',
  'expectedDurationMs',
  'tags',
  'attempts',
] as const;
export type AvailableField = (typeof availableFields)[number];

const availableTask = Type.Object({
  id: Type.Optional(Type.String()),
  maxTerminationMs: Type.Optional(count),
  requestedResources: Type.Optional(Resources),
  workflow: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  command: Type.Optional(Type.String()),
  priority: Type.Optional(Type.Integer()),
  expectedDurationMs: Type.Optional(count),
  tags: Type.Optional(Tags),
  attempts: Type.Optional(count),
} satisfies Record<AvailableField, unknown>);
export const AvailableList = Type.Object({ tasks: Type.Array(availableTask) });
export type AvailableList = Static<typeof AvailableList>;

export const AvailableQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageRowsMax })),
  fields: Type.Optional(Type.String({ maxLength: 1_000 })),
});

/** What a worker says of an attempt, in the words of the seed. */
export const ExecutionReport = Type.Object(
  {
    worker: Type.Optional(worker),
    /** The number of the attempt; the last one when absent. */
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
    exit_status: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 255 }), Type.Null()])),
    /** It was ended by this signal. */
    signal: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    /** It ran out of this, and was killed for it. */
    resource: Type.Optional(oneOf(['memory', 'runtime'])),
    /** It could not be started here, and why. */
    not_started: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    time_started: Type.Optional(time),
    time_terminated: Type.Optional(time),
    cpu_ms: Type.Optional(count),
    peak_bytes: Type.Optional(count),
  },
  strict,
);
export type ExecutionReport = Static<typeof ExecutionReport>;

/** The states that a request may ask for. `available` is `queued` and `inactive` is `waiting`, as the seed says. */
export const askedStates = [
  'running',
  'terminated',
  'cancelled',
  'available',
  'queued',
  'inactive',
  'waiting',
  'pending_cancellation',
  'cancelling',
] as const;
export type AskedState = (typeof askedStates)[number];

export const TaskPatch = Type.Object(
  {
    state: Type.Optional(oneOf(askedStates)),
    execution_info: Type.Optional(ExecutionReport),
    /** Read-only: named here, so that whoever writes it is told what to do instead. */
    continuations: Type.Optional(Type.Unknown()),
  },
  strict,
);
export type TaskPatch = Static<typeof TaskPatch>;

const sample = Type.Object({ value: Type.Number({ minimum: 0 }), at: Type.Optional(time) }, strict);

/** `value` or `samples`. Who reports need not know of attempts: the last one is meant unless another is named. */
export const UsageReport = Type.Object(
  {
    worker: Type.Optional(worker),
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
    value: Type.Optional(Type.Number({ minimum: 0 })),
    at: Type.Optional(time),
    samples: Type.Optional(Type.Array(sample, { minItems: 1, maxItems: reportSamplesMax })),
  },
  strict,
);
export type UsageReport = Static<typeof UsageReport>;

const SampleView = Type.Object({ at: Type.String(), value: Type.Number() });

/** One attempt, in the words of the seed. */
export const ExecutionInfo = Type.Object({
  attempt: count,
  worker,
  time_started: Type.Optional(Type.String()),
  time_terminated: Type.Optional(Type.String()),
  exit_status: Type.Optional(Type.Integer()),
  signal: Type.Optional(Type.Integer()),
  outcome: Type.Optional(Type.String()),
  memory_usage: Type.Array(SampleView),
  cpu_utilization: Type.Array(SampleView),
  gpu_usage: Type.Array(SampleView),
});
export type ExecutionInfo = Static<typeof ExecutionInfo>;

export const ExecutionHistory = Type.Object({ history: Type.Array(ExecutionInfo) });
export type ExecutionHistory = Static<typeof ExecutionHistory>;

const task = Type.String({ maxLength: 40 });

/** One or many, all of one kind. */
export const ContinuationsBody = Type.Object(
  {
    continuation: Type.Optional(task),
    continuations: Type.Optional(Type.Array(task, { minItems: 1, maxItems: continuationsMax })),
    /** `success` when absent. */
    after: Type.Optional(oneOf(edgeKinds)),
  },
  strict,
);
export type ContinuationsBody = Static<typeof ContinuationsBody>;
