/** From what was tallied to what is drawn: a bar for each attempt, or how busy each worker was, and series over time. */
import { reportLimits } from '../../model/limits.ts';
import {
  type BarTone,
  barTones,
  type ReportBar,
  type ReportLane,
  type ReportSeries,
  type ReportTimeline,
} from '../../protocol/report.ts';
import type { Counts } from '../../protocol/views/workflows.ts';
import { byWorker, layOutLanes } from './lanes.ts';
import { type AttemptTally, otherLane, rows, type Started } from './tally.ts';
import type { TimeBuckets } from './time-buckets.ts';
import type { Presence } from './workers.ts';

/** Absent where nothing was started. */
export function timelineOf(
  tally: AttemptTally,
  presence: Presence,
  { total, pending }: Pick<Counts, 'total' | 'pending'>,
): ReportTimeline | undefined {
  const { buckets, all, startedTasks } = tally;
  if (buckets === undefined) return undefined;
  const { originMs } = buckets;
  // What took no time that can be measured is drawn all the same.
  const spanMs = Math.max(1, buckets.lastMs - originMs);
  const cuts = buckets.cuts.map(({ fromMs, toMs }) => ({ fromMs: fromMs - originMs, ms: toMs - fromMs }));
  const drawn =
    (all === undefined ? undefined : barsOf(all, originMs, tally, presence)) ?? busyLanes(tally, buckets, presence);
  return {
    beginAt: new Date(originMs).toISOString(),
    endAt: new Date(originMs + spanMs).toISOString(),
    spanMs,
    ...(cuts.length === 0 ? {} : { cuts }),
    ...drawn,
    // What waits to be tried again was started before, and is not yet to start.
    series: seriesOf(buckets, Math.min(pending, Math.max(0, total - startedTasks))),
  };
}

type Drawn = Pick<ReportTimeline, 'lanes' | 'bars'>;

/** Undefined where that takes more lanes than are drawn. */
function barsOf(
  all: readonly Started[],
  originMs: number,
  { workers }: AttemptTally,
  { known }: Presence,
): Drawn | undefined {
  const { lanes, spans } = layOutLanes(all, (worker) => known.get(worker)?.view.slots ?? 1);
  if (lanes.length > reportLimits.lanesMax) return undefined;
  return {
    lanes: lanes.map(({ worker, slot }) => ({ worker, host: workers.get(worker)?.host ?? '?', slot })),
    bars: spans.map(({ span, lane }): ReportBar => {
      const { attempt, startMs, endMs, tone, end } = span;
      const bar = { attempt, lane, startMs: startMs - originMs, ms: endMs - startMs, tone };
      return end === undefined ? bar : { ...bar, end };
    }),
  };
}

function busyLanes({ laneWorkers, workers }: AttemptTally, buckets: TimeBuckets, { known }: Presence): Drawn {
  const own = [...laneWorkers].sort(byWorker);
  const lanes: ReportLane[] = own.map((worker) => {
    const host = workers.get(worker)?.host ?? '?';
    const slots = known.get(worker)?.view.slots;
    return { worker, host, ...(slots === undefined ? {} : { slots }), busy: busyOf(worker, buckets) };
  });
  if (workers.size > own.length) lanes.push({ busy: busyOf(otherLane, buckets) });
  return { lanes };
}

function busyOf(lane: string, buckets: TimeBuckets): Partial<Record<BarTone, number[]>> {
  const busy: Partial<Record<BarTone, number[]>> = {};
  for (const tone of barTones) {
    const row = rows.busy(lane, tone);
    if (buckets.has(row)) busy[tone] = buckets.means(row).map(rounded);
  }
  return busy;
}

function seriesOf(buckets: TimeBuckets, unstarted: number): ReportSeries {
  const sum = (...tones: BarTone[]): number[] =>
    tones
      .map((tone) => buckets.sums(rows.ended(tone)))
      .reduce((all, some) => all.map((value, at) => value + (some[at] ?? 0)));
  return {
    bucketMs: buckets.widthMs,
    running: buckets.means(rows.running).map(rounded),
    slots: buckets.means(rows.slots).map(rounded),
    waiting: waitingOf(buckets.sums(rows.firsts), unstarted),
    succeeded: sum('succeeded'),
    failed: sum('failed', 'lost'),
    cancelled: sum('cancelled'),
  };
}

/** Those that start later, and those that have not started yet. */
function waitingOf(firsts: readonly number[], unstarted: number): number[] {
  let left = unstarted;
  return firsts
    .toReversed()
    .map((started) => {
      const waiting = left;
      left += started;
      return waiting;
    })
    .reverse();
}

/** A hundredth of an attempt can't be seen. */
const rounded = (value: number): number => Math.round(value * 100) / 100;
