/** The history as a stream: what happened from a cursor on, and then what happens, without an end. */
import { Type } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { eventStreamLimits } from '../../model/limits.ts';
import { eventFields } from '../../protocol/filter/fields.ts';
import type { ApiOptions, App } from '../app.ts';
import { eventCursor, printCursor } from '../events/cursor.ts';
import type { EventSink, EventStreams, EventText } from '../events/streams.ts';
import { filterOf } from '../query/list-query.ts';

export const eventStreamPath = '/api/v1/events/stream';

export const StreamQuery = Type.Object({
  where: Type.Optional(Type.String({ description: 'a filter, percent-encoded as a whole' })),
  after: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'the `id` of the last event that is known, or its number; `now`, as without it: only what comes. `Last-Event-ID` comes first',
    }),
  ),
});

/** The parameters that are no clauses of its filter. */
export const streamParameters = Object.keys(StreamQuery.properties);

export function registerEventStreams(app: App, { shell, gate }: ApiOptions, streams: EventStreams): void {
  app.get(
    eventStreamPath,
    {
      config: { filters: 'events' },
      schema: {
        summary: 'Follow the history as server-sent events, or over a WebSocket',
        description:
          'The `id` of each event is its number and its time. A stream that breaks is gone on with by `Last-Event-ID` or `after`: nothing is missed, nothing comes twice.',
        querystring: StreamQuery,
        produces: 'text/event-stream',
      },
    },
    async (request, reply) => {
      const filter = filterOf(request.url, streamParameters, eventFields, shell.now());
      const known = request.headers['last-event-id'];
      const cursor = (typeof known === 'string' && known !== '' ? known : request.query.after) ?? 'now';
      const after = await eventCursor(shell, cursor);
      streams.mustHaveRoom();
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(`retry: ${eventStreamLimits.retryMs}\nid: ${printCursor(after)}\n\n`);
      const stream = streams.open(filter, after, serverSent(raw));
      const forget = gate.keep(request.identity, { close: () => stream.stop() });
      raw.once('close', () => stream.stop());
      stream.ended
        .catch(() => undefined)
        .finally(() => {
          forget();
          raw.end();
        });
    },
  );
}

type Raw = FastifyReply['raw'];

/** As they are sent, made once for all streams. */
const messages = new WeakMap<EventText, string>();

function messageOf(event: EventText): string {
  const known = messages.get(event);
  if (known !== undefined) return known;
  const message = `id: ${printCursor(event)}\ndata: ${event.text}\n\n`;
  messages.set(event, message);
  return message;
}

const serverSent = (raw: Raw): EventSink => ({
  take: (events) => written(raw, events.map(messageOf).join('')),
  // An id without data moves the cursor of the client, and is no event.
  beat: (cursor) => written(raw, `: nothing new\nid: ${printCursor(cursor)}\n\n`),
});

/** Resolves when there is room for more, or nobody left to take it. */
function written(raw: Raw, text: string): Promise<void> {
  if (raw.destroyed || raw.write(text)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off('drain', done).off('close', done);
      resolve();
    };
    raw.on('drain', done).on('close', done);
  });
}
