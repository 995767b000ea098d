/**
 * The values of an array of tasks, without a list of its tasks: the product of its axes, each a list of values of one
 * argument, of a range, or of rows of several arguments. The last axis varies fastest. One task is an array without axes.
 */
import { nameBytesMax } from '../model/limits.ts';
import type { TaskWords } from './schema.ts';

export interface Axis {
  readonly names: readonly string[];
  readonly count: number;
  /** Of each name, in their order. */
  at(position: number): readonly string[];
}

export interface TaskArray {
  readonly axes: readonly Axis[];
  /** The same for all. */
  readonly fixed: ReadonlyMap<string, string>;
  readonly count: number;
}

export function arrayOf(args: TaskWords['args']): TaskArray {
  const fixed = new Map<string, string>();
  const axes: Axis[] = [];
  if (Array.isArray(args)) axes.push(rowsAxis(args));
  else {
    for (const [name, value] of Object.entries(args ?? {})) {
      if (Array.isArray(value)) axes.push(listAxis(name, value.map(String)));
      else if (typeof value === 'object') axes.push(rangeAxis(name, value));
      else fixed.set(name, String(value));
    }
  }
  return { axes, fixed, count: axes.reduce((product, { count }) => product * count, 1) };
}

const listAxis = (name: string, values: readonly string[]): Axis => ({
  names: [name],
  count: values.length,
  at: (position) => [values[position] ?? ''],
});

function rangeAxis(name: string, { from, to, step = 1 }: { from: number; to: number; step?: number }): Axis {
  const count = Math.max(0, Math.floor((to - from) / step) + 1);
  return { names: [name], count, at: (position) => [String(from + position * step)] };
}

function rowsAxis(rows: readonly Readonly<Record<string, unknown>>[]): Axis {
  const names = Object.keys(rows[0] ?? {});
  return { names, count: rows.length, at: (position) => names.map((name) => String(rows[position]?.[name] ?? '')) };
}

/** Where a task of an array is on each axis. */
export function positionsOf({ axes }: TaskArray, element: number): number[] {
  const positions: number[] = new Array(axes.length);
  let rest = element;
  for (let at = axes.length - 1; at >= 0; at--) {
    const count = axes[at]?.count ?? 1;
    positions[at] = rest % count;
    rest = Math.floor(rest / count);
  }
  return positions;
}

/** How far apart tasks are that are neighbours on an axis. */
export function stridesOf({ axes }: TaskArray): number[] {
  let stride = 1;
  return axes
    .map((axis) => axis.count)
    .reduceRight<number[]>((so, count) => {
      so.unshift(stride);
      stride *= count;
      return so;
    }, []);
}

export function valuesAt(array: TaskArray, positions: readonly number[]): Map<string, string> {
  const values = new Map(array.fixed);
  array.axes.forEach(({ names, at }, axis) => {
    const row = at(positions[axis] ?? 0);
    names.forEach((name, column) => {
      values.set(name, row[column] ?? '');
    });
  });
  return values;
}

/** Such a value can't be taken for two, or for the end of the list. */
const plainValue = /^[^\s,[\]"]+$/;

/** `align[a,hg38]`: by its values, so that another value in a list renames no task; by its place where that is too long. */
export function elementName(name: string, { axes }: TaskArray, positions: readonly number[], element: number): string {
  if (axes.length === 0) return name;
  const values = axes.flatMap(({ at }, axis) => at(positions[axis] ?? 0));
  const full = `${name}[${values.map((value) => (plainValue.test(value) ? value : JSON.stringify(value))).join(',')}]`;
  return Buffer.byteLength(full) <= nameBytesMax ? full : `${name}[#${element + 1}]`;
}
