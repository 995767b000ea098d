/**
 * Where the nodes of a layered drawing go. Each level is a row; an edge over several rows gets a place in each of those
 * between, so that it does not run through boxes. Rows are ordered by the middles of their neighbours, some times down and
 * up, and then each row is put as near below and above its neighbours as the order and the widths allow.
 */
import type { Drawing, Edge, Node } from './drawing.ts';

export interface Placed {
  readonly node: Node;
  /** Of its middle. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Routed {
  readonly edge: Edge;
  /** From the parent to the child, over the places between. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Layout {
  readonly nodes: readonly Placed[];
  readonly edges: readonly Routed[];
  readonly width: number;
  readonly height: number;
}

export interface Sizes {
  readonly gapX: number;
  readonly gapY: number;
  readonly bendWidth: number;
  sizeOf(node: Node): { readonly width: number; readonly height: number };
}

/** A node, or the place of an edge in a row that it only passes. */
interface Spot {
  readonly node: Node | undefined;
  readonly row: number;
  readonly width: number;
  readonly up: Spot[];
  readonly down: Spot[];
  x: number;
  /** From 0 to 1 in its row. */
  place: number;
}

/** More than so many bends would take longer than they help: edges are then straight. */
const bendsMax = 20_000;
const sweeps = 6;

export function layOut({ nodes, edges }: Drawing, sizes: Sizes): Layout {
  const rows: Spot[][] = [];
  const spots = new Map<number, Spot>();
  const add = (node: Node | undefined, row: number, width: number): Spot => {
    const spot: Spot = { node, row, width, up: [], down: [], x: 0, place: 0 };
    const others = rows[row];
    if (others === undefined) rows[row] = [spot];
    else others.push(spot);
    return spot;
  };
  const rowOf = rowsOf(nodes);
  for (const node of nodes) spots.set(node.id, add(node, rowOf(node), sizes.sizeOf(node).width));
  const chains = chainsOf(edges, spots, (row) => add(undefined, row, sizes.bendWidth));
  for (const row of rows) number(row);
  for (let sweep = 0; sweep < sweeps; sweep++) order(rows, sweep % 2 === 0);
  for (const row of rows) pack(row, sizes.gapX);
  for (let sweep = 0; sweep < sweeps; sweep++) align(rows, sweep % 2 === 0, sizes.gapX);
  return measured(rows, chains, sizes);
}

/** Levels without the gaps that folding leaves. */
function rowsOf(nodes: readonly Node[]): (node: Node) => number {
  const levels = [...new Set(nodes.map(({ level }) => level))].sort((a, b) => a - b);
  const rows = new Map(levels.map((level, row) => [level, row]));
  return ({ level }) => rows.get(level) ?? 0;
}

interface Chain {
  readonly edge: Edge;
  readonly spots: readonly Spot[];
}

function chainsOf(edges: readonly Edge[], spots: ReadonlyMap<number, Spot>, addBend: (row: number) => Spot): Chain[] {
  const ends = edges.flatMap((edge) => {
    const [from, to] = [spots.get(edge.from), spots.get(edge.to)];
    return from === undefined || to === undefined ? [] : [{ edge, from, to }];
  });
  const bends = ends.reduce((sum, { from, to }) => sum + Math.max(0, to.row - from.row - 1), 0);
  return ends.map(({ edge, from, to }) => {
    const chain = [from];
    // One between folded nodes may lead up, and then has no part in the order.
    for (let row = from.row + 1; row < to.row && bends <= bendsMax; row++) chain.push(addBend(row));
    chain.push(to);
    for (let at = 1; at < chain.length; at++) {
      const [upper, lower] = [chain[at - 1], chain[at]];
      if (upper === undefined || lower === undefined || lower.row <= upper.row) continue;
      upper.down.push(lower);
      lower.up.push(upper);
    }
    return { edge, spots: chain };
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** By the middle of the neighbours; what has none stays about where it is. */
function order(rows: readonly Spot[][], isDown: boolean): void {
  for (const row of isDown ? rows : rows.toReversed()) {
    const wanted = new Map(
      row.map((spot) => {
        const neighbours = isDown ? spot.up : spot.down;
        return [spot, neighbours.length === 0 ? spot.place : mean(neighbours.map(({ place }) => place))];
      }),
    );
    row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    number(row);
  }
}

function number(row: readonly Spot[]): void {
  row.forEach((spot, at) => {
    spot.place = (at + 0.5) / row.length;
  });
}

/** Side by side, with the middle of the row at 0. */
function pack(row: readonly Spot[], gap: number): void {
  let x = -row.reduce((sum, { width }) => sum + width + gap, -gap) / 2;
  for (const spot of row) {
    spot.x = x + spot.width / 2;
    x += spot.width + gap;
  }
}

function align(rows: readonly Spot[][], isDown: boolean, gap: number): void {
  for (const row of isDown ? rows : rows.toReversed()) {
    const wanted = row.map((spot) => {
      const neighbours = isDown ? spot.up : spot.down;
      return neighbours.length === 0 ? spot.x : mean(neighbours.map(({ x }) => x));
    });
    nearest(row, wanted, gap);
  }
}

/**
 * The places nearest to those wanted, by the sum of squares, at which nothing overlaps and the order is kept: neighbours
 * that would overlap become a block, which goes to the mean of what its parts want.
 */
function nearest(row: readonly Spot[], wanted: readonly number[], gap: number): void {
  const offsets: number[] = [];
  let offset = 0;
  row.forEach((spot, at) => {
    const before = row[at - 1];
    offset += before === undefined ? 0 : (before.width + spot.width) / 2 + gap;
    offsets.push(offset);
  });
  const blocks: { sum: number; count: number }[] = [];
  for (const [at, x] of wanted.entries()) {
    let block = { sum: x - (offsets[at] ?? 0), count: 1 };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum / last.count > block.sum / block.count;
      last = blocks.at(-1)
    ) {
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  }
  let at = 0;
  for (const { sum, count } of blocks) {
    for (const end = at + count; at < end; at++) (row[at] as Spot).x = sum / count + (offsets[at] ?? 0);
  }
}

function measured(rows: readonly Spot[][], chains: readonly Chain[], sizes: Sizes): Layout {
  const all = rows.flat();
  const left = all.reduce((least, { x, width }) => Math.min(least, x - width / 2), 0);
  const right = all.reduce((most, { x, width }) => Math.max(most, x + width / 2), 0);
  const heights = rows.map((row) =>
    row.reduce((most, { node }) => Math.max(most, node === undefined ? 0 : sizes.sizeOf(node).height), 0),
  );
  const middles: number[] = [];
  let y = 0;
  for (const height of heights) {
    middles.push(y + height / 2);
    y += height + sizes.gapY;
  }
  const placed = new Map(
    all.map((spot) => {
      const height = spot.node === undefined ? 0 : sizes.sizeOf(spot.node).height;
      return [spot, { x: spot.x - left, y: middles[spot.row] ?? 0, height }];
    }),
  );
  const nodes = all.flatMap((spot): Placed[] => {
    const place = placed.get(spot);
    return spot.node === undefined || place === undefined ? [] : [{ node: spot.node, width: spot.width, ...place }];
  });
  const edges = chains.map(({ edge, spots }): Routed => {
    const points = spots.map((spot, at): readonly [number, number] => {
      const { x, y: middle, height } = placed.get(spot) ?? { x: 0, y: 0, height: 0 };
      return [x, at === 0 ? middle + height / 2 : at === spots.length - 1 ? middle - height / 2 : middle];
    });
    return { edge, points };
  });
  return { nodes, edges, width: right - left, height: Math.max(0, y - sizes.gapY) };
}
