/** Statistics as `drover stats` prints them. */
import { isEndedTask, taskStates } from '../../model/states.ts';
import { printBytes, printDurationMs, showBytes, showCount, showDuration, showRate } from '../../model/units.ts';
import type {
  Distribution,
  RateSeries,
  RequestedAndUsed,
  StatisticsGroup,
  StatisticsView,
} from '../../protocol/views/statistics.ts';
import { bar, sparkline } from './plots.ts';
import { columnGap, renderTable } from './table.ts';
import { amount, printable } from './text.ts';
import { showTime } from './time.ts';

export interface StatisticsTerminal {
  /** Of a terminal; elsewhere nothing is cut. */
  readonly columns: number | undefined;
  readonly isUnicode: boolean;
  /** What groups were asked for, if any. */
  readonly by: string | undefined;
}

const barWidth = { least: 8, most: 40 } as const;
const barsShown = 10;

/** Ends of attempts whose names say too little by themselves. */
const endWords: Readonly<Record<string, string>> = {
  ...{ exited: 'exited with an error', signalled: 'ended by a signal' },
  ...{ resource: 'out of memory or time', 'never-started': 'never started' },
};

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
  const ends = Object.entries(outcomes).map(([kind, count]) => `${showCount(count)} ${endWords[kind] ?? kind}`);
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
function barsOf({ runningMs }: StatisticsView, { columns = Number.POSITIVE_INFINITY, isUnicode }: StatisticsTerminal) {
  const bars = labelled(runningMs?.bars ?? []);
  if (bars.length < 2) return '';
  const titles = [
    { title: 'RAN', align: 'right' },
    { title: 'ATTEMPTS', align: 'right' },
  ] as const;
  const rows = bars.map(({ label, count }) => [label, showCount(count)]);
  const space = columns - renderTable(titles, rows).indexOf('\n') - columnGap.length;
  const width = Math.max(barWidth.least, Math.min(barWidth.most, space));
  const most = Math.max(...bars.map(({ count }) => count));
  const drawn = rows.map((row, at) => [...row, bar(bars[at]?.count ?? 0, most, width, isUnicode)]);
  return renderTable([...titles, { title: '' }], drawn);
}

interface LabelledBar {
  readonly label: string;
  count: number;
}

/** Not more than are shown, and those that would be called the same are one. */
function labelled(all: Distribution['bars']): LabelledBar[] {
  const each = Math.ceil(all.length / barsShown);
  const bars: LabelledBar[] = [];
  all.forEach(({ count }, at) => {
    const { upTo } = all[Math.min(all.length - 1, at - (at % each) + each - 1)] as Distribution['bars'][number];
    const label = `up to ${showDuration(upTo)}`;
    const last = bars.at(-1);
    if (last?.label === label) last.count += count;
    else bars.push({ label, count });
  });
  return bars;
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

const groupTitles = ['ENDED', 'FAILED', 'LEFT', 'WAIT P50', 'RAN P50', 'RAN P95', 'PEAK', 'CPUS', 'RECOMMENDED'];

/** Columns in which no group has anything are left out: a terminal is narrow enough. */
function groupsOf({ groups }: StatisticsView, { columns, by = '' }: StatisticsTerminal): string {
  if (groups === undefined || groups.length === 0) return '';
  const rows = groups.map(groupRow);
  const titles = [by.toUpperCase(), ...groupTitles];
  const isShown = titles.map((_, at) => at === 0 || rows.some((row) => row[at] !== ''));
  const shown = <T>(row: readonly T[]): T[] => row.filter((_, at) => isShown[at]);
  const all = titles.map((title, at) => ({
    ...{ title, ...(at === 0 || title === 'RECOMMENDED' ? {} : { align: 'right' as const }) },
  }));
  return renderTable(shown(all), rows.map(shown), columns);
}

function groupRow(group: StatisticsGroup): string[] {
  const { name, outcomes, states = {}, waitingMs, runningMs, peakBytes, cpus, recommended } = group;
  const ended = sumOf(outcomes);
  const failed = ended - (outcomes.succeeded ?? 0) - (outcomes.cancelled ?? 0);
  const left = taskStates.reduce((sum, state) => sum + (isEndedTask(state) ? 0 : (states[state] ?? 0)), 0);
  const advice = [
    optionally(recommended.memoryBytes, printBytes),
    optionally(recommended.cpus, (value) => `${value} ${value === 1 ? 'cpu' : 'cpus'}`),
    optionally(recommended.runtimeMs, printDurationMs),
  ];
  return [
    ...[name === '' ? '-' : name, showCount(ended)],
    ...[failed, left].map((count) => (count === 0 ? '' : showCount(count))),
    ...[waitingMs?.p50, runningMs?.p50, runningMs?.p95].map((value) => optionally(value, showDuration) ?? ''),
    ...[optionally(peakBytes?.max, showBytes) ?? '', optionally(cpus?.used, showCpus) ?? ''],
    advice.filter((part) => part !== undefined).join(', '),
  ];
}
