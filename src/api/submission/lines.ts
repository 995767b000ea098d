/** The lines of a stream, as they come. Memory is bounded by one line and one piece of the stream. */
import { DroverError } from '../../model/errors.ts';
import { ndjsonLineBytesMax } from '../../model/limits.ts';

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

const lineFeed = 0x0a;

/** Blank lines are passed over, and counted. */
export async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void> {
  let [number, size] = [0, 0];
  let parts: Uint8Array[] = [];
  const take = (): Line[] => {
    number++;
    const text = decoded(Buffer.concat(parts), number).trim();
    [parts, size] = [[], 0];
    return text === '' ? [] : [{ number, text }];
  };
  for await (const piece of source) {
    let from = 0;
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, from)) {
      parts.push(piece.subarray(from, end));
      yield* take();
      from = end + 1;
    }
    const rest = piece.subarray(from);
    size += rest.length;
    if (size > ndjsonLineBytesMax) throw tooLong(number + 1);
    if (rest.length > 0) parts.push(rest);
  }
  if (parts.length > 0) yield* take();
}

function decoded(bytes: Uint8Array, number: number): string {
  if (bytes.length > ndjsonLineBytesMax) throw tooLong(number);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DroverError('bad-input', `line ${number} is not UTF-8`, { details: { line: number } });
  }
}

const tooLong = (number: number): DroverError =>
  new DroverError('too-large', `line ${number} has more than ${ndjsonLineBytesMax} bytes`, {
    details: { line: number },
  });
