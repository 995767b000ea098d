/**
 * What `drover report` tells of a workflow: the page is drawn from this, `--json` prints it. Times are ISO-8601 in UTC;
 * `…Ms` within a timeline counts from its `beginAt`. `schema` rises when a field changes its meaning or goes.
 */
import { type Static, Type } from 'typebox';
import { reportLimits } from '../model/limits.ts';
import { taskStates } from '../model/states.ts';
import { amount, count, oneOf, time } from './schema.ts';
import { MachineView, VersionsView } from './views/server.ts';
import { EtaView, FailureList, StatisticsGroup } from './views/statistics.ts';
import { WorkflowSurroundings, WorkflowView } from './views/workflows.ts';

const amounts = Type.Array(amount, { maxItems: reportLimits.bucketsMax });

export const reportKind = 'drover-report';
export const reportSchema = 1;

/** How an attempt ended, as far as colours tell it. `lost`: its worker was, or it never got a process. */
export const barTones = ['succeeded', 'failed', 'lost', 'cancelled', 'running'] as const;
export type BarTone = (typeof barTones)[number];

/** One attempt that was started. */
export const ReportBar = Type.Object({
  /** For example `w3.14#2`; what is before `#` is in `tasks`. */
  attempt: Type.String(),
  lane: count,
  startMs: amount,
  ms: amount,
  tone: oneOf(barTones),
  /** For example `exit 1`; absent while it runs. */
  end: Type.Optional(Type.String()),
});
export type ReportBar = Static<typeof ReportBar>;

/** A slot of a worker or, where there are too many attempts to draw each, a worker. */
export const ReportLane = Type.Object({
  /** Absent for those beyond the limit, which share the last lane. */
  worker: Type.Optional(Type.String()),
  host: Type.Optional(Type.String()),
  /** From 1. */
  slot: Type.Optional(count),
  /** Of the worker, where it is one. */
  slots: Type.Optional(count),
  /** How many attempts ran on average in each bucket, by how they ended. */
  busy: Type.Optional(Type.Partial(Type.Object(Object.fromEntries(barTones.map((tone) => [tone, amounts]))))),
});
export type ReportLane = Omit<Static<typeof ReportLane>, 'busy'> & {
  readonly busy?: Partial<Readonly<Record<BarTone, readonly number[]>>>;
};

/** One value for each bucket of time, the first of which begins at `beginAt`; what is cut out has none. */
export const ReportSeries = Type.Object({
  bucketMs: amount,
  /** Attempts that ran, on average. */
  running: amounts,
  /** Slots of workers that were there, on average. */
  slots: amounts,
  /** Tasks whose first attempt started later, or is yet to start; at the end of the bucket. Not those that ended without one. */
  waiting: amounts,
  /** Attempts that ended in it. */
  succeeded: amounts,
  failed: amounts,
  cancelled: amounts,
});
export type ReportSeries = Static<typeof ReportSeries>;

export const ReportTimeline = Type.Object({
  /** Of the first attempt. */
  beginAt: time,
  /** Of the last one that ended or, while some run, when the report was made. */
  endAt: time,
  spanMs: amount,
  /** Times in which nothing ran, that a drawing had better leave out. */
  cuts: Type.Optional(Type.Array(Type.Object({ fromMs: amount, ms: amount }))),
  lanes: Type.Array(ReportLane, { maxItems: reportLimits.lanesMax }),
  /** Each attempt; absent where there are more than the limit, and lanes have `busy` instead. */
  bars: Type.Optional(Type.Array(ReportBar, { maxItems: reportLimits.barsMax })),
  series: ReportSeries,
});
export type ReportTimeline = Omit<Static<typeof ReportTimeline>, 'lanes'> & { readonly lanes: readonly ReportLane[] };

/** A task that the report names. */
export const ReportTask = Type.Object({
  name: Type.Optional(Type.String()),
  /** The beginning of it where it is long. */
  command: Type.Optional(Type.String()),
  template: Type.Optional(Type.String()),
  state: oneOf(taskStates),
});
export type ReportTask = Static<typeof ReportTask>;

