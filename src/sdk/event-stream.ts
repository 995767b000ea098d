/** Events as they happen, over connections that come and go. */
import { DroverError, type ErrorCode } from '../model/errors.ts';
import type { EventView } from '../protocol/views/events.ts';
import { apiPath } from './paths.ts';
import { pause } from './pause.ts';
import type { Transport } from './transport.ts';

export interface EventStreamOptions {
  /** A filter, for example `workflow=w3&state=failed`. */
  readonly where?: string;
  /** The number of the last event that is known, or a cursor; only those to come when it is absent, or `now`. */
  readonly after?: string | number;
  readonly signal?: AbortSignal;
}

/** A controller that has nothing to tell says so every ten seconds. */
const silenceMsMax = 30_000;
const reconnectMs = 250;
const busy: readonly ErrorCode[] = ['too-many-streams', 'too-many-requests'];

/**
 * Without an end, unless `signal` ends it. A connection that breaks is made anew, and goes on behind the last event: none
 * is missed, none comes twice. Throws what the controller refuses, and when it stays away.
 */
export async function* eventStream(transport: Transport, options: EventStreamOptions): AsyncGenerator<EventView, void> {
  const { where, after = 'now', signal } = options;
  let cursor = String(after);
  let hasBegun = false;
  while (!signal?.aborted) {
    const call = new AbortController();
    const abort = (): void => call.abort();
    signal?.addEventListener('abort', abort, { once: true });
    const watchdog = new Watchdog(abort);
    try {
      const body = await transport.stream(apiPath('events/stream', { where, after: cursor }), call.signal);
      hasBegun = true;
      for await (const { id, data } of messagesOf(broken(body), () => watchdog.heard())) {
        cursor = id ?? cursor;
        if (data !== undefined) yield JSON.parse(data) as EventView;
      }
    } catch (error) {
      // One that was let in before, and finds no room any more, waits for it.
      const isBusy = hasBegun && error instanceof DroverError && busy.includes(error.code);
      if (!call.signal.aborted && !isBusy) throw error;
    } finally {
      watchdog.stop();
      signal?.removeEventListener('abort', abort);
      call.abort();
    }
    if (!signal?.aborted) await pause(reconnectMs);
  }
}

/** Ends a connection that is silent for too long: nobody else would. */
class Watchdog {
  private readonly onSilence: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSilence: () => void) {
    this.onSilence = onSilence;
  }

  heard(): void {
    this.stop();
    this.timer = setTimeout(this.onSilence, silenceMsMax);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** A body that breaks is as good as one that ends. */
async function* broken(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const pieces = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch(() => undefined);
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

interface Message {
  readonly id?: string;
  readonly data?: string;
}

/** Server-sent events, as far as our controllers send them: an id, and a line of data or none. */
async function* messagesOf(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<Message, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of body) {
    onBytes();
    text += decoder.decode(piece, { stream: true });
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) yield messageOf(message);
  }
}

function messageOf(text: string): Message {
  let message: Message = {};
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) message = { ...message, id: line.slice(4) };
    else if (line.startsWith('data: ')) message = { ...message, data: line.slice(6) };
  }
  return message;
}
