/**
 * The statistics of one workflow: cells by template, by worker and by tag, and how many tasks ended when.
 * 1. Every ended attempt is in one cell of templates and in one of workers; in as many of tags as its task has tags.
 * 2. For each name of a tag that one of them had, those without it are in a cell, too; and so are those without any.
 */
import type { WorkerId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { type Buckets, Cell, type Ended } from './cell.ts';
import { Rates } from './rates.ts';
import { anyPrefix, other, otherOf, prefixIn, type TagSet } from './tag-sets.ts';

/** How many cells there may still be, of all workflows together. */
export interface Allowance {
  left: number;
}

/** Of tasks that were made of no template; a template can't have this name. */
export const noTemplate = '';

const hasAny = (tags: TagSet, prefix: string): boolean => tags.some((tag) => tag.startsWith(prefix));

export class WorkflowCells {
  readonly rates = new Rates();
  readonly #templates = new Map<string, Cell>();
  readonly #workers = new Map<WorkerId | 0, Cell>();
  readonly #tags = new Map<string, Cell>();
  /** Of what has no tag whose key begins so; from the first end of one that has. */
  readonly #without = new Map<string, Cell>();
  readonly #allowance: Allowance;
  /** From which index on tasks were added, and when they could first run. */
  readonly #activations: { readonly fromIndex: number; readonly at: number }[] = [];

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  get size(): number {
    return this.#templates.size + this.#workers.size + this.#tags.size + this.#without.size;
  }

  get templates(): ReadonlyMap<string, Cell> {
    return this.#templates;
  }

  /** 0 for those of workers beyond the limit. */
  get workers(): ReadonlyMap<WorkerId | 0, Cell> {
    return this.#workers;
  }

  /** By their keys (tag-sets.ts). */
  get tags(): ReadonlyMap<string, Cell> {
    return this.#tags;
  }

  /** Of ends without a tag whose key begins so (tag-sets.ts). */
  without(prefix: string): Cell {
    return this.#without.get(prefix) ?? this.sum();
  }

  add(end: Ended, buckets: Buckets, { template, worker, tags }: Place): void {
    for (const tag of tags) if (!this.#tags.has(tag)) this.#tellApart(anyPrefix, prefixIn(tag));
    for (const [prefix, cell] of this.#without) if (!hasAny(tags, prefix)) cell.add(end, buckets);
    this.#templateCell(template).add(end, buckets);
    this.#workerCell(worker).add(end, buckets);
    for (const tag of tags) this.#tagCell(tag).add(end, buckets);
  }

  /** An end that was counted turns out to have been another. */
  retract(outcome: number, { template, worker, tags }: Place): void {
    for (const [prefix, cell] of this.#without) if (!hasAny(tags, prefix)) cell.retract(outcome);
    this.#templateCell(template).retract(outcome);
    this.#workerCell(worker).retract(outcome);
    for (const tag of tags) this.#tagCell(tag).retract(outcome);
  }

  /** All that another has, but when tasks ended and could first run. */
  addAll(others: WorkflowCells): void {
    this.#tellApart(...others.#without.keys());
    for (const [prefix, cell] of this.#without) cell.addAll(others.without(prefix));
    for (const [template, cell] of others.#templates) this.#templateCell(template).addAll(cell);
    for (const [worker, cell] of others.#workers) this.#workerCell(worker).addAll(cell);
    for (const [tag, cell] of others.#tags) this.#tagCell(tag).addAll(cell);
  }

  /** All of it in one. */
  sum(): Cell {
    const sum = new Cell();
    for (const cell of this.#templates.values()) sum.addAll(cell);
    return sum;
  }

  activated(fromIndex: number, at: number): void {
    if (this.#activations.length < statisticsLimits.activationsMax) this.#activations.push({ fromIndex, at });
  }

  get activations(): number {
    return this.#activations.length;
  }

  /** When a task could first run for all that is known of its workflow. */
  activatedAt(index: number): number | undefined {
    for (let at = this.#activations.length - 1; at >= 0; at--) {
      const one = this.#activations[at];
      if (one !== undefined && one.fromIndex <= index) return one.at;
    }
    return undefined;
  }

  /** So far nothing had such a tag: what is without is all that there was. */
  #tellApart(...prefixes: readonly string[]): void {
    for (const prefix of prefixes) {
      if (this.#without.has(prefix)) continue;
      this.#without.set(prefix, this.sum());
      this.#allowance.left--;
    }
  }

  #templateCell(template: string): Cell {
    return this.#templates.get(template) ?? this.#make(this.#templates, template, other, statisticsLimits.templatesMax);
  }

  #workerCell(worker: WorkerId | 0): Cell {
    return this.#workers.get(worker) ?? this.#make(this.#workers, worker, 0, statisticsLimits.workersMax);
  }

  /** How many values of a name are told apart is limited before (tag-sets.ts). */
  #tagCell(tag: string): Cell {
    return this.#tags.get(tag) ?? this.#make(this.#tags, tag, otherOf(tag), Number.POSITIVE_INFINITY);
  }

  /** The cells of the rest are beyond the allowance: a few for each workflow. */
  #make<Key>(cells: Map<Key, Cell>, key: Key, rest: Key, most: number): Cell {
    const isFull = cells.size >= most || this.#allowance.left <= 0;
    const taken = isFull ? rest : key;
    const known = cells.get(taken);
    if (known !== undefined) return known;
    const cell = new Cell();
    cells.set(taken, cell);
    this.#allowance.left--;
    return cell;
  }
}

/** Where an attempt belongs. */
export interface Place {
  readonly template: string;
  readonly worker: WorkerId;
  readonly tags: TagSet;
}
