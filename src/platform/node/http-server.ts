/** The server that speaks HTTP, with or without TLS, and what those who reach its port may take of it. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { httpLimits } from '../../model/limits.ts';
import { descriptorLimit } from './descriptors.ts';

export type HttpLimits = Readonly<Record<keyof typeof httpLimits, number>>;

export interface Tls {
  readonly key: string;
  readonly certificate: string;
}

/** `onDropped`: a connection was closed because there are as many as may be. */
export function makeHttpServer(
  handler: RequestListener,
  tls: Tls | undefined,
  onDropped: () => void,
  limits: HttpLimits = httpLimits,
): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMsMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.idleMsMax,
    connectionsCheckingInterval: limits.checkMs,
  };
  const server =
    tls === undefined
      ? createServer(options, handler)
      : createTlsServer(
          { ...options, key: tls.key, cert: tls.certificate, handshakeTimeout: limits.headersMsMax },
          handler,
        );
  // Who takes all descriptors would take the store's, too.
  server.maxConnections = Math.max(16, Math.min(limits.connectionsMax, descriptorLimit() - limits.descriptorsSpare));
  server.on('drop', onDropped);
  return server;
}
