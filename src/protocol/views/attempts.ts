/** What readers of the API see of attempts. */
import { type Static, Type } from 'typebox';
import { attemptStates, outcomeKinds } from '../../model/states.ts';
import { count, oneOf, time } from '../schema.ts';
import { Resources } from '../spec.ts';
import { pageEnd } from './pages.ts';

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
