/**
 * The messages between controller (S) and worker (W). W opens a link for control and a second one for output, so that
 * bulk never delays a heartbeat. A frame is a JSON array of messages. Any frame counts as a sign of life.
 * A message that decides something names whom it is from or for: the process (`scheduler`, `instance`), so that what
 * comes late, twice, or over another link than it was meant for is known for what it is.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { DroverError } from '../model/errors.ts';
import { frameBytesAccepted, frameBytesMax, messagesPerFrameMax, slotsMax, usageLimits } from '../model/limits.ts';
import { exhaustibles } from '../model/need.ts';
import { neverStartedWhys, type Outcome } from '../model/outcome.ts';
import { outputStreams, usageMetrics } from '../model/states.ts';
import type { Timeouts } from '../model/timeouts.ts';
import { Repeats } from './repeats.ts';
import { count, oneOf } from './schema.ts';
import { Amounts, WorkflowSpec } from './spec.ts';

/** Rises with any change that an older peer would misread. */
export const workerProtocolVersion = 4;

export const controlPath = '/worker/v1/control';
export const outputPath = '/worker/v1/output';

const id = Type.Integer({ minimum: 1 });
const time = Type.Number({ minimum: 0 });
const token = Type.String({ minLength: 1, maxLength: 200 });
const stream = oneOf(outputStreams);

export const WorkerIdentity = Type.Object({
  shard: token,
  /** The host lock that it holds; the same lock held by a newer instance proves that the older one is dead. */
  lock: Type.String({ minLength: 1, maxLength: 5000 }),
  /** Of this process: when it started, and a random part. */
  instance: token,
  host: token,
  pid: count,
});
export type WorkerIdentity = Static<typeof WorkerIdentity>;

/** What it has besides slots; a slot is a processor. */
export const WorkerCapacity = Type.Object({
  queue: token,
  memoryBytes: Type.Optional(count),
  gpus: Type.Optional(count),
  pools: Type.Optional(Amounts),
  /** When it will end by itself: nothing that may take longer is placed here. */
  endsAt: Type.Optional(Type.Number({ minimum: 0, maximum: 8.64e15 })),
});
export type WorkerCapacity = Static<typeof WorkerCapacity>;

const outcome = Type.Unsafe<Outcome>(
  Type.Union([
    Type.Object({ kind: Type.Literal('succeeded') }),
    Type.Object({ kind: Type.Literal('exited'), code: Type.Integer({ minimum: 1, maximum: 255 }) }),
    Type.Object({ kind: Type.Literal('signalled'), signal: Type.Integer({ minimum: 1, maximum: 128 }) }),
    Type.Object({
      kind: Type.Literal('resource'),
      resource: oneOf(exhaustibles),
      by: Type.Optional(oneOf(['timeout', 'machine'])),
    }),
    Type.Object({ kind: Type.Literal('lost'), what: oneOf(['worker', 'cylinder']) }),
    Type.Object({ kind: Type.Literal('never-started'), why: oneOf(neverStartedWhys), message: Type.String() }),
    Type.Object({
      kind: Type.Literal('cancelled'),
      code: Type.Optional(Type.Integer()),
      signal: Type.Optional(Type.Integer()),
    }),
  ]),
);

/** The whole length of a stream, and its last bytes in base64. */
const streamEnd = Type.Object({ bytes: count, tail: Type.String() });
export type StreamEnd = Static<typeof streamEnd>;

const end = Type.Object({
  attempt: id,
  outcome,
  startedAt: Type.Optional(time),
  usage: Type.Optional(Type.Object({ wallMs: count, cpuMs: count, peakBytes: Type.Optional(count) })),
  signalledFor: Type.Optional(Type.String()),
  stdout: streamEnd,
  stderr: streamEnd,
});
export type AttemptEnd = Static<typeof end>;

/** Which workers a controller with this store knew: order-free hashes over their instances. */
export const WorkerSet = Type.Object({
  /** The controller that gave it. */
  scheduler: token,
  /** Of the store: another one after it was lost. */
  generation: token,
  /** Changes in the store's history: fewer after a restore. */
  version: count,
  count,
  sum: count,
  xor: count,
});
export type WorkerSet = Static<typeof WorkerSet>;

