/** The progress of a run as text: one line that fits a terminal, a plain line, or a JSON object. */
import { showCount, showDuration, showRate } from '../../model/units.ts';
import type { Counts, WorkflowView } from '../../protocol/views/workflows.ts';
import { type Style, styled, truncate } from './text.ts';

export interface Progress {
  readonly view: WorkflowView;
  /** Tasks that end in a second; undefined while that is not known. */
  readonly perSecond: number | undefined;
  readonly remainingMs: number | undefined;
}

export interface Terminal {
  readonly columns: number;
  readonly isColoured: boolean;
  readonly isUnicode: boolean;
}

export const endedOf = ({ done, failed, cancelled }: Counts): number => done + failed + cancelled;

interface Segment {
  readonly text: string;
  readonly style?: Style;
  /** Segments of the highest rank go first where the line is too long. */
  readonly rank: number;
}

const gap = '  ';

/** By the terminal alone, so that it does not change its length while the rest of the line does. */
const barColumns = (columns: number): number => Math.max(8, Math.min(40, Math.floor(columns / 4)));

/** Shorter than the terminal is wide, so that it never wraps. */
export function renderLine(progress: Progress, terminal: Terminal): string {
  const room = terminal.columns - 1;
  const bar = barColumns(terminal.columns);
  const segments = segmentsOf(progress);
  const width = () => segments.reduce((sum, { text }) => sum + gap.length + text.length, bar);
  while (segments.length > 2 && width() > room) segments.splice(segments.indexOf(leastWanted(segments)), 1);
  if (width() > room) return truncate(segments.map(({ text }) => text).join(gap), room);
  const [id, ...rest] = segments.map(({ text, style }) => (style ? styled(text, style, terminal.isColoured) : text));
  return [id, renderBar(progress.view.counts, bar, terminal), ...rest].join(gap);
}

/** Fractions would only flicker. */
const wholeSeconds = (ms: number): string => (ms < 59_500 ? `${Math.round(ms / 1_000)} s` : showDuration(ms));

function leastWanted(segments: Segment[]): Segment {
  return segments.reduce((worst, segment) => (segment.rank > worst.rank ? segment : worst));
}

function segmentsOf({ view, perSecond, remainingMs }: Progress): Segment[] {
  const { total, pending, running, failed, cancelled } = view.counts;
  const segments: Segment[] = [
    { text: view.id, rank: 0 },
    { text: `${showCount(endedOf(view.counts))}/${showCount(total)}`, rank: 1 },
  ];
  if (failed > 0) segments.push({ text: `${showCount(failed)} failed`, style: 'red', rank: 2 });
  if (cancelled > 0) segments.push({ text: `${showCount(cancelled)} cancelled`, style: 'yellow', rank: 6 });
  segments.push({ text: `${showCount(running)} running`, rank: 3 });
  if (pending > 0) segments.push({ text: `${showCount(pending)} waiting`, rank: 8 });
  if (perSecond !== undefined) segments.push({ text: showRate(perSecond), rank: 7 });
  if (isStopping(view)) segments.push({ text: 'stopping', style: 'yellow', rank: 4 });
  else if (remainingMs !== undefined) segments.push({ text: `ETA ${wholeSeconds(remainingMs)}`, rank: 4 });
  segments.push({ text: wholeSeconds(view.durationMs), style: 'dim', rank: 5 });
  return segments;
}

const isStopping = ({ state, stop }: WorkflowView): boolean => state === 'halting' || stop !== undefined;

function renderBar(counts: Counts, columns: number, { isColoured, isUnicode }: Terminal): string {
  const share = (tasks: number) => (counts.total === 0 ? 0 : tasks / counts.total);
  const full = Math.floor(share(endedOf(counts)) * columns);
  const bad = Math.min(full, Math.ceil(share(counts.failed) * columns));
  const [on, off] = isUnicode ? ['━', '─'] : ['#', '-'];
  return (
    styled(on.repeat(full - bad), 'green', isColoured) +
    (bad > 0 ? styled(on.repeat(bad), 'red', isColoured) : '') +
    styled(off.repeat(columns - full), 'dim', isColoured)
  );
}

/** For logs: no control characters, no colour, no bar. */
export function renderPlain({ view, perSecond, remainingMs }: Progress): string {
  const { total, running, failed, cancelled } = view.counts;
  const parts = [
    `${showCount(endedOf(view.counts))} of ${showCount(total)} tasks ended`,
    ...(failed > 0 ? [`${showCount(failed)} failed`] : []),
    ...(cancelled > 0 ? [`${showCount(cancelled)} cancelled`] : []),
    `${showCount(running)} running`,
    ...(perSecond === undefined ? [] : [showRate(perSecond)]),
    ...(remainingMs === undefined ? [] : [`about ${wholeSeconds(remainingMs)} left`]),
  ];
  return `${view.id}: ${parts.join(', ')}`;
}

export function progressObject({ view, perSecond, remainingMs }: Progress) {
  return {
    type: 'progress',
    id: view.id,
    state: view.state,
    ...view.counts,
    durationMs: view.durationMs,
    ...(perSecond === undefined ? {} : { perSecond: Number(perSecond.toFixed(3)) }),
    ...(remainingMs === undefined ? {} : { remainingMs: Math.round(remainingMs) }),
  };
}
