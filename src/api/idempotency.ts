/**
 * Requests that may be repeated: the header `Idempotency-Key` names one, and its body is hashed while it is read, so
 * that another request under the same key is told from a repeated one.
 */
import { pipeline, Transform } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { RequestKey } from '../controller/messages.ts';
import { DroverError } from '../model/errors.ts';
import { idempotencyKeyCharsMax } from '../model/limits.ts';
import { idempotencyHeader } from '../protocol/views/requests.ts';
import { accessTo } from './access.ts';
import type { App } from './app.ts';
import type { Hasher, Secrets } from './gate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request that has an idempotency key: takes all that is read of its body. */
    bodyHash: Hasher | undefined;
  }
}

export function registerIdempotency(app: App, secrets: Secrets): void {
  app.decorateRequest('bodyHash', undefined);
  app.addHook('preParsing', async (request, _, payload) => {
    if (keyIn(request) === undefined) return payload;
    const hash = secrets.hasher();
    request.bodyHash = hash;
    const hashing = new Transform({
      transform: (chunk: Uint8Array, _, done) => {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    // What goes wrong on the way is met by whoever reads the end of it.
    return pipeline(payload, hashing, () => {});
  });
}

/** For a request whose body was read. Keys of different askers have nothing to do with each other. */
export function keyOf(request: FastifyRequest): RequestKey | undefined {
  const key = keyIn(request);
  if (key === undefined) return undefined;
  const body = request.bodyHash?.digest() ?? '';
  return { key: `${request.identity.tokenId} ${key}`, digest: `${request.method} ${request.url} ${body}` };
}

function keyIn({ headers, method, routeOptions }: FastifyRequest): string | undefined {
  const key = headers[idempotencyHeader];
  if (key === undefined || routeOptions.url === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key) || key.length > idempotencyKeyCharsMax) {
    throw new DroverError('bad-input', `an idempotency key has 1 to ${idempotencyKeyCharsMax} visible characters`);
  }
  // A stream is taken piece by piece: its first pieces are durable before the last is known.
  const isWhole = /^application\/json\b/.test(headers['content-type'] ?? 'application/json');
  if (isWhole && accessTo(method, routeOptions.url)?.takesKey) return key;
  throw new DroverError('bad-input', `${method} ${routeOptions.url} takes no idempotency key`, {
    hint: 'leave the header away: it would protect from nothing here',
  });
}