const heartbeat = Type.Object({
  t: Type.Literal('heartbeat'),
  version: Type.Integer(),
  /** Numbers the heartbeats of an instance; the reply names it. */
  beat: id,
  worker: WorkerIdentity,
  slots: Type.Integer({ minimum: 1, maximum: slotsMax }),
  capacity: Type.Optional(WorkerCapacity),
  /** In what silence it lives on, by the timeouts that it was told last. */
  silenceMs: Type.Optional(count),
  /** The last that it had from a controller that was not in its initial wait. */
  echo: Type.Optional(WorkerSet),
});
const running = Type.Object({
  t: Type.Literal('running'),
  /** The controller that asked. */
  scheduler: token,
  instance: token,
  /** The highest sequence number that it has seen of this controller. */
  seq: count,
  attempts: Type.Array(
    Type.Object({
      attempt: id,
      task: id,
      phase: oneOf(['accepted', 'running', 'ended']),
      startedAt: Type.Optional(time),
    }),
  ),
});
/** Ends that were acknowledged, whose output the controller has not taken whole: the streams' lengths. */
const kept = Type.Object({
  t: Type.Literal('kept'),
  instance: token,
  kept: Type.Array(Type.Object({ attempt: id, stdout: count, stderr: count })),
});
/** These orders came, and are kept. */
const accepted = Type.Object({ t: Type.Literal('accepted'), attempts: Type.Array(id) });
/** A `notify` was dealt with; for what was not running an update is on its way. */
const notified = Type.Object({ t: Type.Literal('notified'), scheduler: token, instance: token, seq: id });
const checked = Type.Object({
  t: Type.Literal('checked'),
  scheduler: token,
  instance: token,
  check: id,
  isGood: Type.Boolean(),
  message: Type.Optional(Type.String({ maxLength: 2_000 })),
});
const started = Type.Object({
  t: Type.Literal('started'),
  attempts: Type.Array(Type.Object({ attempt: id, at: time })),
});
const update = Type.Object({ t: Type.Literal('update'), scheduler: token, ends: Type.Array(end) });
const output = Type.Object({
  t: Type.Literal('output'),
  request: id,
  data: Type.String(),
  /** The length of the stream so far, and whether it can still grow. */
  bytes: count,
  isOpen: Type.Boolean(),
  /** The worker does not have this attempt's output. */
  isGone: Type.Optional(Type.Literal(true)),
});
/**
 * What attempts use, while they run: samples of each metric in the order of their time. Only to a controller that takes it; it
 * is neither acknowledged nor repeated.
 */
const usage = Type.Object({
  t: Type.Literal('usage'),
  scheduler: token,
  instance: token,
  series: Type.Array(
    Type.Object({
      attempt: id,
      metric: oneOf(usageMetrics),
      samples: Type.Array(Type.Object({ at: time, value: Type.Number({ minimum: 0 }) }), {
        minItems: 1,
        maxItems: usageLimits.messageSamplesMax,
      }),
    }),
    { maxItems: usageLimits.messageSamplesMax },
  ),
});
/** All that it ran is dead. */
const goodbye = Type.Object({ t: Type.Literal('goodbye'), instance: token });
/** The first message on the second link. */
const outputHello = Type.Object({ t: Type.Literal('output-hello'), instance: token });

export const FromWorker = Type.Union([
  heartbeat,
  running,
  kept,
  accepted,
  started,
  notified,
  checked,
  update,
  usage,
  output,
  goodbye,
  outputHello,
]);
export type FromWorker = Static<typeof FromWorker>;
export type Heartbeat = Static<typeof heartbeat>;
export type UsageSeriesPart = Static<typeof usage>['series'][number];

const TimeoutsSchema = Type.Unsafe<Timeouts>(
  Type.Object({
    ...{ heartbeatMs: id, heartbeatGraceMs: id, healthCheckMs: id, healthCheckGraceMs: id, checkIntervalMs: id },
    ...{ loseAfterMs: id, marginMs: id, killGraceMs: count },
  }),
);
const heartbeatReply = Type.Object({
  t: Type.Literal('heartbeat-reply'),
  scheduler: token,
  instance: token,
  beat: id,
  /** As which the controller knows it. */
  worker: id,
  /** As the controller sees it. */
  state: oneOf(['new', 'unhealthy', 'healthy']),
  timeouts: TimeoutsSchema,
  /** Absent while the controller is in its initial wait. */
  set: Type.Optional(WorkerSet),
  /** Messages that it takes beyond those of the first release with this version; one that is not told so sends none. */
  takes: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 100 })),
});
const refused = Type.Object({
  ...{ t: Type.Literal('refused'), instance: token, code: Type.String(), message: Type.String() },
});
const getRunning = Type.Object({ t: Type.Literal('get-running'), scheduler: token });
/** What of its worker it takes while it runs, and may not exceed. */
export const OrderNeed = Type.Object({
  cpus: Type.Number({ exclusiveMinimum: 0 }),
  memoryBytes: Type.Optional(count),
  gpus: Type.Optional(count),
  runtimeMs: Type.Optional(count),
  pools: Type.Optional(Amounts),
});
export type OrderNeed = Static<typeof OrderNeed>;

