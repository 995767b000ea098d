/**
 * Measures the memory of running tasks at growing intervals. Owns the schedule and its one timer.
 * Invariants:
 *  1. each queue is in the order of its due times, since all its tasks wait equally long: no sorting, no heap;
 *  2. the timer is armed while any queue holds a living task; tasks that ended are dropped when they come up.
 */

export type Sampled = { readonly startedMs: number; readonly ended: boolean };

/** Ages at which a task is measured; then every REPEAT_MS. */
const AGES_MS = [50, 150, 400, 1_000];
const REPEAT_MS = 1_000;
/** Bounds the pause of everything else; the rest follows a moment later. */
const SAMPLES_PER_TURN_MAX = 32;
const NEXT_TURN_MS = 2;

type Entry<Task> = { readonly task: Task; readonly dueMs: number };

export class Sampler<Task extends Sampled> {
  private readonly nowMs: () => number;
  private readonly sample: (task: Task) => void;
  private readonly queues: Queue<Entry<Task>>[];
  private timer: NodeJS.Timeout | undefined;

  constructor(nowMs: () => number, sample: (task: Task) => void) {
    this.nowMs = nowMs;
    this.sample = sample;
    this.queues = [...AGES_MS, REPEAT_MS].map(() => new Queue<Entry<Task>>());
  }

  add(task: Task): void {
    this.enqueue(0, task);
    this.timer ??= setTimeout(() => this.onTimer(), AGES_MS[0]);
  }

  private enqueue(stage: number, task: Task): void {
    const age = AGES_MS[stage];
    this.queues[stage]?.push({ task, dueMs: age === undefined ? this.nowMs() + REPEAT_MS : task.startedMs + age });
  }

  private onTimer(): void {
    const now = this.nowMs();
    let left = SAMPLES_PER_TURN_MAX;
    for (const [stage, queue] of this.queues.entries()) {
      for (let entry = queue.first(); entry && (entry.task.ended || entry.dueMs <= now); entry = queue.first()) {
        if (!entry.task.ended && left-- <= 0) break;
        queue.shift();
        if (entry.task.ended) continue;
        this.sample(entry.task);
        this.enqueue(Math.min(stage + 1, AGES_MS.length), entry.task);
      }
    }
    const nextMs = Math.min(...this.queues.map((queue) => queue.first()?.dueMs ?? Number.POSITIVE_INFINITY));
    this.timer =
      nextMs === Number.POSITIVE_INFINITY
        ? undefined
        : setTimeout(() => this.onTimer(), Math.max(NEXT_TURN_MS, nextMs - this.nowMs()));
  }
}

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
