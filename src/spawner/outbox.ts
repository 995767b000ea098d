/**
 * Messages to the worker: one frame per turn of the event loop, or less often while the worker need not hear soon.
 * Owns what has not been written yet; that is bounded, since each task has at most two messages to come and, while the
 * pipe is full, no starts are read and no samples of use are kept. Invariant: messages leave in the order in which they were sent.
 */

import type { Writable } from 'node:stream';
import type { FromSpawner } from '../protocol/spawner.ts';
import { encodeFrame } from '../protocol/spawner.ts';

export type OutboxOptions = {
  readonly onBlocked: (blocked: boolean) => void;
  /** Whether messages may wait for others. */
  readonly mayWait: () => boolean;
  /** What is to be said beside the messages at this moment. */
  readonly atLast: () => readonly FromSpawner[];
  /** Whether there is something of that kind that has to be said later. */
  readonly hasMore: () => boolean;
};

/** A fraction of what the worker sends ahead. Each frame wakes the worker, which costs as much as many messages. */
const WAIT_MS = 15;

export class Outbox {
  private readonly stream: Writable;
  private readonly options: OutboxOptions;
  private messages: FromSpawner[] = [];
  private timer: NodeJS.Timeout | undefined;
  private scheduled = false;
  private blocked = false;

  constructor(stream: Writable, options: OutboxOptions) {
    this.stream = stream;
    this.options = options;
    stream.on('drain', () => {
      this.blocked = false;
      this.options.onBlocked(false);
      this.schedule();
    });
  }

  send(message: FromSpawner): void {
    if (this.blocked && message.t === 'usage') return;
    this.messages.push(message);
    this.schedule();
  }

  /** There is something to add to a frame, if nothing else makes one. */
  wake(): void {
    this.schedule();
  }

  /** Writes the rest, whether or not the pipe has room, and calls back when it is out. */
  finish(done: () => void): void {
    const rest = this.messages.length > 0 ? encodeFrame(this.messages) : '';
    this.messages = [];
    this.stream.write(rest, () => done());
  }

  private schedule(): void {
    if (this.scheduled || this.blocked) return;
    if (this.options.mayWait()) {
      this.timer ??= setTimeout(() => this.flush(), WAIT_MS);
      return;
    }
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.blocked) return;
    const messages = [...this.messages, ...this.options.atLast()];
    this.messages = [];
    if (this.options.hasMore()) this.schedule();
    if (messages.length === 0) return;
    const frame = encodeFrame(messages);
    if (this.stream.write(frame)) return;
    this.blocked = true;
    this.options.onBlocked(true);
  }
}
