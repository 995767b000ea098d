/**
 * Messages to the worker, one frame per turn of the event loop.
 * Owns what has not been written yet; that is bounded, since each task has at most two messages to come and, while the
 * pipe is full, no starts are read. Invariant: messages leave in the order in which they were sent.
 */

import type { Writable } from 'node:stream';
import type { FromSpawner } from '../protocol/spawner.ts';
import { encodeFrame } from '../protocol/spawner.ts';

export class Outbox {
  private readonly stream: Writable;
  private readonly onBlocked: (blocked: boolean) => void;
  private messages: FromSpawner[] = [];
  private scheduled = false;
  private blocked = false;

  constructor(stream: Writable, onBlocked: (blocked: boolean) => void) {
    this.stream = stream;
    this.onBlocked = onBlocked;
    stream.on('drain', () => {
      this.blocked = false;
      this.onBlocked(false);
      this.schedule();
    });
  }

  send(message: FromSpawner): void {
    this.messages.push(message);
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
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.blocked || this.messages.length === 0) return;
    const frame = encodeFrame(this.messages);
    this.messages = [];
    if (this.stream.write(frame)) return;
    this.blocked = true;
    this.onBlocked(true);
  }
}
