/** Links over WebSocket: workers connect, controllers accept on the server that also speaks HTTP. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { frameBytesAccepted, linkBacklogBytesMax } from '../../model/limits.ts';
import type { Link, LinkListener, Net } from '../env.ts';

/** A peer that answers no ping for two of these is gone, whatever TCP believes. */
const pingMs = 5_000;

function asLink(socket: WebSocket): Link {
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
    close(why) {
      socket.close(1000, why.slice(0, 100));
    },
  };
}

const textOf = (data: RawData): string =>
  Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data as Buffer).toString();

/** Tells the listener of texts and of the end, exactly once, and watches that the peer is alive. */
function listen(socket: WebSocket, listener: LinkListener): void {
  let isAnswered = true;
  const pings = setInterval(() => {
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
    listener.onText(textOf(data));
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
    const pinned = certificate === undefined ? {} : { ca: certificate, checkServerIdentity: () => undefined };
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: frameBytesAccepted,
      perMessageDeflate: false,
      handshakeTimeout: 5_000,
      ...pinned,
    });
    socket.on('open', () => listener.onOpen());
    listen(socket, listener);
    return asLink(socket);
  },
};

export interface LinkAcceptor {
  /** The status to refuse with, or undefined to accept. */
  refuse(path: string, authorization: string | undefined): number | undefined;
  onLink(path: string, link: Link): LinkListener;
}

export function acceptLinks(server: Server, { refuse, onLink }: LinkAcceptor): { closeAll(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: frameBytesAccepted, perMessageDeflate: false });
  server.on('upgrade', (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    // Without a listener a peer that resets the connection would end the process.
    raw.on('error', () => raw.destroy());
    const path = request.url ?? '/';
    const status = refuse(path, request.headers.authorization);
    if (status !== undefined) {
      raw.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, raw, head, (socket) => listen(socket, onLink(path, asLink(socket))));
  });
  return {
    closeAll: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}
