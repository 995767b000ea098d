/** Statistics as `drover stats` prints them. */
import { taskStates } from '../../model/states.ts';
import { printBytes, printDurationMs, showBytes, showCount, showDuration, showRate } from '../../model/units.ts';
import type {
  Distribution,
  RateSeries,
  RequestedAndUsed,
  StatisticsGroup,
  StatisticsView,
} from '../../protocol/statistics.ts';
import { bar, sparkline } from './plots.ts';
import { renderTable } from './table.ts';
import { amount, printable } from './text.ts';
import { showTime } from './time.ts';

export interface StatisticsTerminal {
  /** Of a terminal; elsewhere nothing is cut. */
  readonly columns: number | undefined;
  readonly isUnicode: boolean;
  /** What groups were asked for, if any. */
  readonly by: string | undefined;
}

const barWidth = 40;
const barsShown = 10;

/** Ends with a line feed. */
export function renderStatistics(view: StatisticsView, terminal: StatisticsTerminal): string {
  const parts = [
    ...[headOf(view), notesOf(view), rateOf(view, terminal)],
    ...[timesOf(view, terminal), barsOf(view, terminal), requestsOf(view)],
    groupsOf(view, terminal),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function headOf({ workflow, where, states, outcomes }: StatisticsView): string {
  const total = sumOf(states);
  const named = taskStates.flatMap((state) => (states[state] ? [`${showCount(states[state])} ${state}`] : []));
  const ends = Object.entries(outcomes).map(([kind, count]) => `${showCount(count)} ${kind}`);
  const scope = [workflow ?? 'all workflows', ...(where === undefined ? [] : [`where ${printable(where)}`])].join(' ');
  const lines = [`${scope}: ${amount(total, 'task')}${named.length === 0 ? '' : ` (${named.join(', ')})`}`];
  if (ends.length > 0) lines.push(`attempts  ${ends.join(', ')}`);
  return `${lines.join('\n')}\n`;
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function notesOf({ isPartial, sample }: StatisticsView): string {
  const lines: string[] = [];
  if (isPartial) lines.push('what ended before the controller was started is still being read: numbers are too low');
  if (sample !== undefined && sample.looked < sample.candidates) {
    lines.push(`a sample: ${showCount(sample.looked)} of ${amount(sample.candidates, 'task')} were looked at`);
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

const intervalNames: Readonly<Record<number, string>> = { 1000: 'second', 60000: 'minute', 3600000: 'hour' };

/** Without the intervals before anything ended. */
function rateOf({ rates, eta }: StatisticsView, { isUnicode }: StatisticsTerminal): string {
  const lines: string[] = [];
  const ends = rates === undefined ? [] : endsOf(rates);
  if (rates !== undefined && ends.length > 0) {
    const unit = intervalNames[rates.intervalMs] ?? 'interval';
    const most = showCount(Math.max(...ends));
    lines.push(`rate      ${sparkline(ends, isUnicode)}  by ${unit}, at most ${most}`);
    const failed = rates.failed.slice(-ends.length);
    if (failed.some((count) => count > 0)) lines.push(`failed    ${sparkline(failed, isUnicode)}`);
  }
  if (eta !== undefined) {
    const { remaining, perSecond, remainingMs, at } = eta;
    lines.push(
      `eta       ${showDuration(remainingMs)}, at ${showTime(at)}: ${showCount(remaining)} left, ${showRate(perSecond)}`,
    );
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function endsOf({ done, failed, cancelled }: RateSeries): number[] {
  const sums = done.map((count, at) => count + (failed[at] ?? 0) + (cancelled[at] ?? 0));
  const first = sums.findIndex((count) => count > 0);
  return first < 0 ? [] : sums.slice(first);
}

const quantileTitles = ['P50', 'P90', 'P99', 'MAX', 'MEAN'] as const;

function timesOf(view: StatisticsView, { columns }: StatisticsTerminal): string {
  const rows: [string, Distribution | undefined, (value: number) => string][] = [
    ['waiting', view.waitingMs, showDuration],
    ['running', view.runningMs, showDuration],
    ['total', view.totalMs, showDuration],
    ['memory', view.peakBytes, showBytes],
  ];
  const known = rows.flatMap(([name, values, show]) =>
    values === undefined ? [] : [[name, ...[values.p50, values.p90, values.p99, values.max, values.mean].map(show)]],
  );
  if (known.length === 0) return '';
  const titles = quantileTitles.map((title) => ({ title, align: 'right' as const }));
  return renderTable([{ title: 'TIME' }, ...titles], known, columns);
}

/** How long attempts ran. */
function barsOf({ runningMs }: StatisticsView, { isUnicode }: StatisticsTerminal): string {
  if (runningMs === undefined || runningMs.bars.length < 2) return '';
  const each = Math.ceil(runningMs.bars.length / barsShown);
  const bars = Array.from({ length: Math.ceil(runningMs.bars.length / each) }, (_, at) => {
    const some = runningMs.bars.slice(at * each, (at + 1) * each);
    return { upTo: some.at(-1)?.upTo ?? 0, count: some.reduce((sum, { count }) => sum + count, 0) };
  });
  const most = Math.max(...bars.map(({ count }) => count));
  const rows = bars.map(({ upTo, count }) => [
    `up to ${showDuration(upTo)}`,
    showCount(count),
    bar(count, most, barWidth, isUnicode),
  ]);
  return renderTable([{ title: 'RAN', align: 'right' }, { title: 'ATTEMPTS', align: 'right' }, { title: '' }], rows);
}

const showCpus = (cpus: number): string => String(Math.round(cpus * 100) / 100);
const percent = (share: number): string => `${Math.round(share * 100)} %`;

function requestsOf({ memory, cpus, runtime, recommended }: StatisticsView): string {
  type Row = [string, RequestedAndUsed | undefined, string | undefined, (value: number) => string];
  const rows: Row[] = [
    ['memory', memory, optionally(recommended.memoryBytes, printBytes), showBytes],
    ['cpus', cpus, optionally(recommended.cpus, String), showCpus],
    ['time', runtime, optionally(recommended.runtimeMs, printDurationMs), showDuration],
  ];
  const known = rows.filter(([, asked, advice]) => asked !== undefined || advice !== undefined);
  if (known.length === 0) return '';
  const right = { align: 'right' } as const;
  return renderTable(
    [
      { title: 'RESOURCE' },
      { title: 'REQUESTED', ...right },
      { title: 'USED', ...right },
      { title: 'SHARE', ...right },
      { title: 'RECOMMENDED', ...right },
    ],
    known.map(([name, asked, advice = '', show]) =>
      asked === undefined
        ? [name, '', '', '', advice]
        : [name, show(asked.requested), show(asked.used), percent(asked.share), advice],
    ),
  );
}

const optionally = (value: number | undefined, show: (value: number) => string): string | undefined =>
  value === undefined ? undefined : show(value);

function groupsOf({ groups }: StatisticsView, { columns, by = '' }: StatisticsTerminal): string {
  if (groups === undefined) return '';
  const right = { align: 'right' } as const;
  const titles = ['ENDED', 'FAILED', 'WAIT P50', 'RAN P50', 'RAN P95', 'PEAK', 'CPUS'];
  return renderTable(
    [{ title: by.toUpperCase() }, ...titles.map((title) => ({ title, ...right })), { title: 'RECOMMENDED' }],
    groups.map(groupRow),
    columns,
  );
}

function groupRow({ name, outcomes, waitingMs, runningMs, peakBytes, cpus, recommended }: StatisticsGroup): string[] {
  const ended = sumOf(outcomes);
  const failed = ended - (outcomes.succeeded ?? 0) - (outcomes.cancelled ?? 0);
  const { memoryBytes, runtimeMs } = recommended;
  const advice = [
    ...(memoryBytes === undefined ? [] : [`memory ${printBytes(memoryBytes)}`]),
    ...(recommended.cpus === undefined ? [] : [`cpus ${recommended.cpus}`]),
    ...(runtimeMs === undefined ? [] : [`time ${printDurationMs(runtimeMs)}`]),
  ];
  return [
    ...[name === '' ? '-' : name, showCount(ended), failed === 0 ? '' : showCount(failed)],
    ...[waitingMs?.p50, runningMs?.p50, runningMs?.p95].map((value) => optionally(value, showDuration) ?? ''),
    ...[optionally(peakBytes?.max, showBytes) ?? '', optionally(cpus?.used, showCpus) ?? ''],
    advice.join(', '),
  ];
}
