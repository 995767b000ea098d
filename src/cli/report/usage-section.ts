/** How long attempts waited and ran, and what they used of what they asked for. */
import { printBytes, printDurationMs, showBytes, showCount, showDuration } from '../../model/units.ts';
import type { Report } from '../../protocol/report.ts';
import type { Distribution, RequestedAndUsed, StatisticsGroup } from '../../protocol/views/statistics.ts';
import { html, type Markup, shown } from './html.ts';

export function timesSection({ statistics }: Pick<Report, 'statistics'>): Markup | undefined {
  const { waitingMs, runningMs, peakBytes } = statistics;
  const panels = [
    panel('Running', 'from start to end', runningMs, showDuration),
    panel('Waiting', `from queued to start${knownOf(waitingMs, runningMs)}`, waitingMs, showDuration),
    panel('Memory', `the peak of each attempt${knownOf(peakBytes, runningMs)}`, peakBytes, showBytes),
  ].filter((one) => one !== undefined);
  if (panels.length === 0) return undefined;
  return html`<h2>Times and memory <small>of attempts that ran to their end</small></h2><div class="panels">${panels}</div>`;
}

/**
 * How long a task waited that had to wait for others is not known after a restart, nor the memory of an attempt that was over before
 * anybody looked.
 */
const knownOf = (values: Distribution | undefined, all: Distribution | undefined): string =>
  values === undefined || all === undefined || values.count >= all.count ? '' : `, known of ${showCount(values.count)}`;

const plotWidth = 300;
const plotHeight = 64;
const gap = 2;

function panel(
  title: string,
  about: string,
  values: Distribution | undefined,
  show: (value: number) => string,
): Markup | undefined {
  if (values === undefined) return undefined;
  const { bars, min, max, mean, p50, p90, p95, p99 } = values;
  const most = Math.max(...bars.map(({ count }) => count));
  const width = plotWidth / Math.max(bars.length, 1);
  const drawn = bars.map(({ count }, at) => {
    const height = count === 0 ? 0 : Math.max(1.5, (plotHeight * count) / most);
    return html`<rect class="running" x="${round(at * width + gap / 2)}" y="${round(plotHeight - height)}" width="${round(Math.max(1, width - gap))}" height="${round(height)}"/>`;
  });
  const quantiles: [string, number][] = [
    ['median', p50],
    ['90 %', p90],
    ['95 %', p95],
    ['99 %', p99],
    ['most', max],
    ['mean', mean],
  ];
  const label = `${title}: ${quantiles.map(([name, value]) => `${name} ${show(value)}`).join(', ')}`;
  const plot = html`<svg viewBox="0 0 ${plotWidth} ${plotHeight}" height="${plotHeight}" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn}</svg>
<div class="ends"><span>${show(min)}</span><span>logarithmic</span><span>${show(max)}</span></div>`;
  return html`<div class="panel"><h3>${title} <span class="note">${about}</span></h3>
${bars.length < 2 ? undefined : plot}
<dl class="quantiles">${quantiles.map(([name, value]) => html`<div><dt>${name}</dt><dd>${show(value)}</dd></div>`)}</dl></div>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

export function usageSection({ statistics, templates, templatesLeft }: Report): Markup | undefined {
  const all = [
    ...(templates.length > 1 || templates.length === 0 ? [{ ...statistics, name: 'all' }] : []),
    ...templates,
  ];
  const rows = all.filter(({ runningMs }) => runningMs !== undefined).map(usageRow);
  if (rows.length === 0) return undefined;
  const more =
    templatesLeft === undefined ? undefined : html`<p class="note">and ${showCount(templatesLeft)} more templates</p>`;
  return html`<h2>Usage against request <small>on average, and what to ask for next time</small></h2>
<div class="scroll"><table><thead><tr><th>template</th><th class="n">attempts</th><th>memory</th><th>processors</th><th>time</th><th>recommended request</th></tr></thead><tbody>${rows}</tbody></table></div>${more}`;
}

function usageRow({ name, runningMs, memory, cpus, runtime, peakBytes, recommended }: StatisticsGroup): Markup {
  return html`<tr><td>${name === '' ? html`<span class="soft">without template</span>` : html`<bdi>${shown(name)}</bdi>`}</td><td class="n">${showCount(runningMs?.count ?? 0)}</td>
<td class="t">${usedOf(memory, showBytes) ?? unasked(peakBytes?.mean, showBytes)}</td>
<td class="t">${usedOf(cpus, showCpus)}</td>
<td class="t">${usedOf(runtime, showDuration) ?? unasked(runningMs?.mean, showDuration)}</td>
<td class="t advice">${adviceOf(recommended)}</td></tr>`;
}

const showCpus = (cpus: number): string => String(Math.round(cpus * 100) / 100);

function usedOf(asked: RequestedAndUsed | undefined, show: (value: number) => string): Markup | undefined {
  if (asked === undefined) return undefined;
  const percent = Math.round(asked.share * 100);
  return html`${show(asked.used)} <span class="soft">of ${show(asked.requested)}</span><span class="meter" role="img" aria-label="${percent} %"><i class="${asked.share > 1 ? 'over' : ''}" style="width:${Math.min(100, percent)}%"></i></span>`;
}

const unasked = (used: number | undefined, show: (value: number) => string): Markup | undefined =>
  used === undefined ? undefined : html`${show(used)} <span class="soft">nothing asked</span>`;

/** As the options of `drover run` have it. */
function adviceOf({ memoryBytes, runtimeMs, cpus }: StatisticsGroup['recommended']): Markup | undefined {
  const options = [
    ...(cpus === undefined ? [] : [`--cpus ${cpus}`]),
    ...(memoryBytes === undefined ? [] : [`--memory ${printBytes(memoryBytes)}`]),
    ...(runtimeMs === undefined ? [] : [`--walltime ${printDurationMs(runtimeMs)}`]),
  ];
  return options.length === 0 ? undefined : html`<code>${options.join(' ')}</code>`;
}
