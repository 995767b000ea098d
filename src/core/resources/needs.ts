/**
 * Needs of tasks, each kept once, by a small number: a column has the number, so that a million tasks with the same need
 * cost four bytes each. Numbers are not durable; what is loaded is numbered anew.
 */
import { type Exhaustible, type Need, plainNeed } from '../../model/need.ts';
import { type Demand, demandOf } from './room.ts';

/** The number of the plain need. */
export const plain = 0;

export class Needs {
  readonly #needs: Need[] = [plainNeed];
  readonly #demands: Demand[] = [demandOf(plainNeed)];
  readonly #numbers = new Map<string, number>([[keyOf(plainNeed), plain]]);
  /** Neighbours mostly share the object, too. */
  #last: { readonly need: Need; readonly number: number } = { need: plainNeed, number: plain };

  get size(): number {
    return this.#needs.length;
  }

  number(need: Need): number {
    if (need === this.#last.need) return this.#last.number;
    const key = keyOf(need);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#needs.length;
      this.#needs.push(need);
      this.#demands.push(demandOf(need));
      this.#numbers.set(key, number);
    }
    this.#last = { need, number };
    return number;
  }

  get(number: number): Need {
    return this.#needs[number] ?? plainNeed;
  }

  /** What it takes of its worker. */
  demand(number: number): Demand {
    return this.#demands[number] as Demand;
  }
}

/** The same need in one more group; itself where it is in it. */
export function inGroup(need: Need, group: string): Need {
  const { groups = [] } = need;
  return groups.includes(group) ? need : { ...need, groups: [...groups, group].sort() };
}

const neither: readonly Exhaustible[] = [];

/** What of it is raised when an attempt runs out of it. */
export function adjustable({ memoryBytes, runtimeMs }: Need): readonly Exhaustible[] {
  if (memoryBytes === undefined) return runtimeMs === undefined ? neither : ['runtime'];
  return runtimeMs === undefined ? ['memory'] : ['memory', 'runtime'];
}

/** The same for needs that mean the same: in whatever order their parts were written. */
export function keyOf(need: Need): string {
  const { queue, fallbacks, cpus, memoryBytes, gpus, runtimeMs, pools, limits, groups, scales } = need;
  return JSON.stringify([
    ...[queue, fallbacks ?? [], cpus, memoryBytes ?? 0, gpus ?? 0, runtimeMs ?? 0],
    ...[sorted(pools), sorted(limits), [...(groups ?? [])].sort(), scales?.memory ?? 0, scales?.runtime ?? 0],
  ]);
}

const sorted = (amounts: Readonly<Record<string, number>> = {}): [string, number][] =>
  Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1));
