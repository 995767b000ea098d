/** What readers of the API see of many tasks together: statistics, and how tasks failed. */
import { type Static, Type } from 'typebox';
import { failureLimits, statisticsLimits } from '../../model/limits.ts';
import { outcomeKinds, taskStates } from '../../model/states.ts';
import { amount, count, time } from '../schema.ts';

/** What there is none of is left out. */
const countsBy = <const N extends string>(names: readonly N[]) =>
  Type.Unsafe<Partial<Record<N, number>>>(
    Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(count)]))),
  );
const states = countsBy(taskStates);

/** Where one bar of a distribution ends, and how many values are in it. */
export const BarView = Type.Object({ upTo: amount, count });
export type BarView = Static<typeof BarView>;

/** How values are distributed. Quantiles are right within 2 %; the rest is exact. */
export const Distribution = Type.Object({
  count,
  min: amount,
  max: amount,
  mean: amount,
  p50: amount,
  p90: amount,
  p95: amount,
  p99: amount,
  /** On a logarithmic scale, from the least to the greatest value. */
  bars: Type.Array(BarView, { maxItems: statisticsLimits.barsMax + 1 }),
});
export type Distribution = Static<typeof Distribution>;

/** What was asked for and what was used of it, on average over attempts of which both are known. */
export const RequestedAndUsed = Type.Object({
  attempts: count,
  requested: amount,
  used: amount,
  /** All that was used by all that was asked for. */
  share: amount,
});
export type RequestedAndUsed = Static<typeof RequestedAndUsed>;

/**
 * What to ask for next time. Memory is the most that an attempt that succeeded would have needed with a fifth to spare, or had
 * asked for if that is less, in whole MB; runtime likewise with half to spare, in whole seconds; cpus is what was used on
 * average, rounded up to a quarter, where at least 10 s were measured.
 */
export const RecommendedRequest = Type.Object({
  memoryBytes: Type.Optional(count),
  runtimeMs: Type.Optional(count),
  cpus: Type.Optional(amount),
});
export type RecommendedRequest = Static<typeof RecommendedRequest>;

const ended = {
  /** Attempts that ended, by how. Those that did not run to their end are in no distribution. */
  outcomes: countsBy(outcomeKinds),
  /** From when a task was queued to the start of its attempt, in ms. */
  waitingMs: Type.Optional(Distribution),
  /** From its start to its end. */
  runningMs: Type.Optional(Distribution),
  /** Both. */
  totalMs: Type.Optional(Distribution),
  /** The most memory that an attempt had. */
  peakBytes: Type.Optional(Distribution),
  memory: Type.Optional(RequestedAndUsed),
  runtime: Type.Optional(RequestedAndUsed),
  cpus: Type.Optional(RequestedAndUsed),
  recommended: RecommendedRequest,
};

/** Of the attempts of one template, worker, host, tag (`name=value`) or value of a tag. */
export const StatisticsGroup = Type.Object({
  /** Empty for what has none; `other` for those beyond the limits on groups. */
  name: Type.String(),
  /** Tasks by state; of templates and tags only. */
  states: Type.Optional(states),
  ...ended,
});
export type StatisticsGroup = Static<typeof StatisticsGroup>;

const series = Type.Array(count);
/** How many tasks ended in each interval, the oldest first; the last one is not over yet. */
export const RateSeries = Type.Object({
  intervalMs: count,
  lastBegins: time,
  done: series,
  failed: series,
  cancelled: series,
});
export type RateSeries = Static<typeof RateSeries>;

/** When the rest will have ended, if it goes on like this; there is none while nothing runs. */
export const EtaView = Type.Object({
  /** Tasks that have not ended. */
  remaining: count,
  /** Tasks that ended in a second, lately. */
  perSecond: amount,
  remainingMs: count,
  at: time,
});
export type EtaView = Static<typeof EtaView>;

export const StatisticsView = Type.Object({
  /** Absent: of all workflows. */
  workflow: Type.Optional(Type.String()),
  where: Type.Optional(Type.String()),
  /** Not all that ended before the controller was started has been read yet: counts of attempts, distributions and rates are too low. */
  isPartial: Type.Boolean(),
  /**
   * Only for a filter that is not by workflow alone: `looked` of `candidates` tasks were looked at, evenly chosen, of which
   * `matched` matched; attempts are the last ones of these. `states` has all that match where that is told by memory, as it is by
   * all fields but those of definitions and attempts.
   */
  sample: Type.Optional(Type.Object({ candidates: count, looked: count, matched: count })),
  /** Tasks, barriers included, by where they stand. */
  states,
  ...ended,
  /** With a sample these are of the last attempts that were looked at, each for as many tasks as it stands for. */
  rates: Type.Optional(RateSeries),
  eta: Type.Optional(EtaView),
  /** Those with the most attempts first. */
  groups: Type.Optional(Type.Array(StatisticsGroup, { maxItems: statisticsLimits.groupsMax })),
});
export type StatisticsView = Static<typeof StatisticsView>;

const HostCount = Type.Object({ host: Type.String(), count });

/** Failed tasks that failed alike: by the same cause, with the same last lines. */
export const FailureGroup = Type.Object({
  /** `exit:137`, `signal:9`, `memory`, `timeout`, `walltime`, `lost`, `never-started`, `deadline`, `check`; a filter takes it. */
  cause: Type.String(),
  /** The same for people: `exit 137`, `signal 9 (KILL)`, `out of memory`. */
  title: Type.String(),
  /** Of what was written last to stderr, or of why it could not be started; absent where there is nothing. */
  fingerprint: Type.Optional(Type.String()),
  /** What all of them wrote, with what differs folded away. */
  pattern: Type.Optional(Type.String()),
  count: Type.Integer({ minimum: 1 }),
  examples: Type.Array(Type.Object({ id: Type.String(), command: Type.Optional(Type.String()) }), {
    maxItems: failureLimits.examplesMax,
  }),
  /** The last lines that the first example wrote to stderr, or to stdout where stderr is empty; without colours, and without what was written over. */
  lastLines: Type.Optional(Type.String()),
  /** Where their last attempts ran; those with the most of them. */
  hosts: Type.Array(HostCount, { maxItems: failureLimits.hostsMax }),
  /** All of them as a filter on tasks: for lists, and for `tasks/bulk/retry`. */
  where: Type.String(),
  /** The command line that tries all of them again; absent where that could only fail. */
  rerun: Type.Optional(Type.String()),
});
export type FailureGroup = Static<typeof FailureGroup>;

/** The largest group first. */
export const FailureList = Type.Object({
  groups: Type.Array(FailureGroup, { maxItems: failureLimits.groupsMax }),
  /** Groups beyond the limit, and their tasks. */
  more: Type.Optional(Type.Object({ groups: count, tasks: count })),
});
export type FailureList = Static<typeof FailureList>;
