/** `after: {each: align}`: which tasks of one array a task of another belongs to, by the values that both have. */
import { type Axis, positionsOf, stridesOf, type TaskArray, valuesAt } from './array.ts';

type Ranges = readonly (readonly [number, number])[];

interface ParentAxis {
  readonly axis: Axis;
  readonly stride: number;
  /** Arguments that the children have, too. */
  readonly shared: readonly string[];
  /** By the values of those. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
}

export class Matching {
  readonly #children: TaskArray;
  readonly #parents: readonly ParentAxis[];
  /** Those arguments that both have. */
  readonly shared: ReadonlySet<string>;

  constructor(parents: TaskArray, children: TaskArray) {
    this.#children = children;
    const ofChildren = new Set([...children.fixed.keys(), ...children.axes.flatMap(({ names }) => names)]);
    const strides = stridesOf(parents);
    this.#parents = parents.axes.map((axis, at) => {
      const shared = axis.names.filter((name) => ofChildren.has(name));
      return { axis, stride: strides[at] ?? 1, shared, positions: positionsByValues(axis, shared) };
    });
    this.shared = new Set(this.#parents.flatMap(({ shared }) => shared));
  }

  /** Whether several children may have the same several parents: then a join between them keeps edges few. */
  get needsJoins(): boolean {
    const isPrivate = ({ names }: Axis): boolean => !names.some((name) => this.shared.has(name));
    const parentsEach = this.#parents.some(({ shared, axis }) => shared.length < axis.names.length && axis.count > 1);
    return parentsEach && this.#children.axes.some((axis) => isPrivate(axis) && axis.count > 1);
  }

  /** Values of children that no parent has; looked for on the axes that matter, not on their product with all others. */
  unmatched(): string | undefined {
    for (const { shared, positions } of this.#parents) {
      if (shared.length === 0) continue;
      const axes = this.#children.axes.filter(({ names }) => names.some((name) => shared.includes(name)));
      const part = { ...this.#children, axes, count: axes.reduce((product, { count }) => product * count, 1) };
      for (let element = 0; element < part.count; element++) {
        const values = valuesAt(part, positionsOf(part, element));
        const wanted = shared.map((name) => values.get(name));
        if (!positions.has(JSON.stringify(wanted)))
          return shared.map((name, at) => `${name} = ${wanted[at]}`).join(', ');
      }
    }
    return undefined;
  }

  /** What children of one join have in common. */
  groupOf(element: number): string {
    const values = valuesAt(this.#children, positionsOf(this.#children, element));
    return JSON.stringify([...this.shared].map((name) => values.get(name)));
  }

  /** Offsets of the parents of a child within their array, as ranges with both ends; none where no values agree. */
  parentsOf(element: number): Ranges {
    const values = valuesAt(this.#children, positionsOf(this.#children, element));
    let offsets: number[] = [0];
    for (const { axis, stride, shared, positions } of this.#parents) {
      const chosen =
        shared.length === 0
          ? Array.from({ length: axis.count }, (_, position) => position)
          : (positions.get(JSON.stringify(shared.map((name) => values.get(name)))) ?? []);
      offsets = offsets.flatMap((offset) => chosen.map((position) => offset + position * stride));
    }
    return rangesOf(offsets);
  }
}

function positionsByValues({ names, count, at }: Axis, shared: readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  if (shared.length === 0) return found;
  for (let position = 0; position < count; position++) {
    const row = at(position);
    const key = JSON.stringify(shared.map((name) => row[names.indexOf(name)]));
    const known = found.get(key);
    if (known === undefined) found.set(key, [position]);
    else known.push(position);
  }
  return found;
}

function rangesOf(offsets: readonly number[]): Ranges {
  const ranges: [number, number][] = [];
  for (const offset of offsets.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === offset - 1) last[1] = offset;
    else ranges.push([offset, offset]);
  }
  return ranges;
}
