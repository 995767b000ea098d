/** Tables of the page: the path to the last end, what took longest, what was tried often, and who did it. */
import { showBytes, showCount, showDuration } from '../../model/units.ts';
import type { Report, ReportSlow, ReportTask, ReportWorker } from '../../protocol/report.ts';
import { amount, barrierText } from '../display/text.ts';
import { html, type Markup, shown } from './html.ts';
import { taskOf } from './tally.ts';

const table = (titles: readonly (readonly [string, string])[], rows: readonly Markup[]): Markup =>
  html`<div class="scroll"><table><thead><tr>${titles.map(([title, name]) => html`<th class="${name}">${title}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;

/** Its name, and its command on two lines. */
function taskCell(task: ReportTask | undefined): Markup {
  const { name, command } = task ?? {};
  return html`<td class="c">${name === undefined ? undefined : html`<bdi>${shown(name)}</bdi>`}<span class="command">${shown(command ?? (name === undefined ? barrierText : ''))}</span></td>`;
}

const commandShown = 400;
const brief = (task: ReportTask | undefined): ReportTask | undefined =>
  task?.command === undefined || task.command.length <= commandShown
    ? task
    : { ...task, command: `${task.command.slice(0, commandShown).toWellFormed()}…` };

/** A longer one is folded. */
const stepsShown = 12;

export function pathSection({ path, tasks }: Report): Markup | undefined {
  if (path === undefined) return undefined;
  const { steps, left, ms, waitedMs: waitedInAll } = path;
  const rows = steps.map(
    ({ attempt, waitedMs, ms: took }) =>
      html`<tr><td class="t">${taskOf(attempt)}</td>${taskCell(brief(tasks[taskOf(attempt)]))}<td class="n">${showDuration(waitedMs)}</td><td class="n">${showDuration(took)}</td></tr>`,
  );
  const titles = [
    ['task', ''],
    ['command', ''],
    ['waited', 'n'],
    ['ran', 'n'],
  ] as const;
  const whole = table(titles, rows);
  const folded = html`<details><summary>${left === undefined ? 'all steps' : `the last ${steps.length} steps`}</summary>${whole}</details>`;
  return html`<h2>Critical path <small>${amount(steps.length + (left ?? 0), 'task')}: each the last that the next one waited for; they ran for ${showDuration(ms)} and waited for ${showDuration(waitedInAll)}</small></h2>
${steps.length > stepsShown ? folded : whole}`;
}

export function slowestSection({ slowest, tasks }: Pick<Report, 'slowest' | 'tasks'>): Markup | undefined {
  if (slowest.length === 0) return undefined;
  const plots = usagePlots.filter(({ of }) => slowest.some((slow) => of(slow) !== undefined));
  const rows = slowest.map(
    (slow) =>
      html`<tr><td class="t">${slow.attempt.replace(/#1$/, '')}</td>${taskCell(brief(tasks[taskOf(slow.attempt)]))}<td class="t"><bdi>${shown(slow.host)}</bdi></td><td class="n">${showDuration(slow.ms)}</td><td class="n">${slow.cpuMs === undefined ? '' : showDuration(slow.cpuMs)}</td><td class="n">${slow.peakBytes === undefined ? '' : showBytes(slow.peakBytes)}</td>${plots.map((one) => plotCell(slow, one))}<td class="t">${endCell(slow)}</td></tr>`,
  );
  return html`<h2>Slowest attempts</h2>
${table(
  [
    ['task', ''],
    ['command', ''],
    ['host', ''],
    ['ran', 'n'],
    ['CPU', 'n'],
    ['memory', 'n'],
    ...plots.map(({ title }) => [title, ''] as const),
    ['end', ''],
  ],
  rows,
)}`;
}

const endCell = ({ tone, end }: ReportSlow): Markup =>
  html`<span class="legend"><span><i class="${tone}"></i>${end ?? tone}</span></span>`;

type Samples = ReportSlow['memory'];

interface UsagePlot {
  readonly title: string;
  readonly of: (slow: ReportSlow) => Samples;
  readonly show: (value: number) => string;
  /** At least so much is as high as the plot: what does next to nothing looks like it. */
  readonly least: number;
}

