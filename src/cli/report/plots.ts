/** Drawings of values over time. Their width is that of all time, in `plotUnits`, and is stretched to that of the page. */
import { plotUnits } from './browser/axis.ts';
import { html, type Markup } from './html.ts';

export interface Steps {
  /** One for each bucket. */
  readonly values: readonly number[];
  /** What they stand on, where they are stacked. */
  readonly above?: readonly number[];
}

export interface Frame {
  readonly bucketMs: number;
  readonly spanMs: number;
  readonly height: number;
  /** The value that is as high as the plot. */
  readonly most: number;
}

const units = (ms: number, spanMs: number): number => Math.round((ms / Math.max(spanMs, 1e-9)) * plotUnits);
const pixels = (value: number, { most, height }: Frame): number =>
  Math.round(height * (1 - Math.min(1, value / most)) * 10) / 10;

/** The outline of steps: where it changes, and no more. */
function outline(values: readonly number[], frame: Frame): [x: number, y: number][] {
  const points: [number, number][] = [];
  values.forEach((value, at) => {
    const [x, y] = [units(at * frame.bucketMs, frame.spanMs), pixels(value, frame)];
    const last = points.at(-1);
    if (last !== undefined && last[1] === y) return;
    if (last !== undefined) points.push([x, last[1]]);
    points.push([x, y]);
  });
  points.push([plotUnits, points.at(-1)?.[1] ?? frame.height]);
  return points;
}

const path = (points: readonly (readonly [number, number])[]): string =>
  points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('');

export function area({ values, above }: Steps, frame: Frame, name: string): Markup {
  const floor: [number, number][] =
    above === undefined
      ? [
          [0, frame.height],
          [plotUnits, frame.height],
        ]
      : outline(above, frame);
  const tops = above === undefined ? values : values.map((value, at) => value + (above[at] ?? 0));
  return html`<path class="${name}" d="${path([...outline(tops, frame), ...floor.reverse()])}z"/>`;
}

export const line = (values: readonly number[], frame: Frame, name: string): Markup =>
  html`<path class="${name}" d="${path(outline(values, frame))}"/>`;

/** Stacked areas, the first at the bottom; those that are empty are left out. */
export function stack(rows: readonly (readonly [name: string, values: readonly number[]])[], frame: Frame): Markup[] {
  const drawn: Markup[] = [];
  let above: readonly number[] | undefined;
  for (const [name, values] of rows) {
    if (!values.some((value) => value > 0)) continue;
    drawn.push(area(above === undefined ? { values } : { values, above }, frame, name));
    above = values.map((value, at) => value + (above?.[at] ?? 0));
  }
  return drawn;
}

/** The same as bars of their own, for counts: two that are next to each other can be told apart. */
export function stackedBars(
  rows: readonly (readonly [name: string, values: readonly number[]])[],
  frame: Frame,
): Markup[] {
  const { bucketMs, spanMs, height } = frame;
  const above = new Map<number, number>();
  return rows.flatMap(([name, values]) =>
    values.flatMap((value, at) => {
      if (value === 0) return [];
      const from = above.get(at) ?? 0;
      above.set(at, from + value);
      const top = pixels(from + value, frame);
      const bottom = from === 0 ? height : pixels(from, frame);
      const [fromMs, ms] = seenSpan(at * bucketMs, bucketMs, spanMs);
      return [bar(fromMs, ms, spanMs, top, Math.round((bottom - top) * 10) / 10, `bin ${name}`)];
    }),
  );
}

/** Of a whole bucket: what is left of the last one may be too narrow to be seen, and the last end of all is in it. */
const narrowest = 1 / 3;

function seenSpan(startMs: number, bucketMs: number, spanMs: number): [startMs: number, ms: number] {
  const ms = Math.min(spanMs, bucketMs, Math.max(spanMs - startMs, narrowest * bucketMs));
  return [Math.min(startMs, spanMs - ms), ms];
}

export function bar(startMs: number, ms: number, spanMs: number, y: number, height: number, name: string): Markup {
  const [x, end] = [units(startMs, spanMs), units(startMs + ms, spanMs)];
  return html`<rect class="${name}" x="${x}" y="${y}" width="${Math.max(1, end - x)}" height="${height}"/>`;
}

export const plot = (height: number, content: readonly Markup[], label: string): Markup =>
  html`<svg data-height="${height}" viewBox="0 0 ${plotUnits} ${height}" height="${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${content}</svg>`;

/** Neighbouring buckets together, so that there are at most so many. */
export function coarser(values: readonly number[], each: number): number[] {
  return Array.from({ length: Math.ceil(values.length / each) }, (_, at) =>
    values.slice(at * each, (at + 1) * each).reduce((sum, value) => sum + value, 0),
  );
}
