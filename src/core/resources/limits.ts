/**
 * How much may run at a time: of what all workflows share (licences), and of a workflow, a template, a tag.
 *
 * Owns: the limits of the cluster, what unended attempts take of each limit, and which workflows wait for one.
 * Does not own: the limits of a workflow, which its record has, and how many of its tasks are with a worker.
 * 1. What is in use is the sum over all attempts that are recorded and have not ended, by the present needs of their tasks.
 * 2. A workflow that was refused waits until something of what refused it is given back, or the limit is changed.
 * 3. Nothing is admitted beyond a limit; one that is lowered takes nothing back.
 */
import type { WorkflowId } from '../../model/ids.ts';
import type { Need } from '../../model/need.ts';
import type { WorkflowRecord } from '../workflow/record.ts';

/** Amounts may be fractions, and are counted in whole numbers: three thirds of one would not come to zero again. */
const parts = 1_000_000;
const partsOf = (amount: number): number => Math.round(amount * parts);

const none: readonly string[] = [];

const isFull = ({ concurrency, live }: WorkflowRecord): boolean =>
  concurrency?.workflow !== undefined && live >= concurrency.workflow;

export interface LimitState {
  readonly name: string;
  /** Undefined: there is no end. */
  readonly max: number | undefined;
  readonly used: number;
  /** Workflows that have tasks waiting for it. */
  readonly waiting: number;
}

/** Which limit keeps a task from being launched. */
export type Refusal =
  | { readonly kind: 'cluster'; readonly name: string }
  | { readonly kind: 'workflow' }
  | { readonly kind: 'group'; readonly name: string };

export function describeRefusal(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'cluster':
      return `the limit '${refusal.name}'`;
    case 'workflow':
      return 'how many tasks of its workflow may run at a time';
    case 'group':
      return `how many tasks of ${refusal.name} may run at a time`;
  }
}

export class Limits {
  readonly #max = new Map<string, number>();
  /** In parts. */
  readonly #used = new Map<string, number>();
  readonly #groups = new Map<WorkflowId, Map<string, number>>();
  /** By the limit of the cluster; and those that wait for one of their own. */
  readonly #waiting = new Map<string, Set<WorkflowRecord>>();
  readonly #waitingOwn = new Set<WorkflowRecord>();
  #woken: WorkflowRecord[] = [];

  has(name: string): boolean {
    return this.#max.has(name);
  }

  /** Those that were set, and those that tasks with a worker have named; in the order of their names. */
  list(): LimitState[] {
    return [...new Set([...this.#max.keys(), ...this.#used.keys()])].sort().map((name) => this.get(name));
  }

  get(name: string): LimitState {
    const used = (this.#used.get(name) ?? 0) / parts;
    return { name, max: this.#max.get(name), used, waiting: this.#waiting.get(name)?.size ?? 0 };
  }

  get size(): number {
    return this.#max.size;
  }

  set(name: string, max: number | undefined): void {
    if (max === undefined) this.#max.delete(name);
    else this.#max.set(name, max);
    this.#wake(name);
  }

  /** Its limits are others now. */
  changed(workflow: WorkflowRecord): void {
    if (this.#waitingOwn.delete(workflow)) this.#woken.push(workflow);
  }

  usedOf(workflow: WorkflowId, group: string): number {
    return this.#groups.get(workflow)?.get(group) ?? 0;
  }

  admits(workflow: WorkflowRecord, need: Need): boolean {
    return this.refusalOf(workflow, need) === undefined;
  }

  /** The first that there is. */
  refusalOf(workflow: WorkflowRecord, need: Need): Refusal | undefined {
    const { concurrency } = workflow;
    if (concurrency !== undefined) {
      if (isFull(workflow)) return { kind: 'workflow' };
      for (const name of need.groups ?? none) if (this.#isGroupFull(workflow, name)) return { kind: 'group', name };
    }
    for (const name in need.limits) {
      if (this.#isShort(name, need.limits[name] ?? 0)) return { kind: 'cluster', name };
    }
    return undefined;
  }

  /** All of them, for people. */
  refusalsOf(workflow: WorkflowRecord, need: Need): Refusal[] {
    const groups = (need.groups ?? none).filter((name) => this.#isGroupFull(workflow, name));
    const short = Object.entries(need.limits ?? {}).filter(([name, amount]) => this.#isShort(name, amount));
    return [
      ...(isFull(workflow) ? [{ kind: 'workflow' } as const] : []),
      ...groups.map((name) => ({ kind: 'group', name }) as const),
      ...short.map(([name]) => ({ kind: 'cluster', name }) as const),
    ];
  }

  #isGroupFull({ id, groupMax }: WorkflowRecord, name: string): boolean {
    const max = groupMax.get(name);
    return max !== undefined && this.usedOf(id, name) >= max;
  }

  #isShort(name: string, amount: number): boolean {
    const max = this.#max.get(name);
    return max !== undefined && (this.#used.get(name) ?? 0) + partsOf(amount) > partsOf(max);
  }

  /** It was refused: it is among the woken when that may have changed. */
  wait(workflow: WorkflowRecord, refusal: Refusal): void {
    if (refusal.kind !== 'cluster') {
      this.#waitingOwn.add(workflow);
      return;
    }
    const waiting = this.#waiting.get(refusal.name);
    if (waiting === undefined) this.#waiting.set(refusal.name, new Set([workflow]));
    else waiting.add(workflow);
  }

  isWaiting(workflow: WorkflowRecord): boolean {
    if (this.#waitingOwn.has(workflow)) return true;
    for (const waiting of this.#waiting.values()) if (waiting.has(workflow)) return true;
    return false;
  }

  /** Workflows that have waited, and may have something to launch now. */
  takeWoken(): readonly WorkflowRecord[] {
    if (this.#woken.length === 0) return this.#woken;
    const woken = this.#woken;
    this.#woken = [];
    return woken;
  }

  /** An attempt of a task with that need is recorded. */
  take(workflow: WorkflowId, need: Need): void {
    this.#count(workflow, need, 1);
  }

  /** It has ended. */
  give(workflow: WorkflowRecord, need: Need): void {
    this.#count(workflow.id, need, -1);
    this.changed(workflow);
    for (const name in need.limits) this.#wake(name);
  }

  #wake(name: string): void {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) return;
    this.#waiting.delete(name);
    this.#woken.push(...waiting);
  }

  #count(workflow: WorkflowId, { groups, limits }: Need, sign: 1 | -1): void {
    if (groups !== undefined) {
      const counts = this.#groups.get(workflow) ?? new Map<string, number>();
      this.#groups.set(workflow, counts);
      for (const group of groups) addTo(counts, group, sign);
      if (counts.size === 0) this.#groups.delete(workflow);
    }
    for (const name in limits) addTo(this.#used, name, sign * partsOf(limits[name] ?? 0));
  }

  /** What is counted, for the check that a recount comes to the same. */
  counted(): unknown {
    const sorted = <V>(map: ReadonlyMap<string, V>): [string, V][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
    const groups = [...this.#groups].sort(([a], [b]) => a - b).map(([workflow, counts]) => [workflow, sorted(counts)]);
    return { used: sorted(this.#used), groups };
  }
}

function addTo(counts: Map<string, number>, name: string, amount: number): void {
  const sum = (counts.get(name) ?? 0) + amount;
  if (sum === 0) counts.delete(name);
  else counts.set(name, sum);
}