const showShare = (value: number): string => String(Math.round(value * 100) / 100);

const usagePlots: readonly UsagePlot[] = [
  { title: 'memory over time', of: ({ memory }) => memory, show: showBytes, least: 1 },
  { title: 'processors', of: ({ cpus }) => cpus, show: showShare, least: 1 },
  { title: 'GPUs', of: ({ gpus }) => gpus, show: showShare, least: 1 },
];

const plotCell = (slow: ReportSlow, { of, show, least }: UsagePlot): Markup =>
  html`<td>${spark(of(slow), slow.ms, show, least)}</td>`;

const sparkWidth = 90;
const sparkHeight = 20;

/** Steps: a sample stands for the time since the one before it. */
function spark(samples: Samples, ms: number, show: UsagePlot['show'], least: number): Markup | undefined {
  if (samples === undefined) return undefined;
  const most = Math.max(...samples.map(({ value }) => value));
  const span = Math.max(ms, 1, ...samples.map((sample) => sample.ms));
  const tenth = (value: number): number => Math.round(value * 10) / 10;
  const steps = samples.map((sample) => {
    const y = tenth(1 + (sparkHeight - 1) * (1 - sample.value / Math.max(most, least)));
    return `V${y}H${tenth((sparkWidth * sample.ms) / span)}`;
  });
  const label = `at most ${show(most)}`;
  return html`<svg class="spark" viewBox="0 0 ${sparkWidth} ${sparkHeight}" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title><path d="M0 ${sparkHeight}${steps.join('')}V${sparkHeight}"/></svg>`;
}

export function retriesSection({ attempts, retried, tasks }: Report): Markup | undefined {
  if (attempts.retries === 0) return undefined;
  const rows = retried.map(
    ({ task, attempts: count }) =>
      html`<tr><td class="t">${task}</td>${taskCell(brief(tasks[task]))}<td class="n">${showCount(count)}</td><td class="t">${tasks[task]?.state ?? ''}</td></tr>`,
  );
  const ends = attempts.ends.map(
    ({ end, tone, count }) => html`<span><i class="${tone}"></i>${showCount(count)} ${shown(end)}</span>`,
  );
  return html`<h2>Retries <small>${showCount(attempts.retries)} of ${showCount(attempts.total)} attempts were not the first of their task</small></h2>
<p class="legend">${ends}</p>
${table(
  [
    ['task', ''],
    ['command', ''],
    ['attempts', 'n'],
    ['state', ''],
  ],
  rows,
)}`;
}

export function workersSection({ workers, workersLeft }: Report): Markup | undefined {
  if (workers.length === 0) return undefined;
  const more =
    workersLeft === undefined ? undefined : html`<p class="note">and ${amount(workersLeft, 'more worker')}</p>`;
  return html`<h2>Workers</h2>
${table(
  [
    ['worker', ''],
    ['host', ''],
    ['state', ''],
    ['slots', 'n'],
    ['attempts', 'n'],
    ['failed', 'n'],
    ['running time', 'n'],
    ['CPU time', 'n'],
    ['slots busy', ''],
  ],
  workers.map(workerRow),
)}${more}`;
}

function workerRow({ id, host, state, slots, attempts, failed, busyMs, cpuMs, share }: ReportWorker): Markup {
  const percent = share === undefined ? undefined : Math.round(share * 100);
  const meter =
    percent === undefined
      ? undefined
      : html`${percent} %<span class="meter"><i style="width:${Math.min(100, percent)}%"></i></span>`;
  return html`<tr><td class="t">${id}</td><td><bdi>${shown(host)}</bdi></td><td class="t">${state}</td><td class="n">${showCount(slots)}</td><td class="n">${showCount(attempts)}</td><td class="n">${failed === 0 ? '' : showCount(failed)}</td><td class="n">${showDuration(busyMs)}</td><td class="n">${cpuMs === 0 ? '' : showDuration(cpuMs)}</td><td class="t">${meter}</td></tr>`;
}
