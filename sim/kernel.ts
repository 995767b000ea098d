/**
 * The virtual computer: one queue of events, one thread, one time.
 *
 * Owns: the time, the events that are to come, the hash over those that were, the first violation.
 * 1. Events happen in the order of (time, sequence); between two of them no promise is left to run.
 * 2. What was handed to a process that has died never happens; what comes to one that is suspended waits for it.
 * 3. Nothing but the seed decides: no real clock, no randomness, no I/O.
 */
import type { Event, Process } from './process.ts';
import { hashNumber, hashStart, hashText } from './random.ts';
import { Timeline } from './timeline.ts';

/** Virtual times are ms since the epoch, so that they look like those of a real clock. */
export const beginning = 1_700_000_000_000;

/** By its number in PROTOCOL.md, or a word: `liveness`, `core`, `fold`. */
export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`invariant ${invariant}: ${message}`);
    this.name = 'Violation';
    this.invariant = invariant;
  }
}

const drained = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Kernel {
  readonly timeline = new Timeline();
  /** Called after each step, with the process it went into. */
  afterStep: (process: Process) => void = () => {};
  now = beginning;
  steps = 0;
  hash = hashStart;
  violation: Violation | undefined;
  readonly #heap: Event[] = [];
  #sequence = 0;
  #isUndrained = false;

  /** Something happens to a process; without one, it happens to the world. */
  post(process: Process | undefined, delayMs: number, what: string, run: () => void): Event {
    const event = {
      ...{ time: this.now + Math.max(0, delayMs), sequence: ++this.#sequence },
      ...{ process, what, run, isCancelled: false },
    };
    this.#push(event);
    return event;
  }

  note(who: string, what: string): void {
    this.timeline.add(this.now, who, what);
    this.hash = hashText(what, hashNumber(this.now, this.hash));
  }

  fail(invariant: string, message: string): void {
    if (this.violation !== undefined) return;
    this.violation = new Violation(invariant, message);
    this.note('VIOLATION', this.violation.message);
  }

  /** A promise was settled outside of a step: what waits for it has to run before the next event. */
  drainNext(): void {
    this.#isUndrained = true;
  }

  /** Goes on until that time, or until `isOver`, or a violation. */
  async runUntil(time: number, isOver: () => boolean = () => false): Promise<void> {
    while (this.violation === undefined && !isOver()) {
      const next = this.#heap[0];
      if (next === undefined || next.time > time) break;
      this.#pop();
      if (next.isCancelled) continue;
      this.now = next.time;
      this.#happen(next);
      if (!this.#isUndrained) continue;
      this.#isUndrained = false;
      await drained();
    }
    if (this.violation === undefined && !isOver()) this.now = Math.max(this.now, time);
  }

  #happen(event: Event): void {
    const { process, what, run } = event;
    if (process === undefined) return run();
    if (!process.isAlive) return;
    if (process.isSuspended) {
      process.backlog.push(event);
      return;
    }
    this.steps++;
    this.hash = hashText(what, hashNumber(this.now, this.hash));
    this.timeline.add(this.now, process.name, what);
    try {
      run();
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      if (error instanceof Violation) this.violation ??= error;
      else this.fail('18', `${process.name} threw on ${what}: ${text}`);
    }
    if (process.isAsync) this.#isUndrained = true;
    this.afterStep(process);
  }

  /** What waited for a suspended process happens to it in the order in which it came. */
  resume(process: Process): void {
    process.isSuspended = false;
    const waiting = process.backlog.splice(0);
    for (const event of waiting) {
      event.time = this.now;
      event.sequence = ++this.#sequence;
      this.#push(event);
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Event;
      if (!isBefore(event, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Event)) child++;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Event, b: Event): boolean => a.time < b.time || (a.time === b.time && a.sequence < b.sequence);
