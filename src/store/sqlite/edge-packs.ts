/** Edges come by the thousand: packed into one value, so many cost what one row costs. */

import { type TaskId, taskId } from '../../model/ids.ts';
import { edgeKinds } from '../../model/states.ts';
import type { EdgeRow } from '../store.ts';

/** Few enough that a chunk of packs is no burden when a store is read. */
export const packEdgesMax = 256;
const numbersPerEdge = 5;
/** In the place of a kind. */
const removed = -1;

/** Each as four ends and a kind. */
export function packEdges(rows: readonly EdgeRow[]): Uint8Array {
  const numbers = new Int32Array(numbersPerEdge * rows.length);
  let at = 0;
  for (const row of rows) {
    if (row.type === 'removed') numbers.set([row.parent, row.parent, row.child, row.child, removed], at);
    else {
      const { parents, children, after } = row.edges;
      numbers[at] = parents.from;
      numbers[at + 1] = parents.to;
      numbers[at + 2] = children.from;
      numbers[at + 3] = children.to;
      numbers[at + 4] = edgeKinds.indexOf(after);
    }
    at += numbersPerEdge;
  }
  return new Uint8Array(numbers.buffer);
}

export function unpackEdges(pack: Uint8Array): EdgeRow[] {
  const numbers = new Int32Array(pack.slice().buffer);
  const rows: EdgeRow[] = [];
  for (let at = 0; at < numbers.length; at += numbersPerEdge) {
    const end = (which: number): TaskId => taskId(numbers[at + which] as number);
    const after = edgeKinds[numbers[at + 4] as number];
    if (after === undefined) rows.push({ type: 'removed', parent: end(0), child: end(2) });
    else {
      const ranges = { parents: { from: end(0), to: end(1) }, children: { from: end(2), to: end(3) } };
      rows.push({ type: 'added', edges: { ...ranges, after } });
    }
  }
  return rows;
}
