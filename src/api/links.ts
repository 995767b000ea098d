/** Who may open a WebSocket here, and what comes of it: the links of native workers, and streams of events. */
import type { ControllerShell } from '../controller/shell.ts';
import { DroverError } from '../model/errors.ts';
import type { LinkListener, PacedLink } from '../platform/env.ts';
import { eventFields } from '../protocol/filter/fields.ts';
import { controlPath, outputPath } from '../protocol/worker.ts';
import { accessTo, mustBeAllowed, type RouteAccess, workerLinks } from './access.ts';
import { eventCursor, printCursor } from './events/cursor.ts';
import type { EventSink, EventStreams } from './events/streams.ts';
import type { Gate } from './gate.ts';
import { filterOf } from './query/list-query.ts';
import { eventStreamPath, streamParameters } from './routes/event-streams.ts';

/** What a visitor brings along. */
export interface LinkVisitor {
  /** With its query string. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly peer: string | undefined;
}

export type LinkAdmission =
  | ((link: PacedLink) => LinkListener)
  | { readonly error: DroverError; readonly status?: number };

export interface LinkServices {
  readonly shell: ControllerShell;
  readonly gate: Gate;
  readonly streams: EventStreams;
}

export function admitLink(services: LinkServices, { path, authorization, peer }: LinkVisitor): LinkAdmission {
  const { shell, gate, streams } = services;
  const isStream = path.split('?', 1)[0] === eventStreamPath;
  if (!isStream && path !== controlPath && path !== outputPath) {
    return { status: 404, error: new DroverError('bad-input', 'no links are served there') };
  }
  try {
    const access: RouteAccess | undefined = isStream ? accessTo('GET', eventStreamPath) : workerLinks;
    const identity = gate.admit(authorization, peer);
    mustBeAllowed(identity.role, access, isStream ? 'the stream of events' : 'the link of a worker');
    if (isStream) streams.mustHaveRoom();
    const accept = isStream ? eventLink(services, path) : (link: PacedLink) => shell.acceptLink(link);
    return (link) => {
      const { onText, onClose } = accept(link);
      const forget = gate.keep(identity, link);
      return {
        onText,
        onClose: (why) => {
          forget();
          onClose(why);
        },
      };
    };
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    return { error };
  }
}

/** What the client says is not listened to. */
function eventLink({ shell, streams }: LinkServices, path: string): (link: PacedLink) => LinkListener {
  const filter = filterOf(path, streamParameters, eventFields, shell.now());
  const wanted = new URLSearchParams(path.split('?')[1]).get('after') ?? 'now';
  return (link) => {
    let stop = (): void => {};
    let isClosed = false;
    eventCursor(shell, wanted)
      .then((after) => {
        if (isClosed) return;
        link.send(JSON.stringify({ cursor: printCursor(after) }));
        const stream = streams.open(filter, after, overLink(link));
        stop = () => stream.stop();
        return stream.ended;
      })
      .then(
        () => link.close('the stream is over'),
        (error: unknown) => link.close(error instanceof DroverError ? `${error.code}: ${error.message}` : 'it failed'),
      );
    return {
      onText: () => {},
      onClose: () => {
        isClosed = true;
        stop();
      },
    };
  };
}

/** An event is a message; a message with `cursor` alone says how far the stream has come. */
const overLink = (link: PacedLink): EventSink => ({
  take: async (events) => {
    for (const { text } of events.slice(0, -1)) link.send(text);
    await link.pass(events.at(-1)?.text ?? '');
  },
  beat: (cursor) => link.pass(JSON.stringify({ cursor: printCursor(cursor) })),
});
