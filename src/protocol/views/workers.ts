/** What readers of the API see of workers. */
import { type Static, Type } from 'typebox';
import { workerKinds, workerStates } from '../../model/states.ts';
import { count, oneOf, time } from '../schema.ts';
import { Amounts } from '../spec.ts';
import { pageEnd } from './pages.ts';

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
