/** So many followers of one task, in a process of their own: what each of them got, and how late, as JSON. */
import { createHash } from 'node:crypto';
import { clientOf } from './access.ts';
import { quantilesOf } from './quantiles.ts';

const [access = '', task = '', count = '1'] = process.argv.slice(2);
const delaysMs: number[] = [];

/** The first line of a piece says when it was printed: it has waited for the longest time. */
function delayOf(piece: Uint8Array): number | undefined {
  const time = Number.parseInt(Buffer.from(piece.subarray(0, 20)).toString('latin1'), 10);
  return time > 1e12 ? Date.now() - time : undefined;
}

async function follow(): Promise<{ readonly bytes: number; readonly digest: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of clientOf(access).output(task, { stream: 'stdout', follow: true })) {
    // The first piece is what was written before it followed.
    const delay = bytes === 0 ? undefined : delayOf(piece);
    if (delay !== undefined) delaysMs.push(delay);
    bytes += piece.length;
    hash.update(piece);
  }
  return { bytes, digest: hash.digest('hex') };
}

const followed = await Promise.all(Array.from({ length: Number(count) }, follow));
process.stdout.write(`${JSON.stringify({ followed, delaysMs: quantilesOf(delaysMs) })}\n`);