const orderOnWire = Type.Object({
  attempt: id,
  task: id,
  workflow: id,
  index: id,
  number: id,
  /** Absent where it is that of the order before. */
  command: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  arrayIndex: Type.Optional(Type.Integer()),
  timeoutMs: Type.Optional(count),
  /** Absent: one slot. */
  need: Type.Optional(OrderNeed),
});
export type Order = Static<typeof orderOnWire> & { readonly command: string };
const order = Type.Unsafe<Order>(orderOnWire);
const orderRepeats = new Repeats<Order>('command');
const run = Type.Object({
  t: Type.Literal('run'),
  scheduler: token,
  /** The instance it is meant for. */
  instance: token,
  /** That of the last `notify` when it was sent: one that is older than what the worker has seen comes too late. */
  seq: count,
  /** Specifications of workflows that this link has not carried yet. */
  specs: Type.Array(Type.Object({ workflow: id, spec: WorkflowSpec })),
  orders: Type.Array(order),
});
/** Asks for an update about those of these attempts that the worker does not have. */
const notify = Type.Object({
  t: Type.Literal('notify'),
  scheduler: token,
  instance: token,
  seq: id,
  attempts: Type.Array(id),
});
/** Run a tiny command, to show that commands can be run. */
const check = Type.Object({
  t: Type.Literal('check'),
  scheduler: token,
  instance: token,
  check: id,
  command: Type.String(),
});
/** The result of a check has arrived. */
const checkAck = Type.Object({ t: Type.Literal('check-ack'), scheduler: token, instance: token, check: id });
const slots = Type.Object({
  t: Type.Literal('slots'),
  instance: token,
  slots: Type.Integer({ minimum: 1, maximum: slotsMax }),
});
const ack = Type.Object({ t: Type.Literal('ack'), attempts: Type.Array(id) });
const retract = Type.Object({ t: Type.Literal('retract'), attempts: Type.Array(id) });
const kill = Type.Object({
  t: Type.Literal('kill'),
  attempts: Type.Array(id),
  why: oneOf(['cancel', 'halt', 'unknown']),
});
const fetch = Type.Object({
  t: Type.Literal('fetch'),
  request: id,
  attempt: id,
  stream,
  offset: count,
  limit: count,
});
/** The controller has all output of these. */
const dropOutput = Type.Object({ t: Type.Literal('drop-output'), attempts: Type.Array(id) });
const die = Type.Object({
  t: Type.Literal('die'),
  instance: token,
  why: Type.String(),
  /** It should not come back as a new instance either. */
  isForGood: Type.Boolean(),
});

export const ToWorker = Type.Union([
  heartbeatReply,
  refused,
  getRunning,
  run,
  notify,
  check,
  checkAck,
  ack,
  retract,
  kill,
  fetch,
  dropOutput,
  slots,
  die,
]);
export type ToWorker = Static<typeof ToWorker>;
export type KillWhy = Static<typeof kill>['why'];

/** Cuts messages into frames; a message larger than a frame travels alone. */
export function encodeFrames(messages: readonly (FromWorker | ToWorker)[]): string[] {
  const frames: string[] = [];
  let parts: string[] = [];
  let size = 0;
  for (const message of messages) {
    const part = JSON.stringify(
      message.t === 'run' ? { ...message, orders: orderRepeats.leaveOut(message.orders) } : message,
    );
    const isFull = parts.length >= messagesPerFrameMax || (size > 0 && size + part.length > frameBytesMax);
    if (isFull) {
      frames.push(`[${parts.join(',')}]`);
      parts = [];
      size = 0;
    }
    parts.push(part);
    size += part.length + 1;
  }
  if (parts.length > 0) frames.push(`[${parts.join(',')}]`);
  return frames;
}

export const versionRefusal = (version: number): string =>
  `the worker speaks protocol ${version}, the controller ${workerProtocolVersion}`;

/** A heartbeat of another version need not have the shape of ours: it is told so, whatever else it has. */
function strangerIn(frame: unknown): DroverError | undefined {
  const first = Array.isArray(frame) ? (frame[0] as Partial<Heartbeat> | undefined) : undefined;
  if (first?.t !== 'heartbeat' || !Number.isInteger(first.version) || first.version === workerProtocolVersion) {
    return undefined;
  }
  const instance = String(first.worker?.instance ?? '');
  return new DroverError('protocol-version', versionRefusal(Number(first.version)), { details: { instance } });
}

const decoder = <T extends TSchema>(schema: T) => {
  const frame = Compile(Type.Array(schema));
  return (text: string): Static<T>[] => {
    if (text.length > frameBytesAccepted)
      throw new DroverError('too-large', 'a frame is larger than the protocol allows');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new DroverError('bad-input', 'a frame is not JSON', { cause });
    }
    if (Array.isArray(value) && value.length > messagesPerFrameMax)
      throw new DroverError('too-large', `a frame has more than ${messagesPerFrameMax} messages`);
    if (!frame.Check(value)) {
      const stranger = strangerIn(value);
      if (stranger !== undefined) throw stranger;
      const [first] = frame.Errors(value);
      throw new DroverError(
        'bad-input',
        `a frame is malformed at ${first?.instancePath ?? '?'}: ${first?.message ?? '?'}`,
      );
    }
    return value as Static<T>[];
  };
};

export const decodeFromWorker = decoder(FromWorker);
const decodeAsSent = decoder(ToWorker);

export function decodeToWorker(text: string): ToWorker[] {
  const messages = decodeAsSent(text);
  for (const message of messages) {
    if (message.t !== 'run' || orderRepeats.restore(message.orders)) continue;
    throw new DroverError('bad-input', 'the first order of a frame has no command');
  }
  return messages;
}
