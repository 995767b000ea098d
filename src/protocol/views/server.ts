/** What readers of the API see of the controller itself. */
import { type Static, Type } from 'typebox';
import { count } from '../schema.ts';

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
