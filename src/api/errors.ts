/** Whatever goes wrong with a request, as an answer with a code, a message and a hint. */
import { DroverError } from '../model/errors.ts';
import type { ErrorBody } from '../protocol/views/requests.ts';

export const bodyOf = ({ code, message, hint, details }: DroverError): ErrorBody => ({
  error: { code, message, hint, ...(details === undefined ? {} : { details }) },
});

export function asDroverError(error: unknown): DroverError {
  if (error instanceof DroverError) return error;
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  if (statusCode === 413) return new DroverError('too-large', 'the request is too large');
  if (statusCode !== undefined && statusCode < 500)
    return new DroverError('bad-input', message ?? 'the request is malformed');
  return new DroverError('bug', message ?? String(error), { cause: error });
}

/** What Node's parser refuses, by its codes: the status, and what to tell. */
const brokenRequests: Readonly<Record<string, readonly [status: string, error: DroverError]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    new DroverError('too-large', 'the headers of the request are too large', { hint: 'send what is long in the body' }),
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    new DroverError('bad-input', 'the request took too long to arrive', { hint: 'send all of it at once' }),
  ],
};
const notHttp = ['400 Bad Request', new DroverError('bad-input', 'what came is not a request of HTTP')] as const;

interface Connection {
  readonly writable: boolean;
  end(text: string, onOut: () => void): unknown;
  destroy(): unknown;
}

/** For a connection on which no request came to be. */
export function answerBroken(error: Error & { readonly code?: string }, socket: Connection): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, known] = brokenRequests[error.code ?? ''] ?? notHttp;
  const body = JSON.stringify(bodyOf(known));
  const headers = `Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  // Not to linger until the other end closes, too.
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`, () => socket.destroy());
}
