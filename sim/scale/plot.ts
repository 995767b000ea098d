/** A plot of what was measured, as SVG. */
import type { Measured } from './measure.ts';

const width = 640;
const height = 400;
const margin = { left: 56, right: 170, top: 40, bottom: 48 } as const;
const title = 'CPU of the controller per task (µs), by workers';
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];

export interface Series {
  readonly name: string;
  readonly points: readonly Measured[];
}

export function plot(series: readonly Series[]): string {
  const all = series.flatMap(({ points }) => points);
  const most = Math.max(...all.map(({ microsecondsPerTask }) => microsecondsPerTask));
  const top = Math.ceil(most / 2) * 2 + 2;
  const exponents = all.map(({ workers }) => Math.log10(workers));
  const [from, to] = [Math.min(...exponents), Math.max(...exponents)];
  const x = (workers: number): number =>
    margin.left + ((Math.log10(workers) - from) / Math.max(1, to - from)) * (width - margin.left - margin.right);
  const y = (value: number): number => height - margin.bottom - (value / top) * (height - margin.top - margin.bottom);
  const parts = [
    text(margin.left, 22, title, 'start', 14),
    ...ticks(top).map((value) => gridLine(y(value), String(value))),
    ...[...new Set(all.map(({ workers }) => workers))].map((workers) =>
      text(x(workers), height - margin.bottom + 20, workers.toLocaleString('en'), 'middle'),
    ),
    text((margin.left + width - margin.right) / 2, height - 8, 'workers', 'middle'),
    ...series.flatMap((one, at) => curve(one, at, x, y)),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`;
  return `${head}\n<title>${title}</title>\n<rect width="${width}" height="${height}" fill="white"/>\n${parts.join('\n')}\n</svg>\n`;
}

const ticks = (top: number): number[] => {
  const step = top > 20 ? 5 : 2;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, at) => at * step);
};

const text = (x: number, y: number, content: string, anchor: string, size = 12, fill = '#333'): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-size="${size}" fill="${fill}">${content}</text>`;

const gridLine = (y: number, label: string): string =>
  `<line x1="${margin.left}" x2="${width - margin.right}" y1="${round(y)}" y2="${round(y)}" stroke="#ddd"/>\n` +
  text(margin.left - 8, y + 4, label, 'end');

function curve({ name, points }: Series, at: number, x: (w: number) => number, y: (v: number) => number): string[] {
  const colour = colours[at % colours.length] ?? '#000';
  const places = points.map(({ workers, microsecondsPerTask }) => [x(workers), y(microsecondsPerTask)] as const);
  const line = places.map((place) => place.map(round).join(',')).join(' ');
  const key = margin.top + 20 * at;
  return [
    `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...places.map(([cx, cy]) => `<circle cx="${round(cx)}" cy="${round(cy)}" r="3" fill="${colour}"/>`),
    text(width - margin.right + 14, key + 4, name, 'start', 12, colour),
  ];
}

const round = (value: number): number => Math.round(value * 10) / 10;
