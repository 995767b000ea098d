/**
 * The messages between controller (S) and worker (W). W opens a link for control and a second one for output, so that
 * bulk never delays a heartbeat. A frame is a JSON array of messages. Any frame counts as a sign of life.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { DroverError } from '../model/errors.ts';
import { frameBytesAccepted, frameBytesMax, messagesPerFrameMax, slotsMax } from '../model/limits.ts';
import { neverStartedWhys, type Outcome } from '../model/outcome.ts';
import { outputStreams } from '../model/states.ts';
import { oneOf } from './schema.ts';
import { WorkflowSpec } from './spec.ts';

/** Rises with any change that an older peer would misread. */
export const workerProtocolVersion = 1;

export const controlPath = '/worker/v1/control';
export const outputPath = '/worker/v1/output';

const id = Type.Integer({ minimum: 1 });
const count = Type.Integer({ minimum: 0 });
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

const outcome = Type.Unsafe<Outcome>(
  Type.Union([
    Type.Object({ kind: Type.Literal('succeeded') }),
    Type.Object({ kind: Type.Literal('exited'), code: Type.Integer({ minimum: 1, maximum: 255 }) }),
    Type.Object({ kind: Type.Literal('signalled'), signal: Type.Integer({ minimum: 1, maximum: 128 }) }),
    Type.Object({ kind: Type.Literal('resource'), resource: oneOf(['memory', 'runtime']) }),
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

const heartbeat = Type.Object({
  t: Type.Literal('heartbeat'),
  version: Type.Integer(),
  worker: WorkerIdentity,
  slots: Type.Integer({ minimum: 1, maximum: slotsMax }),
});
const running = Type.Object({
  t: Type.Literal('running'),
  attempts: Type.Array(
    Type.Object({ attempt: id, phase: oneOf(['accepted', 'running', 'ended']), startedAt: Type.Optional(time) }),
  ),
  /** Ends that were acknowledged, whose output the controller has not taken whole: the streams' lengths. */
  kept: Type.Array(Type.Object({ attempt: id, stdout: count, stderr: count })),
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
const goodbye = Type.Object({ t: Type.Literal('goodbye') });
/** The first message on the second link. */
const outputHello = Type.Object({ t: Type.Literal('output-hello'), instance: token });

export const FromWorker = Type.Union([heartbeat, running, started, update, output, goodbye, outputHello]);
export type FromWorker = Static<typeof FromWorker>;
export type Heartbeat = Static<typeof heartbeat>;

const heartbeatReply = Type.Object({
  t: Type.Literal('heartbeat-reply'),
  scheduler: token,
  /** As which the controller knows it. */
  worker: id,
  state: oneOf(['new', 'healthy']),
  heartbeatMs: count,
  selfEndMs: count,
});
const refused = Type.Object({ t: Type.Literal('refused'), code: Type.String(), message: Type.String() });
const getRunning = Type.Object({ t: Type.Literal('get-running') });
const order = Type.Object({
  attempt: id,
  task: id,
  workflow: id,
  index: id,
  number: id,
  command: Type.String(),
  name: Type.Optional(Type.String()),
  arrayIndex: Type.Optional(Type.Integer()),
  timeoutMs: Type.Optional(count),
});
export type Order = Static<typeof order>;
const run = Type.Object({
  t: Type.Literal('run'),
  scheduler: token,
  /** The instance it is meant for. */
  instance: token,
  /** Specifications of workflows that this link has not carried yet. */
  specs: Type.Array(Type.Object({ workflow: id, spec: WorkflowSpec })),
  orders: Type.Array(order),
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
const die = Type.Object({ t: Type.Literal('die'), why: Type.String() });

export const ToWorker = Type.Union([
  heartbeatReply,
  refused,
  getRunning,
  run,
  ack,
  retract,
  kill,
  fetch,
  dropOutput,
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
    const part = JSON.stringify(message);
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
export const decodeToWorker = decoder(ToWorker);
