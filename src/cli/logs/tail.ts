/** Where the last lines of a stream begin. */
import type { Client } from '../../sdk/client.ts';

const bytesMax = { first: 64 * 1024, last: 16 * 1024 * 1024 } as const;

export interface Stream {
  readonly task: string;
  readonly stream: 'stdout' | 'stderr';
  readonly attempt: number;
}

/** Looks at more and more from the end; of lines that are longer than 16 MiB together, at those. */
export async function beginOfTail(client: Client, { task, ...which }: Stream, lines: number): Promise<number> {
  for (let tailBytes: number = bytesMax.first; ; tailBytes *= 4) {
    let begin = 0;
    const onBegin = (offset: number): void => {
      begin = offset;
    };
    const pieces = await Array.fromAsync(client.output(task, { ...which, tailBytes, onBegin }));
    const at = beginOfLast(Buffer.concat(pieces), lines);
    if (at !== undefined) return begin + at;
    if (begin === 0 || tailBytes >= bytesMax.last) return begin;
  }
}

/** Undefined when there are fewer. */
export function beginOfLast(data: Uint8Array, lines: number): number | undefined {
  if (lines === 0) return data.length;
  const newline = 0x0a;
  // The end of the last line is no beginning of another one.
  let at = data.at(-1) === newline ? data.length - 1 : data.length;
  for (let left = lines; left > 0; left--) {
    at = at === 0 ? -1 : data.lastIndexOf(newline, at - 1);
    if (at < 0) return undefined;
  }
  return at + 1;
}
