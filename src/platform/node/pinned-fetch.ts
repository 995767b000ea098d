/** `fetch` for a server of which one has the certificate: nothing else is trusted, and its name does not matter. */
import { Agent, request } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';

/** Trusts this certificate alone, also where others have issued it; whatever name it bears. */
export const pinned = (certificate: string) => ({
  ca: certificate,
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
});

export function pinnedFetch(certificate: string): typeof fetch {
  const agent = new Agent({ keepAlive: true, ...pinned(certificate) });
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { method = 'GET', signal } = init;
      const headers = Object.fromEntries(new Headers(init.headers));
      const call = request(String(input), { agent, method, headers, ...(signal ? { signal } : {}) }, (answer) => {
        const received = new Headers();
        for (const [name, value] of Object.entries(answer.headers)) received.set(name, String(value));
        const status = answer.statusCode ?? 500;
        const isBare = status === 204 || status === 304;
        const body = isBare ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
        if (isBare) answer.resume();
        resolve(new Response(body, { status, headers: received }));
      });
      call.on('error', reject);
      if (init.body instanceof ReadableStream)
        Readable.fromWeb(init.body as WebStream)
          .on('error', reject)
          .pipe(call);
      else call.end(init.body ?? undefined);
    });
}
