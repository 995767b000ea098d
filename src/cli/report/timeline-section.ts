/** The timeline of the page: who ran what when, and under it how much ran, waited and ended, all over the same time. */
import { showCount } from '../../model/units.ts';
import { barTones, type Report, type ReportLane, type ReportTimeline } from '../../protocol/report.ts';
import { amount } from '../display/text.ts';
import { type Cuts, lateShare, showMs, ticksOf } from './browser/axis.ts';
import type { PageData } from './browser/timeline-view.ts';
import { html, type Markup, shown } from './html.ts';
import { bar, coarser, type Frame, line, plot, stack, stackedBars } from './plots.ts';
import { taskOf } from './tally.ts';

const stripHeight = 56;
const runningHeight = 72;
/** Of ends: bars that are wide enough to be told apart. */
const endBars = 80;
/** Without a script; with one, as many as there is room for. */
const ticksMax = 10;
/** Beyond it there is no room for the label of a tick. */
const labelledShare = 0.95;
/** Of all time: a bar that is narrower has no line around it. */
const wideShare = 0.004;

/** As it is drawn: without what is cut out. */
interface Drawn extends Omit<ReportTimeline, 'cuts'> {
  readonly cuts: Cuts;
}

function drawnOf({ cuts = [], bars, spanMs, ...rest }: ReportTimeline): Drawn {
  const before = (ms: number): number => cuts.reduce((sum, cut) => (ms >= cut.fromMs + cut.ms ? sum + cut.ms : sum), 0);
  return {
    ...rest,
    cuts: cuts.map(({ fromMs, ms }) => [fromMs - before(fromMs), ms]),
    spanMs: spanMs - before(spanMs),
    ...(bars === undefined
      ? {}
      : { bars: bars.map((one) => ({ ...one, startMs: one.startMs - before(one.startMs) })) }),
  };
}

export function timelineSection({ timeline: real, path, attempts, starts }: Report): Markup | undefined {
  if (real === undefined) return undefined;
  const timeline = drawnOf(real);
  const { lanes, bars, spanMs, series, cuts } = timeline;
  const heading =
    bars === undefined
      ? `${amount(attempts.total, 'attempt')} on ${amount(lanes.length, 'worker')}; the height is how many ran`
      : 'a bar is an attempt, a row is a slot of a worker';
  const { bucketMs } = series;
  const frame = (height: number, most: number): Frame => ({ bucketMs, spanMs, height, most: Math.max(most, 1e-9) });
  const left = (ms: number): string => `left:${round((100 * ms) / spanMs)}%`;
  const ticks = ticksOf(0, spanMs, ticksMax, cuts).map(
    ({ ms, label }) => html`<span style="${left(ms)}">${ms > labelledShare * spanMs ? '' : label}</span>`,
  );
  const gaps = cuts.map(
    ([at, ms]) => html`<i class="${at > lateShare * spanMs ? 'late' : ''}" style="${left(at)}">${showMs(ms)} idle</i>`,
  );
  return html`<div class="bars-title"><h2>Timeline <small>${heading}</small></h2>
<div id="zoom" hidden><button type="button" data-key="+" aria-label="zoom in">+</button><button type="button" data-key="-" aria-label="zoom out">−</button><button type="button" data-key="0">all</button></div></div>
<div id="timeline" class="${cuts.length === 0 ? '' : 'cut'}" tabindex="0" role="group" aria-label="Timeline: arrow keys go from attempt to attempt, plus and minus zoom, 0 shows all">
<div class="area"><div class="grid">${ticks}${gaps}</div><div class="cursor" hidden></div></div>
${bars === undefined ? busyRows(lanes, frame) : barRow(timeline, new Set(path?.steps.map(({ attempt }) => attempt)))}
${runningRow(timeline, frame)}
${waitingRow(timeline, starts, frame)}
${endedRow(timeline, frame)}
</div>
${legend(timeline, starts, path !== undefined)}`;
}

type FrameOf = (height: number, most: number) => Frame;

