/**
 * The tasks of a workflow that may be launched, by their needs; those of one need in the order in which they are.
 * A task may be there more than once, or no longer be ready: whoever takes one checks.
 */
import { assert } from '../../model/errors.ts';
import { AscendingQueue } from '../columns.ts';

/** Priority, and then how much it unblocks, in powers of two: of two tasks the one with the higher level goes first. */
export type Level = number;

const unblocksLevels = 64;

export const levelOf = (priority: number, continuations: number): Level =>
  priority * unblocksLevels + (32 - Math.clz32(continuations));

export const priorityOf = (level: Level): number => Math.floor(level / unblocksLevels);

interface TasksOfLevel {
  level: Level;
  readonly tasks: AscendingQueue;
}

/** By level, the highest first, then by id. */
export class ReadyQueue {
  /** The number of its need. */
  readonly need: number;
  /** The highest is the last. None is empty, except where there is no other. */
  readonly #levels: TasksOfLevel[] = [{ level: 0, tasks: new AscendingQueue() }];

  constructor(need: number) {
    this.need = need;
  }

  get size(): number {
    let size = 0;
    for (const { tasks } of this.#levels) size += tasks.size;
    return size;
  }

  get isEmpty(): boolean {
    return this.#levels.length === 1 && this.#top.tasks.size === 0;
  }

  /** Of the first. */
  get level(): Level {
    return this.#top.level;
  }

  peek(): number | undefined {
    return this.#top.tasks.peek();
  }

  push(level: Level, task: number): void {
    const top = this.#top;
    if (top.level !== level && this.isEmpty) top.level = level;
    if (top.level === level) top.tasks.push(task);
    else this.#at(level).tasks.push(task);
  }

  pop(): number {
    const { tasks } = this.#top;
    const task = tasks.pop();
    if (tasks.size === 0 && this.#levels.length > 1) this.#levels.pop();
    return task;
  }

  /** How many there are of that level and of higher ones; entries that no longer hold are counted, too. */
  sizeFrom(level: Level): number {
    let size = 0;
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const one = this.#levels[at] as TasksOfLevel;
      if (one.level < level) break;
      size += one.tasks.size;
    }
    return size;
  }

  /** How many go before a task of that level; of those that did not come in order, no more than so many are looked at. */
  sizeBefore(level: Level, task: number, looksMax: number): number {
    const own = this.#levels.find((one) => one.level === level);
    return this.sizeFrom(level + 1) + (own?.tasks.countBelow(task, looksMax) ?? 0);
  }

  /** Those of a higher level first; not to be changed meanwhile. */
  *values(): Generator<number> {
    for (let at = this.#levels.length - 1; at >= 0; at--) yield* this.#levels[at]?.tasks.values() ?? [];
  }

  get #top(): TasksOfLevel {
    return this.#levels[this.#levels.length - 1] as TasksOfLevel;
  }

  #at(level: Level): TasksOfLevel {
    let [from, to] = [0, this.#levels.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#levels[middle] as TasksOfLevel).level < level) from = middle + 1;
      else to = middle;
    }
    const found = this.#levels[from];
    if (found?.level === level) return found;
    const added = { level, tasks: new AscendingQueue() };
    this.#levels.splice(from, 0, added);
    return added;
  }
}

export class ReadyTasks {
  readonly #queues = new Map<number, ReadyQueue>();
  /** Neighbours mostly have the same need. */
  #last: ReadyQueue | undefined;

  get isEmpty(): boolean {
    for (const queue of this.#queues.values()) if (!queue.isEmpty) return false;
    return true;
  }

  /** Those that have something, and maybe others. */
  queues(): Iterable<ReadyQueue> {
    return this.#queues.values();
  }

  push(need: number, level: Level, task: number): void {
    this.#queue(need).push(level, task);
  }

  queue(need: number): ReadyQueue | undefined {
    return this.#last?.need === need ? this.#last : this.#queues.get(need);
  }

  /** Nothing of that need is left. */
  forget(queue: ReadyQueue): void {
    assert(queue.isEmpty, 'what is forgotten has nothing left');
    if (this.#queues.size === 1) return;
    this.#queues.delete(queue.need);
    if (this.#last === queue) this.#last = undefined;
  }

  #queue(need: number): ReadyQueue {
    let queue = this.queue(need);
    if (queue === undefined) {
      queue = new ReadyQueue(need);
      this.#queues.set(need, queue);
    }
    this.#last = queue;
    return queue;
  }
}
