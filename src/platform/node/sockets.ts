/** Links over WebSocket: workers connect, controllers accept on the server that also speaks HTTP. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { DroverError } from '../../model/errors.ts';
import { frameBytesAccepted, linkBacklogBytesMax } from '../../model/limits.ts';
import type { LinkListener, Net, PacedLink } from '../env.ts';
import { pinned } from './pinned-fetch.ts';

/** A peer that answers no ping for two of these is gone, whatever TCP believes. */
const pingMs = 5_000;

function asLink(socket: WebSocket): PacedLink {
  return {
    send(text) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      if (socket.bufferedAmount > linkBacklogBytesMax) {
        socket.terminate();
        return false;
      }
      socket.send(text);
      return true;
    },
    pass: (text) => new Promise((resolve) => socket.send(text, () => resolve())),
    close(why) {
      socket.close(1000, why.slice(0, 100));
    },
    hold(isHeld) {
      if (isHeld) socket.pause();
      else socket.resume();
    },
  };
}

const textOf = (data: RawData): string =>
  Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data as Buffer).toString();

/** Tells the listener of texts and of the end, exactly once, and watches that the peer is alive. */
function listen(socket: WebSocket, listener: LinkListener): void {
  let isAnswered = true;
  const pings = setInterval(() => {
    // Opening has a limit of its own; and to ping before would throw, and end the process.
    if (socket.readyState === WebSocket.CONNECTING) return;
    if (!isAnswered) return socket.terminate();
    isAnswered = false;
    socket.ping();
  }, pingMs);
  let why = 'the connection was closed';
  socket.on('pong', () => {
    isAnswered = true;
  });
  socket.on('message', (data) => {
    isAnswered = true;
    // Once this end has said that it closes, nothing of the other counts: it may never close, and go on sending.
    if (socket.readyState === WebSocket.OPEN) listener.onText(textOf(data));
  });
  socket.on('error', (error) => {
    why = error.message;
  });
  socket.on('close', () => {
    clearInterval(pings);
    listener.onClose(why);
  });
}

export const webSocketNet: Net = {
  connect({ url, token, certificate }, listener) {
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: frameBytesAccepted,
      perMessageDeflate: false,
      handshakeTimeout: 5_000,
      ...(certificate === undefined ? {} : pinned(certificate)),
    });
    socket.on('open', () => listener.onOpen());
    listen(socket, listener);
    return asLink(socket);
  },
};

export interface LinkRefusal {
  readonly error: DroverError;
  /** Where it is not that of the error. */
  readonly status?: number;
}

export interface Visitor {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly peer: string | undefined;
}

export interface LinkAcceptor {
  /** What becomes of a link, or why there is none. */
  admit(visitor: Visitor): ((link: PacedLink) => LinkListener) | LinkRefusal;
  /** For the operator's log: who was refused, and whose link broke. */
  onTrouble(facts: object, message: string): void;
}

export function acceptLinks(server: Server, { admit, onTrouble }: LinkAcceptor): { closeAll(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: frameBytesAccepted, perMessageDeflate: false });
  const answer = (raw: Duplex, from: object, refusal: LinkRefusal): void => {
    onTrouble(
      { ...from, status: refusal.status ?? refusal.error.status, why: refusal.error.message },
      'a link was refused',
    );
    refuseUpgrade(raw, refusal);
  };
  sockets.on('wsClientError', ({ message }, raw, { url: path }) =>
    answer(raw, { path }, { error: new DroverError('bad-input', message) }),
  );
  server.on('upgrade', (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    // Without a listener a peer that resets the connection would end the process.
    raw.on('error', () => raw.destroy());
    const path = request.url ?? '/';
    const { remoteAddress: peer } = request.socket;
    const from = { path: path.slice(0, 100), peer };
    const admitted = admit({ path, authorization: request.headers.authorization, peer });
    if (typeof admitted !== 'function') return answer(raw, from, admitted);
    sockets.handleUpgrade(request, raw, head, (socket) => {
      socket.on('error', ({ message: why }) => onTrouble({ ...from, why }, 'a link broke'));
      listen(socket, admitted(asLink(socket)));
    });
  });
  return {
    closeAll: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

function refuseUpgrade(raw: Duplex, { error, status = error.status }: LinkRefusal): void {
  const { code, message, hint } = error;
  const body = JSON.stringify({ error: { code, message, hint } });
  const headers = `Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  // Not to linger until the other end closes, too.
  raw.end(`HTTP/1.1 ${status} Refused\r\n${headers}\r\n\r\n${body}`, () => raw.destroy());
}
