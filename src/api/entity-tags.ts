/**
 * Reads are tagged, and who has the same already gets 304 and no body. The tag is a digest of the answer itself: nothing
 * that a reader could see can change without it, at the price that an answer is made before it is found to be known.
 */
import type { App } from './app.ts';

export function tagReads(app: App, digest: (text: string) => string): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    const tag = `W/"${digest(payload)}"`;
    reply.header('etag', tag);
    if (!isKnown(request.headers['if-none-match'], tag)) return payload;
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return null;
  });
}

/** Weakly compared, as the standard has it for reads: `W/` makes no difference. */
function isKnown(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false;
  const bare = (text: string): string => text.trim().replace(/^W\//, '');
  return known.trim() === '*' || known.split(',').some((one) => bare(one) === bare(tag));
}
