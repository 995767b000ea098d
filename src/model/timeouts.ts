/** How long silence and sickness are borne. The controller has them, and tells its workers with every heartbeat reply. */

export interface Timeouts {
  readonly heartbeatMs: number;
  /** A heartbeat may be so late before its worker counts as unhealthy. */
  readonly heartbeatGraceMs: number;
  readonly healthCheckMs: number;
  readonly healthCheckGraceMs: number;
  /** Health is looked at so often at least: a worker's own limit is shorter by this, and a bad check is repeated after it. */
  readonly checkIntervalMs: number;
  /** A worker that was not healthy for so long must die. */
  readonly loseAfterMs: number;
  /** Between the time a worker must die and the time its tasks are tried again. */
  readonly marginMs: number;
  /** In its own end a worker gives tasks at most this long between TERM and KILL. */
  readonly killGraceMs: number;
}

/** `interactive` for a run that somebody watches; `cluster` for a server, whose restart must not cost work. */
export const presets = {
  interactive: {
    heartbeatMs: 1_000,
    heartbeatGraceMs: 2_000,
    healthCheckMs: 60_000,
    healthCheckGraceMs: 60_000,
    checkIntervalMs: 1_000,
    loseAfterMs: 10_000,
    marginMs: 5_000,
    killGraceMs: 2_500,
  },
  cluster: {
    heartbeatMs: 15_000,
    heartbeatGraceMs: 60_000,
    healthCheckMs: 60_000,
    healthCheckGraceMs: 60_000,
    checkIntervalMs: 5_000,
    loseAfterMs: 500_000,
    marginMs: 60_000,
    killGraceMs: 30_000,
  },
} as const satisfies Record<string, Timeouts>;

export type PresetName = keyof typeof presets;

/** What makes them unsafe, if anything: a worker has to be dead before its tasks are tried again. */
export function flawOf({ killGraceMs, checkIntervalMs, marginMs, loseAfterMs }: Timeouts): string | undefined {
  if (killGraceMs + checkIntervalMs >= marginMs) return 'the grace of a kill and the check interval exceed the margin';
  return checkIntervalMs >= loseAfterMs
    ? 'the check interval exceeds the time after which a worker is lost'
    : undefined;
}

/** How long a worker may be silent before it must die. */
export const silenceMsMax = ({ heartbeatMs, heartbeatGraceMs, loseAfterMs }: Timeouts): number =>
  heartbeatMs + heartbeatGraceMs + loseAfterMs;

/** A worker dies by its own count before its controller gives it up. */
export const ownLoseAfterMs = ({ loseAfterMs, checkIntervalMs }: Timeouts): number => loseAfterMs - checkIntervalMs;