/** Between the rows of two workers. */
const groupGap = 6;
/** The fewer there are, the higher. */
const laneHeight = (lanes: number): number => (lanes <= 12 ? 20 : lanes <= 24 ? 16 : 12);

function barRow({ lanes, bars = [], spanMs }: Drawn, onPath: ReadonlySet<string>): Markup {
  const height = laneHeight(lanes.length);
  const groups = groupsOf(lanes);
  const tops = groups
    .flatMap(({ count }, group) => new Array<number>(count).fill(group))
    .map((group, lane) => lane * height + group * groupGap);
  const drawn = bars.map(({ attempt, lane, startMs, ms, tone }) => {
    const names = `bar ${tone}${ms > wideShare * spanMs ? ' wide' : ''}${onPath.has(attempt) ? ' path' : ''}`;
    return bar(startMs, ms, spanMs, (tops[lane] ?? 0) + 2, height - 4, names);
  });
  const labels = groups.map(
    ({ label, count }, at) =>
      html`<div style="height:${count * height + (at === 0 ? 0 : groupGap)}px" title="${label}"><span><bdi>${label}</bdi></span></div>`,
  );
  const all = lanes.length * height + (groups.length - 1) * groupGap;
  const label = `${showCount(bars.length)} attempts in ${showCount(lanes.length)} rows`;
  return html`<div class="row"><div class="names">${labels}</div>${plot(all, drawn, label)}</div>`;
}

/** Neighbouring lanes of the same worker. */
function groupsOf(lanes: readonly ReportLane[]): { label: string; count: number }[] {
  const groups: { worker: string | undefined; label: string; count: number }[] = [];
  for (const lane of lanes) {
    const last = groups.at(-1);
    if (last !== undefined && last.worker === lane.worker) last.count += 1;
    else groups.push({ worker: lane.worker, label: labelOf(lane), count: 1 });
  }
  return groups;
}

const labelOf = ({ worker, host }: ReportLane): string =>
  worker === undefined ? 'all others' : `${worker} ${shown(host ?? '')}`;

const busyHeight = (lanes: number): number => (lanes <= 8 ? 40 : lanes <= 24 ? 26 : 14);

function busyRows(lanes: readonly ReportLane[], frame: FrameOf): Markup[] {
  const height = busyHeight(lanes.length);
  return lanes.map((lane, at) => {
    const rows = barTones.map((tone): [string, readonly number[]] => [tone, lane.busy?.[tone] ?? []]);
    const most = Math.max(lane.slots ?? 0, ...totalOf(lane));
    const label = labelOf(lane);
    return html`<div class="row busy" data-lane="${at}"><div class="names"><div style="height:${height}px" title="${label}"><span><bdi>${label}</bdi></span></div></div>${plot(height, stack(rows, frame(height, most)), `attempts on ${label}`)}</div>`;
  });
}

function totalOf({ busy = {} }: ReportLane): number[] {
  const rows = Object.values(busy);
  return (rows[0] ?? []).map((_, at) => rows.reduce((sum, values) => sum + (values[at] ?? 0), 0));
}

function strip(title: string, facts: string, height: number, content: readonly Markup[]): Markup {
  return html`<div class="row"><div class="names text"><strong>${title}</strong><br>${facts}</div>${plot(height, content, `${title}: ${facts}`)}</div>`;
}

function runningRow({ series }: Drawn, frameOf: FrameOf): Markup {
  const { running, slots } = series;
  const most = Math.max(...running, ...slots);
  // Room for the line of slots, which else would lie on the edge.
  const frame = frameOf(runningHeight, most * 1.06);
  const facts = `${showCount(round(Math.max(...slots)))} slots`;
  return strip('running', facts, runningHeight, [
    ...stack([['running', running]], frame),
    line(slots, frame, 'slots-line'),
  ]);
}

/** What was cancelled or failed before its start was not started at any time: when that was decided is not told by attempts. */
function waitingRow({ series: { waiting } }: Drawn, starts: Report['starts'], frameOf: FrameOf): Markup | undefined {
  const never = neverStarted(waiting, starts);
  const most = Math.max(...waiting) + never.reduce((sum, [end]) => sum + starts[end], 0);
  if (most === 0) return undefined;
  const facts = [`at most ${showCount(most)}`, ...never.map(([end]) => `${showCount(starts[end])} ${end} before`)];
  const rows = stack([...never, ['waiting', waiting]], frameOf(stripHeight, most * 1.06));
  return strip('yet to start', facts.join(', '), stripHeight, rows);
}

