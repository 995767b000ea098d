/**
 * Streams of events: each goes over the history from its cursor on, at the pace of whoever takes it.
 *
 * Owns: which streams there are. Each is a loop that reads a piece, writes what passes, and waits until that is taken.
 * 1. A stream has every change beyond its cursor that passes, once and in order: it moves only over numbers without gaps.
 * 2. What waits for a reader is one piece. One who falls behind reads the store, block by block; the controller waits for none.
 * 3. Only what is durable is told.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import type { Change } from '../../core/change.ts';
import { DroverError } from '../../model/errors.ts';
import { eventStreamLimits as limits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import { breath } from '../query/breath.ts';
import { HistoryBlocks, type HistoryPart } from './blocks.ts';
import type { EventCursor } from './cursor.ts';
import { type EventTests, eventTests, select } from './selection.ts';
import { EventTail } from './tail.ts';
import { renderEvent } from './view.ts';

/** An event, rendered. */
export interface EventText extends EventCursor {
  readonly text: string;
}

/** Who takes a stream. Both resolve when there is room for more. */
export interface EventSink {
  take(events: readonly EventText[]): Promise<void>;
  /** There is no news, and all up to there was looked at. */
  beat(cursor: EventCursor): Promise<void>;
}

export interface EventStream {
  /** Resolves when it is over: stopped, or the controller ends. */
  readonly ended: Promise<void>;
  stop(): void;
}

export class EventStreams {
  readonly #shell: ControllerShell;
  readonly #tail: EventTail;
  readonly #blocks: HistoryBlocks;
  readonly #rendered = new WeakMap<Change, EventText>();
  readonly #open = new Set<EventStream>();

  constructor(shell: ControllerShell) {
    this.#shell = shell;
    this.#tail = new EventTail(shell);
    this.#blocks = new HistoryBlocks(shell);
  }

  /** Throws where there are as many as may be: ask before anything is promised. */
  mustHaveRoom(): void {
    if (this.#open.size < limits.streamsMax) return;
    throw new DroverError('too-many-streams', `there are ${limits.streamsMax} streams of events already`, {
      details: { retryAfterMs: limits.retryMs },
    });
  }

  open(filter: Filter, after: EventCursor, sink: EventSink): EventStream {
    let isOver = false;
    const waker = new Waker();
    const stopReading = this.#tail.read(() => waker.wake());
    const run = { tests: eventTests(filter), sink, waker, isOver: () => isOver };
    const stream: EventStream = {
      ended: this.#run(run, after).finally(() => {
        stopReading();
        this.#open.delete(stream);
        if (this.#open.size === 0) this.#blocks.forget();
      }),
      stop: () => {
        isOver = true;
        waker.wake();
      },
    };
    this.#open.add(stream);
    return stream;
  }

  closeAll(): void {
    for (const stream of this.#open) stream.stop();
  }

  async #run(run: Run, after: EventCursor): Promise<void> {
    let cursor = after;
    let toldAt = this.#shell.now();
    while (!run.isOver()) {
      const part = this.#tail.after(cursor.seq) ?? (await this.#blocks.after(cursor.seq));
      const { entries } = part;
      const events = entries.length === 0 ? [] : await this.#texts(run.tests, part);
      if (run.isOver()) return;
      cursor = entries.at(-1) ?? cursor;
      const now = this.#shell.now();
      if (events.length > 0) await tell(run.sink, events);
      else if (now - toldAt >= limits.heartbeatMs) await run.sink.beat(cursor);
      if (events.length > 0 || now - toldAt >= limits.heartbeatMs) toldAt = this.#shell.now();
      if (entries.length === limits.changesAtOnce) await breath();
      else if (entries.length > 0) await run.waker.pause(limits.gatherMs);
      else await run.waker.news(Math.max(1, toldAt + limits.heartbeatMs - this.#shell.now()));
    }
  }

  /** A change is rendered once, however many read of it. */
  async #texts(tests: EventTests, part: HistoryPart): Promise<EventText[]> {
    const { cluster } = this.#shell.controller;
    const { passing, attempts } = await select(this.#shell, tests, part.entries, part.attempts);
    return passing.map((entry) => {
      const known = this.#rendered.get(entry.change);
      if (known !== undefined) return known;
      const { seq, at } = entry;
      const event = { seq, at, text: JSON.stringify(renderEvent(cluster, entry, attempts)) };
      this.#rendered.set(entry.change, event);
      return event;
    });
  }
}

interface Run {
  readonly tests: EventTests;
  readonly sink: EventSink;
  readonly waker: Waker;
  isOver(): boolean;
}

/** In pieces of a bounded size. */
async function tell(sink: EventSink, events: readonly EventText[]): Promise<void> {
  let from = 0;
  let characters = 0;
  for (const [at, { text }] of events.entries()) {
    characters += text.length;
    if (characters < limits.pieceCharactersMax && at < events.length - 1) continue;
    await sink.take(events.slice(from, at + 1));
    from = at + 1;
    characters = 0;
  }
}

/** Waits for news, and misses none that comes before it waits. */
class Waker {
  #isNews = false;
  #resume: (() => void) | undefined;

  wake(): void {
    this.#isNews = true;
    this.#resume?.();
  }

  /** Until there is news, or for so long. */
  async news(msMax: number): Promise<void> {
    if (!this.#isNews) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, msMax);
        this.#resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#resume = undefined;
    }
    this.#isNews = false;
  }

  /** Whatever happens. */
  async pause(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
