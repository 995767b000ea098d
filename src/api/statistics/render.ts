/** Cells and rates as readers see them. */
import type { Cell } from '../../controller/statistics/cell.ts';
import type { Histogram } from '../../controller/statistics/histogram.ts';
import type { Series } from '../../controller/statistics/rates.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { outcomeKinds, type TaskState, taskStates } from '../../model/states.ts';
import type {
  Distribution,
  EtaView,
  RateSeries,
  RequestedAndUsed,
  StatisticsGroup,
} from '../../protocol/views/statistics.ts';
import { iso, optional } from '../render.ts';

/** Counts by the code of a state. */
export type StateCounts = Uint32Array;
export const noStates = (): StateCounts => new Uint32Array(taskStates.length);

export const renderStates = (counts: StateCounts): Partial<Record<TaskState, number>> => named(taskStates, counts);

function named<const N extends string>(names: readonly N[], counts: Uint32Array): Partial<Record<N, number>> {
  const found: Partial<Record<N, number>> = {};
  names.forEach((name, code) => {
    if ((counts[code] ?? 0) > 0) found[name] = counts[code] as number;
  });
  return found;
}

type Ended = Omit<StatisticsGroup, 'name' | 'states'>;

export function renderCell(cell: Cell): Ended {
  const { asked, wallMs } = cell;
  return {
    outcomes: named(outcomeKinds, cell.outcomes),
    ...optional('waitingMs', renderDistribution(cell.waiting)),
    ...optional('runningMs', renderDistribution(cell.running)),
    ...optional('totalMs', renderDistribution(cell.total)),
    ...optional('peakBytes', renderDistribution(cell.memory)),
    ...optional('memory', renderAsked(asked.memory, asked.memory.count)),
    ...optional('runtime', renderAsked(asked.runtime, asked.runtime.count)),
    // Weighted by time: of processors, what counts is for how long they are kept.
    ...optional('cpus', renderAsked(asked.cpus, wallMs)),
    recommended: cell.recommended(),
  };
}

function renderDistribution(values: Histogram): Distribution | undefined {
  if (values.count === 0) return undefined;
  const { count, min, max, sum } = values;
  const at = (part: number): number => rounded(values.quantile(part));
  const quantiles = { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
  const bars = values.bars(statisticsLimits.barsMax).map(({ upTo, count: of }) => ({ upTo: rounded(upTo), count: of }));
  return { count, min, max, mean: rounded(sum / count), ...quantiles, bars };
}

/** Times are ms and sizes bytes: a thousandth of them is plenty. */
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

function renderAsked(
  { count, requested, used }: { readonly count: number; readonly requested: number; readonly used: number },
  by: number,
): RequestedAndUsed | undefined {
  if (count === 0 || by === 0 || requested === 0) return undefined;
  return {
    attempts: count,
    requested: rounded(requested / by),
    used: rounded(used / by),
    share: rounded(used / requested),
  };
}

/** `scale`: how many stand for one that was counted. */
export function renderRates({ intervalMs, lastBegins, ends }: Series, scale = 1): RateSeries {
  const scaled = (counts: readonly number[]): number[] => counts.map((count) => Math.round(count * scale));
  const { done, failed, cancelled } = ends;
  return {
    ...{ intervalMs, lastBegins: iso(lastBegins) },
    ...{ done: scaled(done), failed: scaled(failed), cancelled: scaled(cancelled) },
  };
}

/** Nothing where nothing is left, or nothing has ended. */
export function renderEta(remaining: number, perSecond: number | undefined, now: number): EtaView | undefined {
  if (remaining === 0 || perSecond === undefined) return undefined;
  const remainingMs = Math.round((remaining * 1_000) / perSecond);
  return { remaining, perSecond: rounded(perSecond), remainingMs, at: iso(now + remainingMs) };
}
