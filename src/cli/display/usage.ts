/** What an attempt used while it ran, as small plots over its time. */
import { showBytes, showDuration } from '../../model/units.ts';
import type { UsageOverTime, UsagePoint } from '../../sdk/usage-series.ts';
import { sparkline } from './plots.ts';

const columnsMax = 40;
/** No look is closer to the next one. */
const columnMsMin = 1_000;

/** Nothing for an attempt of which nothing was measured. `peakBytes`: as told at its end, which may have been between two looks. */
export function renderUsage(usage: UsageOverTime, isUnicode: boolean, peakBytes = 0): string {
  const { attempt, memory, cpu, gpu } = usage;
  const to = Math.max(0, ...[memory, cpu, gpu].map((points) => points.at(-1)?.at ?? 0));
  const from = usage.startedAt ?? Math.min(to, ...[memory, cpu, gpu].map((points) => points[0]?.at ?? to));
  if (to <= from) return '';
  const plot = (points: readonly UsagePoint[], fold: Fold): string =>
    sparkline(inColumns(points, { from, to }, fold), isUnicode);
  const line = (label: string, text: string): string => `${label.padEnd(9)} ${text}\n`;
  const rate = (label: string, points: readonly UsagePoint[], unit: string): string => {
    if (points.length === 0) return '';
    const mean = meanOf(points, from);
    return line(label, `${plot(points, 'mean')}  at most ${show(mostOf(points))} ${unit}, ${show(mean)} on average`);
  };
  const most = Math.max(mostOf(memory), peakBytes);
  return [
    `use of #${attempt} in ${showDuration(to - from)}\n`,
    memory.length === 0 ? '' : line('memory', `${plot(memory, 'most')}  at most ${showBytes(most)}`),
    rate('cpu', cpu, 'cores'),
    rate('gpu', gpu, 'GPUs'),
  ].join('');
}

type Fold = 'most' | 'mean';

/** A sample stands for the time since the one before it; in the time of a column, several may. */
export function inColumns(
  points: readonly UsagePoint[],
  { from, to }: { readonly from: number; readonly to: number },
  fold: Fold,
): number[] {
  const count = Math.max(1, Math.min(columnsMax, Math.round((to - from) / columnMsMin)));
  const width = (to - from) / count;
  const columns = Array<number>(count).fill(0);
  let begin = from;
  for (const { at, value } of points) {
    const last = Math.min(count - 1, Math.ceil((at - from) / width) - 1);
    for (let column = Math.max(0, Math.floor((begin - from) / width)); column <= last; column++) {
      const share = (Math.min(at, from + (column + 1) * width) - Math.max(begin, from + column * width)) / width;
      const before = columns[column] ?? 0;
      columns[column] = fold === 'most' ? Math.max(before, value) : before + value * Math.max(0, share);
    }
    begin = Math.max(begin, at);
  }
  return columns;
}

const mostOf = (points: readonly UsagePoint[]): number => Math.max(0, ...points.map(({ value }) => value));

function meanOf(points: readonly UsagePoint[], from: number): number {
  const to = points.at(-1)?.at ?? from;
  const area = points.reduce((sum, { at, value }, index) => sum + value * (at - (points[index - 1]?.at ?? from)), 0);
  return to > from ? area / (to - from) : 0;
}

const show = (amount: number): string => String(Math.round(amount * 100) / 100);
