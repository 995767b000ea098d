/**
 * Which index each task has, and where joins stand between arrays. It has the entries and the joins, not the tasks:
 * those are made one by one when batches are (flow.ts).
 */
import type { EdgeKind } from '../model/states.ts';
import type { Entry, Link } from './entries.ts';

type Span = readonly [number, number];

/** Edges from tasks that are there to all tasks of a block, or from many to its only one. */
export interface Standing {
  readonly parents: Span;
  readonly after: EdgeKind;
}

export type Block =
  | { readonly kind: 'join'; readonly index: number; readonly parents: readonly Standing[] }
  | {
      readonly kind: 'tasks';
      readonly entry: Entry;
      readonly first: number;
      readonly standing: readonly Standing[];
      /** Those of one task. */
      readonly own: (element: number) => readonly Standing[];
      readonly outside: readonly Extract<Link, { readonly kind: 'outside' }>[];
    };

const single = (index: number): Span => [index, index];

export class Plan {
  readonly blocks: Block[] = [];
  /** The index of the last task; joins that this put in are counted. */
  last: number;
  readonly #first = new Map<Entry, number>();
  readonly #joins = new Map<Entry, Map<EdgeKind, number>>();

  /** `entries` in their order; `size`: tasks that are there already. */
  constructor(entries: readonly Entry[], size: number) {
    this.last = size;
    for (const entry of entries) this.#add(entry);
  }

  #add(entry: Entry): void {
    const standing: Standing[] = [];
    const own: ((element: number) => readonly Standing[])[] = [];
    for (const link of entry.links) {
      if (link.kind === 'all') standing.push(this.#toAll(entry, link.entry, link.on));
      if (link.kind === 'each') own.push(this.#toEach(entry, link));
    }
    const first = this.last + 1;
    this.#first.set(entry, first);
    this.last += entry.array.count;
    this.blocks.push({
      ...{ kind: 'tasks', entry, first, standing },
      own: (element) => own.flatMap((edges) => edges(element)),
      outside: entry.links.filter((link) => link.kind === 'outside'),
    });
  }

  #spanOf(entry: Entry): Span {
    const first = this.#first.get(entry) ?? 0;
    return [first, first + entry.array.count - 1];
  }

  /** Where both sides are many, a join keeps edges linear; all that wait for the same share it. */
  #toAll(child: Entry, parent: Entry, on: EdgeKind): Standing {
    const parents = this.#spanOf(parent);
    if (parent.array.count === 1 || child.array.count === 1) return { parents, after: on };
    const known = this.#joins.get(parent) ?? new Map<EdgeKind, number>();
    this.#joins.set(parent, known);
    const index = known.get(on) ?? this.#addJoin([{ parents, after: on }]);
    known.set(on, index);
    return { parents: single(index), after: 'success' };
  }

  #toEach(child: Entry, { entry, on, matching }: Extract<Link, { readonly kind: 'each' }>) {
    const [first] = this.#spanOf(entry);
    const edges = (element: number): Standing[] =>
      matching.parentsOf(element).map(([from, to]) => ({ parents: [first + from, first + to], after: on }));
    if (!matching.needsJoins) return edges;
    const joins = new Map<string, number>();
    for (let element = 0; element < child.array.count; element++) {
      const group = matching.groupOf(element);
      if (!joins.has(group)) joins.set(group, this.#addJoin(edges(element)));
    }
    return (element: number): Standing[] => [
      { parents: single(joins.get(matching.groupOf(element)) ?? 0), after: 'success' },
    ];
  }

  #addJoin(parents: readonly Standing[]): number {
    this.last += 1;
    this.blocks.push({ kind: 'join', index: this.last, parents });
    return this.last;
  }
}
