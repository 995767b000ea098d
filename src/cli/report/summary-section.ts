/** The head of the page: what it is, how it stands, and the numbers that one looks for first. */
import type { WorkflowState } from '../../model/states.ts';
import { showBytes, showCount, showDuration, showRate } from '../../model/units.ts';
import type { Report } from '../../protocol/report.ts';
import { amount } from '../display/text.ts';
import { html, type Markup, shown } from './html.ts';

const looks: Readonly<Record<WorkflowState, 'good' | 'bad' | 'live' | 'off'>> = {
  registering: 'live',
  queued: 'live',
  instantiating: 'live',
  launched: 'live',
  running: 'live',
  halting: 'live',
  halted: 'off',
  done: 'good',
  failed: 'bad',
  cancelled: 'off',
  aborted: 'off',
};

/** In UTC, since the page may be read anywhere: `2026-11-15 23:58:48 UTC`. */
const showUtc = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

export function summarySection(report: Report): Markup {
  const { workflow } = report;
  const { id, name, state } = workflow;
  const title = name === undefined ? html`${id}` : html`<span class="id">${id}</span><bdi>${shown(name)}</bdi>`;
  return html`<header><h1>${title}</h1><span class="state ${looks[state]}">${state}</span></header>
<p class="soft">${whenOf(report)}</p>
${bannerOf(report)}
<div class="tiles">${tilesOf(report)}</div>`;
}

function whenOf({ workflow }: Report): string {
  const { startedAt, endedAt, createdAt, run } = workflow;
  const began = startedAt === undefined ? `submitted ${showUtc(createdAt)}` : `started ${showUtc(startedAt)}`;
  const runs = run > 1 ? [`run ${run}; the timeline has all runs`] : [];
  return [began, ...(endedAt === undefined ? [] : [`ended ${showUtc(endedAt)}`]), ...runs].join(' · ');
}

function bannerOf({ isLive, isPartial, madeAt, workflow, eta }: Report): Markup | undefined {
  const lines = [
    ...(isLive ? [`${workflow.id} is ${workflow.state}: this is what is so far, as of ${showUtc(madeAt)}.`] : []),
    ...(eta === undefined
      ? []
      : [
          `${amount(eta.remaining, 'task')} left at ${showRate(eta.perSecond)}: about ${showDuration(eta.remainingMs)}.`,
        ]),
    ...(isPartial
      ? [
          'Not all that ended before the controller was started has been read: the numbers of times and usage are too low.',
        ]
      : []),
  ];
  return lines.length === 0 ? undefined : html`<p class="banner" role="status">${lines.join(' ')}</p>`;
}

const tile = (value: string, about: string): Markup =>
  html`<div class="tile"><b>${value}</b><span>${about}</span></div>`;

function tilesOf(report: Report): (Markup | undefined)[] {
  const { workflow, attempts, statistics } = report;
  const { share, cpuMs, cpuKnownMs, peakBytes, total } = attempts;
  return [
    tasksTile(report),
    tile(showDuration(workflow.durationMs), tookText(report)),
    tile(showCount(total), attemptsText(report)),
    share === undefined ? undefined : tile(`${Math.round(share * 100)} %`, 'of the slots were busy'),
    cpuKnownMs === 0 ? undefined : tile(showDuration(cpuMs), cpuText(report)),
    peakBytes === undefined
      ? undefined
      : tile(showBytes(peakBytes), `most memory; median ${showBytes(statistics.peakBytes?.p50 ?? peakBytes)}`),
  ];
}

function tookText({ isLive, workflow: { run, startedAt } }: Report): string {
  if (startedAt === undefined) return 'it has not begun';
  if (isLive) return run > 1 ? 'so far, the last run' : 'so far';
  return run > 1 ? 'the last run took' : 'it took';
}

function attemptsText({ attempts: { total, retries } }: Report): string {
  if (total === 0) return 'attempts: nothing was started';
  if (retries === 0) return total === 1 ? 'attempt' : 'attempts, no retries';
  return `attempts, ${showCount(retries)} of them ${retries === 1 ? 'a retry' : 'retries'}`;
}

/** It becomes known at the end of each attempt. */
function cpuText({ attempts: { busyMs, cpuKnownMs } }: Report): string {
  return `CPU time, ${cpuKnownMs < busyMs ? 'known of' : 'in'} ${showDuration(cpuKnownMs)} of running`;
}

const shares = [
  ['done', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['running', 'running'],
  ['pending', 'waiting'],
] as const;

function tasksTile({ workflow: { counts }, starts }: Report): Markup {
  const some = shares.filter(([state]) => counts[state] > 0);
  const bars = some.map(([state, tone]) => html`<i class="${tone}" style="flex:${counts[state]}"></i>`);
  const words = some.map(
    ([state, tone]) => html`<span><i class="${tone}"></i>${showCount(counts[state])} ${state}</span>`,
  );
  return html`<div class="tile double"><b>${amount(counts.total, 'task')}</b><div class="shares">${bars}</div><div class="legend">${words}</div>${neverStarted(starts)}</div>`;
}

/** Tasks that have ended without a start: `not started: 3 cancelled, 1 failed`. */
function neverStarted(starts: Report['starts']): Markup | undefined {
  const some = (['cancelled', 'failed'] as const).filter((end) => starts[end] > 0);
  if (some.length === 0) return undefined;
  return html`<span>not started: ${some.map((end) => `${showCount(starts[end])} ${end}`).join(', ')}</span>`;
}
