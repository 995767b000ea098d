/**
 * When running tasks are looked at: most at ages that grow, those with a limit of memory when they ask for it. Owns the
 * schedule and its one timer. Invariants:
 *  1. each queue is in the order of its due times, since all its tasks wait equally long: no sorting, no heap;
 *  2. the timer is armed while any queue holds a living task, or any is planned; tasks that ended are dropped when they
 *     come up;
 *  3. between two looks at a living task is no more than REPEAT_MS, and what the timer is late by.
 */

export type Sampled = { readonly startedMs: number; readonly ended: boolean };

export type SamplerOptions<Task> = {
  readonly nowMs: () => number;
  /** Before the looks of a turn, and after them. */
  readonly before: () => void;
  readonly after: () => void;
  /** Answers when it is to be looked at again, for one that was planned. */
  readonly look: (task: Task) => number | undefined;
};

/** Ages at which a task is looked at; then every REPEAT_MS. */
const AGES_MS = [50, 150, 400, 1_000];
export const REPEAT_MS = 1_000;
/** To wake up costs as much as some looks: rare ones are at common times, those that are due at nearly the same time go along. */
const GRID_MS = 250;
const TICK_MS = 5;
/** Bounds the pause of everything else; the rest follows a moment later. */
const LOOKS_PER_TURN_MAX = 32;
const NEXT_TURN_MS = 2;

type Entry<Task> = { readonly task: Task; readonly dueMs: number };

export class Sampler<Task extends Sampled> {
  private readonly options: SamplerOptions<Task>;
  private readonly queues: Queue<Entry<Task>>[];
  private readonly planned = new Map<Task, number>();
  private timer: NodeJS.Timeout | undefined;
  private timerMs = Number.POSITIVE_INFINITY;

  constructor(options: SamplerOptions<Task>) {
    this.options = options;
    this.queues = [...AGES_MS, REPEAT_MS].map(() => new Queue<Entry<Task>>());
  }

  add(task: Task): void {
    this.arm(this.enqueue(0, task));
  }

  /** One that is looked at when `look` says so. */
  plan(task: Task, pauseMs: number): void {
    this.arm(this.planAfter(task, this.options.nowMs(), pauseMs));
  }

  drop(task: Task): void {
    this.planned.delete(task);
  }

  private enqueue(stage: number, task: Task): number {
    const age = AGES_MS[stage];
    const dueMs = age === undefined ? atGrid(this.options.nowMs() + REPEAT_MS) : task.startedMs + age;
    this.queues[stage]?.push({ task, dueMs });
    return dueMs;
  }

  private planAfter(task: Task, nowMs: number, pauseMs: number): number {
    const dueMs = pauseMs < GRID_MS ? nowMs + pauseMs : atGrid(nowMs + pauseMs);
    this.planned.set(task, dueMs);
    return dueMs;
  }

  private arm(dueMs: number): void {
    if (dueMs >= this.timerMs) return;
    clearTimeout(this.timer);
    this.timerMs = dueMs;
    this.timer = setTimeout(() => this.onTimer(), Math.max(0, dueMs - this.options.nowMs()));
  }

  private onTimer(): void {
    this.timerMs = Number.POSITIVE_INFINITY;
    const untilMs = this.options.nowMs() + TICK_MS;
    const due = [...this.planned].flatMap(([task, dueMs]) => (dueMs <= untilMs ? [task] : []));
    let left = LOOKS_PER_TURN_MAX;
    let isLooking = due.length > 0;
    if (isLooking) this.options.before();
    for (const task of due) if (this.planned.has(task)) this.lookAtPlanned(task);
    for (const [stage, queue] of this.queues.entries()) {
      for (let entry = queue.first(); entry && (entry.task.ended || entry.dueMs <= untilMs); entry = queue.first()) {
        if (!entry.task.ended && left-- <= 0) break;
        queue.shift();
        if (entry.task.ended) continue;
        if (!isLooking) this.options.before();
        isLooking = true;
        if (entry.task.ended) continue;
        this.options.look(entry.task);
        this.enqueue(Math.min(stage + 1, AGES_MS.length), entry.task);
      }
    }
    if (isLooking) this.options.after();
    this.armNext();
  }

  private lookAtPlanned(task: Task): void {
    const nowMs = this.options.nowMs();
    const pauseMs = this.options.look(task);
    if (pauseMs === undefined || task.ended) this.planned.delete(task);
    else this.planAfter(task, nowMs, pauseMs);
  }

  private armNext(): void {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const queue of this.queues) nextMs = Math.min(nextMs, queue.first()?.dueMs ?? nextMs);
    for (const dueMs of this.planned.values()) nextMs = Math.min(nextMs, dueMs);
    if (nextMs < Number.POSITIVE_INFINITY) this.arm(Math.max(nextMs, this.options.nowMs() + NEXT_TURN_MS));
  }
}

const atGrid = (ms: number): number => Math.floor(ms / GRID_MS) * GRID_MS;

/** First in, first out, with a removal that does not move the rest. */
class Queue<Item> {
  private items: Item[] = [];
  private head = 0;

  push(item: Item): void {
    this.items.push(item);
  }

  first(): Item | undefined {
    return this.items[this.head];
  }

  shift(): void {
    this.head += 1;
    if (this.head * 2 < this.items.length) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}
