/**
 * The edges between tasks, as linked lists in dense columns: a million edges cost about 20 MB and no objects.
 * Owns: the edges. Does not own: the states of their ends.
 * 1. Every edge is in the list of its parent and in the list of its child.
 * 2. A removed edge stays in the columns as a hole and is in no list.
 */
import { assert } from '../model/errors.ts';
import { type TaskId, taskId } from '../model/ids.ts';
import { type EdgeKind, edgeKinds, type TaskState } from '../model/states.ts';
import type { Edges } from './change.ts';
import { Bytes, Integers } from './columns.ts';

export type EdgeStatus = 'met' | 'unmet' | 'impossible';

type Statuses = Readonly<Record<TaskState, EdgeStatus>>;

const unended: Omit<Statuses, 'done' | 'failed' | 'cancelled' | 'aborted' | 'cancelling'> = {
  registering: 'unmet',
  waiting: 'unmet',
  queued: 'unmet',
  launched: 'unmet',
  running: 'unmet',
  triaging: 'unmet',
  adjusting: 'unmet',
};

/** A task that is being cancelled releases no success-continuation, however it ends. */
const statuses: Readonly<Record<EdgeKind, Statuses>> = {
  success: {
    ...unended,
    cancelling: 'impossible',
    done: 'met',
    failed: 'impossible',
    cancelled: 'impossible',
    aborted: 'impossible',
  },
  any: { ...unended, cancelling: 'unmet', done: 'met', failed: 'met', cancelled: 'met', aborted: 'impossible' },
  failure: {
    ...unended,
    cancelling: 'unmet',
    done: 'impossible',
    failed: 'met',
    cancelled: 'impossible',
    aborted: 'impossible',
  },
};

export const edgeStatus = (after: EdgeKind, parent: TaskState): EdgeStatus => statuses[after][parent];

/** Whether a parent's move from one state to another can mean anything to its continuations. */
export const isTelling = (before: TaskState, after: TaskState): boolean =>
  edgeKinds.some((kind) => statuses[kind][before] !== statuses[kind][after]);

const none = 0;

export class Graph {
  readonly #parents = new Integers();
  readonly #children = new Integers();
  readonly #kinds = new Bytes();
  readonly #nextOfParent = new Integers();
  readonly #nextOfChild = new Integers();
  /** Heads of the lists by task id; edges count from 1. */
  readonly #firstOfParent = new Integers();
  readonly #firstOfChild = new Integers();
  /** Edges out of a task. */
  readonly #continuations = new Integers();
  #last = 0;

  reserve(tasks: number): void {
    this.#firstOfParent.reserve(tasks);
    this.#firstOfChild.reserve(tasks);
    this.#continuations.reserve(tasks);
  }

  add(parent: TaskId, child: TaskId, after: EdgeKind): void {
    const edge = ++this.#last;
    this.#parents.set(edge, parent);
    this.#children.set(edge, child);
    this.#kinds.set(edge, edgeKinds.indexOf(after));
    this.#nextOfParent.set(edge, this.firstFrom(parent));
    this.#nextOfChild.set(edge, this.firstInto(child));
    this.#firstOfParent.set(parent, edge);
    this.#firstOfChild.set(child, edge);
    this.#continuations.set(parent, this.continuations(parent) + 1);
  }

  /** Returns the kind of the edge that was removed, or undefined if there was none. */
  remove(parent: TaskId, child: TaskId): EdgeKind | undefined {
    const edge = this.#find(parent, child);
    if (edge === none) return undefined;
    this.#unlink(this.#firstOfParent, this.#nextOfParent, parent, edge);
    this.#unlink(this.#firstOfChild, this.#nextOfChild, child, edge);
    this.#continuations.set(parent, this.continuations(parent) - 1);
    return this.kindOf(edge);
  }

  has(parent: TaskId, child: TaskId): boolean {
    return this.#find(parent, child) !== none;
  }

  /** How many wait for it, or waited. */
  continuations(parent: TaskId): number {
    return this.#continuations.get(parent) || 0;
  }

  hasParents(child: TaskId): boolean {
    return this.firstInto(child) !== none;
  }

  /** The first edge out of a task, 0 for none; `nextFrom` goes on. For whoever goes over too many edges to have an object for each. */
  firstFrom(parent: TaskId): number {
    return this.#firstOfParent.get(parent) || none;
  }

  nextFrom(edge: number): number {
    return this.#nextOfParent.get(edge);
  }

  /** The first edge into a task, 0 for none; `nextInto` goes on. */
  firstInto(child: TaskId): number {
    return this.#firstOfChild.get(child) || none;
  }

  nextInto(edge: number): number {
    return this.#nextOfChild.get(edge);
  }

  parentOf(edge: number): TaskId {
    return this.#parents.get(edge) as TaskId;
  }

  childOf(edge: number): TaskId {
    return this.#children.get(edge) as TaskId;
  }

  kindOf(edge: number): EdgeKind {
    return edgeKinds[this.#kinds.get(edge)] as EdgeKind;
  }

  *children(parent: TaskId): Generator<{ child: TaskId; after: EdgeKind }> {
    for (let edge = this.firstFrom(parent); edge !== none; edge = this.nextFrom(edge)) {
      yield { child: this.childOf(edge), after: this.kindOf(edge) };
    }
  }

  *parents(child: TaskId): Generator<{ parent: TaskId; after: EdgeKind }> {
    for (let edge = this.firstInto(child); edge !== none; edge = this.nextInto(edge)) {
      yield { parent: this.parentOf(edge), after: this.kindOf(edge) };
    }
  }

  /** A way to a task along edges, from the first of those it can be reached from; both ends included. */
  pathTo(to: TaskId, isStart: (task: TaskId) => boolean): TaskId[] | undefined {
    const next = new Map<TaskId, TaskId>([[to, to]]);
    const open: TaskId[] = [to];
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      if (isStart(task)) return [...wayFrom(task, to, next)];
      for (const { parent } of this.parents(task)) {
        if (next.has(parent)) continue;
        next.set(parent, task);
        open.push(parent);
      }
    }
    return undefined;
  }

  /** Along the child's list: a join has many parents, but edges are removed from it rarely and one at a time. */
  #find(parent: TaskId, child: TaskId): number {
    for (let edge = this.firstInto(child); edge !== none; edge = this.nextInto(edge)) {
      if (this.parentOf(edge) === parent) return edge;
    }
    return none;
  }

  #unlink(first: InstanceType<typeof Integers>, next: InstanceType<typeof Integers>, task: TaskId, edge: number): void {
    let before = first.get(task);
    if (before === edge) {
      first.set(task, next.get(edge));
      return;
    }
    while (next.get(before) !== edge) before = next.get(before);
    next.set(before, next.get(edge));
  }
}

function* wayFrom(from: TaskId, to: TaskId, next: ReadonlyMap<TaskId, TaskId>): Generator<TaskId> {
  for (let task = from; task !== to; task = next.get(task) as TaskId) yield task;
  yield to;
}

/** Each edge of a range of them. */
export function forEachPair({ parents, children }: Edges, take: (parent: TaskId, child: TaskId) => void): void {
  assert(parents.from === parents.to || children.from === children.to, 'edges stay linear in the number of tasks');
  for (let parent: number = parents.from; parent <= parents.to; parent++) {
    for (let child: number = children.from; child <= children.to; child++) take(taskId(parent), taskId(child));
  }
}