type NeverStarted = 'cancelled' | 'failed';

function neverStarted(waiting: readonly number[], starts: Report['starts']): [NeverStarted, number[]][] {
  const some = (['cancelled', 'failed'] as const).filter((end) => starts[end] > 0);
  return some.map((end) => [end, waiting.map(() => starts[end])]);
}

function endedRow({ series, spanMs }: Drawn, frameOf: FrameOf): Markup | undefined {
  const each = Math.ceil(series.succeeded.length / endBars);
  const rows = (['succeeded', 'failed', 'cancelled'] as const).map((tone): [string, number[]] => [
    tone,
    coarser(series[tone], each),
  ]);
  const totals = (rows[0]?.[1] ?? []).map((_, at) => rows.reduce((sum, [, values]) => sum + (values[at] ?? 0), 0));
  const most = Math.max(...totals);
  if (most === 0) return undefined;
  const bucketMs = each * series.bucketMs;
  const frame = { ...frameOf(stripHeight, most * 1.06), bucketMs };
  const facts = `at most ${showCount(most)} in ${showMs(Math.min(bucketMs, spanMs))}`;
  return strip('ended', facts, stripHeight, stackedBars(rows, frame));
}

function legend({ bars, lanes, series }: Drawn, starts: Report['starts'], hasPath: boolean): Markup {
  const never: readonly string[] = neverStarted([], starts).map(([end]) => end);
  const tones = barTones.filter(
    (tone) =>
      never.includes(tone) ||
      (bars === undefined
        ? lanes.some(({ busy }) => busy?.[tone] !== undefined)
        : bars.some((one) => one.tone === tone)),
  );
  const hasWaiting = series.waiting.some((count) => count > 0);
  return html`<div class="legend" style="margin-top:8px">${tones.map((tone) => html`<span><i class="${tone}"></i>${tone}</span>`)}${hasWaiting ? html`<span><i class="waiting"></i>yet to start</span>` : undefined}<span><i class="slots"></i>slots</span>${hasPath && bars !== undefined ? html`<span><i class="path"></i>critical path</span>` : undefined}</div>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** What the script needs, all of it fit to be shown. */
export function pageData({ timeline, tasks, starts }: Report): PageData | undefined {
  if (timeline === undefined) return undefined;
  const { spanMs, cuts, beginAt, lanes, bars = [], series } = drawnOf(timeline);
  const { bucketMs, running, slots, waiting, succeeded, failed, cancelled } = series;
  const drawn = new Set(bars.map(({ attempt }) => taskOf(attempt)));
  return {
    spanMs,
    cuts,
    beginMs: Date.parse(beginAt),
    bars: bars.map(({ attempt, lane, startMs, ms, tone, end }) => [attempt, lane, startMs, ms, end ?? tone]),
    tasks: Object.fromEntries(
      Object.entries(tasks)
        .filter(([id]) => drawn.has(id))
        .map(([id, { name, command }]) => [
          id,
          {
            ...(name === undefined ? {} : { name: shown(name) }),
            ...(command === undefined ? {} : { command: shown(command) }),
          },
        ]),
    ),
    lanes: lanes.map((lane) => ({
      label: labelOf(lane),
      ...(lane.busy === undefined ? {} : { busy: totalOf(lane).map(round) }),
    })),
    bucketMs,
    series: [
      ['running', running],
      ['slots', slots],
      ['yet to start', waiting],
      ...neverStarted(waiting, starts).map(([end, counts]): [string, number[]] => [
        `${end} before their start`,
        counts,
      ]),
      [`succeeded in ${showMs(bucketMs)}`, succeeded],
      [`failed in ${showMs(bucketMs)}`, failed],
      [`cancelled in ${showMs(bucketMs)}`, cancelled],
    ],
  };
}
