/** How deep each task is: one more than the deepest of its parents. */
import type { EdgeSpec } from '../../protocol/spec.ts';

/** By index, from 1. Edges may be in any order; they have no cycle. */
export function levelsOf(tasks: number, edges: readonly EdgeSpec[]): Int32Array {
  const levels = new Int32Array(tasks + 1);
  const waitsFor = new Int32Array(tasks + 1);
  const out: (EdgeSpec[] | undefined)[] = new Array(tasks + 1);
  for (const edge of edges) {
    const [from, to] = edge.parents;
    const [first, last] = edge.children;
    for (let child = first; child <= last; child++) waitsFor[child] = (waitsFor[child] ?? 0) + to - from + 1;
    for (let parent = from; parent <= to; parent++) {
      const own = out[parent];
      if (own === undefined) out[parent] = [edge];
      else own.push(edge);
    }
  }
  const ready: number[] = [];
  for (let index = 1; index <= tasks; index++) if (waitsFor[index] === 0) ready.push(index);
  for (let at = 0; at < ready.length; at++) {
    const parent = ready[at] ?? 0;
    for (const { children } of out[parent] ?? []) {
      for (let child = children[0]; child <= children[1]; child++) {
        levels[child] = Math.max(levels[child] ?? 0, (levels[parent] ?? 0) + 1);
        waitsFor[child] = (waitsFor[child] ?? 0) - 1;
        if (waitsFor[child] === 0) ready.push(child);
      }
    }
  }
  return levels;
}