/** Stands for the time since the one before it, the first for that since the start: `ms` counts from there. */
const Sample = Type.Object({ ms: amount, value: amount });
const Samples = Type.Array(Sample, { maxItems: reportLimits.samplesMax });
/** An attempt that took long. */
export const ReportSlow = Type.Object({
  attempt: Type.String(),
  host: Type.String(),
  startedAt: time,
  ms: amount,
  cpuMs: Type.Optional(amount),
  peakBytes: Type.Optional(amount),
  end: Type.Optional(Type.String()),
  tone: oneOf(barTones),
  /** What it used over time, where that was recorded: bytes at most, processors and GPUs on average. */
  memory: Type.Optional(Samples),
  cpus: Type.Optional(Samples),
  gpus: Type.Optional(Samples),
});
export type ReportSlow = Static<typeof ReportSlow>;

export const ReportWorker = Type.Object({
  id: Type.String(),
  host: Type.String(),
  state: Type.String(),
  slots: count,
  attempts: count,
  failed: count,
  /** All attempts together. */
  busyMs: amount,
  cpuMs: amount,
  /** Of the time of its slots while it was there, within the timeline. */
  share: Type.Optional(amount),
});
export type ReportWorker = Static<typeof ReportWorker>;

/** The chain of tasks behind the last end: each the last of those that the next one waited for. */
export const ReportPath = Type.Object({
  /** In the order in which they ran. */
  steps: Type.Array(Type.Object({ attempt: Type.String(), waitedMs: amount, ms: amount }), {
    maxItems: reportLimits.pathMax,
  }),
  /** Steps before the first of these. */
  left: Type.Optional(count),
  /** All steps together: how long each waited behind the one before, or the first behind the begin, and how long they ran. */
  waitedMs: amount,
  ms: amount,
});
export type ReportPath = Static<typeof ReportPath>;

/** Tasks by whether an attempt of them was ever started: together they are all tasks of the workflow. */
export const ReportStarts = Type.Object({
  started: count,
  /** They are yet to start. */
  waiting: count,
  /** Before their start. */
  cancelled: count,
  failed: count,
});
export type ReportStarts = Static<typeof ReportStarts>;

export const Report = Type.Object({
  kind: Type.Literal(reportKind),
  schema: Type.Literal(reportSchema),
  madeAt: time,
  /** It goes on: this is what was so far. */
  isLive: Type.Boolean(),
  workflow: WorkflowView,
  surroundings: WorkflowSurroundings,
  /** Of the controller that told this. */
  machine: Type.Optional(MachineView),
  versions: Type.Object({
    /** That made the report. */
    drover: Type.String(),
    controller: Type.String(),
    api: Type.Integer(),
    ...Type.Partial(VersionsView).properties,
  }),
  starts: ReportStarts,
  attempts: Type.Object({
    total: count,
    /** Those after the first one of their task. */
    retries: count,
    /** How they ended, for people, the most frequent first. */
    ends: Type.Array(Type.Object({ end: Type.String(), tone: oneOf(barTones), count })),
    busyMs: amount,
    /** Of those of which it is known: not of those that run still. */
    cpuMs: amount,
    /** The part of `busyMs` in which it was used. */
    cpuKnownMs: amount,
    peakBytes: Type.Optional(amount),
    /** Of the time of all slots. */
    share: Type.Optional(amount),
  }),
  /** Absent where nothing was started. */
  timeline: Type.Optional(ReportTimeline),
  /** Statistics are not whole yet: their counts are too low. */
  isPartial: Type.Boolean(),
  /** Of all attempts. */
  statistics: StatisticsGroup,
  eta: Type.Optional(EtaView),
  templates: Type.Array(StatisticsGroup, { maxItems: reportLimits.templatesMax }),
  /** Templates beyond the limit. */
  templatesLeft: Type.Optional(count),
  failures: FailureList,
  slowest: Type.Array(ReportSlow, { maxItems: reportLimits.slowestMax }),
  /** Tasks with the most attempts. */
  retried: Type.Array(Type.Object({ task: Type.String(), attempts: count }), { maxItems: reportLimits.retriedMax }),
  path: Type.Optional(ReportPath),
  /** Those that ran most of it first. */
  workers: Type.Array(ReportWorker, { maxItems: reportLimits.workersMax }),
  workersLeft: Type.Optional(count),
  /** By their ids. */
  tasks: Type.Record(Type.String(), ReportTask),
});
export type Report = Omit<Static<typeof Report>, 'timeline'> & { readonly timeline?: ReportTimeline };
