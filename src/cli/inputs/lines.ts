/**
 * Cuts a stream of bytes into lines of checked UTF-8. Memory is bounded by one piece of the stream and one line.
 * A line may end with LF or CRLF, the last one also with the stream.
 */
import { DroverError } from '../../model/errors.ts';
import { showBytes } from '../../model/units.ts';

export interface Line {
  /** Counts from 1. */
  readonly number: number;
  readonly text: string;
}

const lineFeed = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `name` is how errors call the stream. */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  name: string,
  lineBytesMax: number,
): AsyncGenerator<Line, void> {
  let rest: Uint8Array = new Uint8Array();
  let number = 0;
  for await (const piece of source) {
    const end = piece.lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      for (const text of decodeLines(join(rest, piece.subarray(0, end - 1)), name, number)) {
        number += 1;
        yield checked(text, number, name, lineBytesMax);
      }
    }
    rest = end > 0 ? piece.slice(end) : join(rest, piece);
    if (rest.length > lineBytesMax + 1) throw tooLong(name, number + 1, lineBytesMax);
  }
  if (rest.length === 0) return;
  for (const text of decodeLines(rest, name, number)) yield checked(text, number + 1, name, lineBytesMax);
}

function join(head: Uint8Array, tail: Uint8Array): Uint8Array {
  if (head.length === 0) return tail;
  const joined = new Uint8Array(head.length + tail.length);
  joined.set(head);
  joined.set(tail, head.length);
  return joined;
}

/** Whole blocks are decoded at once, which is fast; only a bad one is looked through for the line to blame. */
function decodeLines(block: Uint8Array, name: string, linesBefore: number): string[] {
  try {
    return decoder.decode(block).split('\n');
  } catch {
    throw new DroverError('bad-input', `${name}, line ${linesBefore + badLineOf(block)}: not UTF-8`, {
      hint: "a task file is text with a command on each line; is this the right file? 'iconv -f LATIN1 -t UTF-8' converts text",
    });
  }
}

function badLineOf(block: Uint8Array): number {
  let start = 0;
  for (let number = 1; ; number++) {
    const end = block.indexOf(lineFeed, start);
    try {
      decoder.decode(block.subarray(start, end < 0 ? block.length : end));
    } catch {
      return number;
    }
    if (end < 0) return number;
    start = end + 1;
  }
}

function checked(raw: string, number: number, name: string, lineBytesMax: number): Line {
  const unmarked = number === 1 && raw.startsWith('\ufeff') ? raw.slice(1) : raw;
  const text = unmarked.endsWith('\r') ? unmarked.slice(0, -1) : unmarked;
  if (text.length * 3 > lineBytesMax && Buffer.byteLength(text) > lineBytesMax)
    throw tooLong(name, number, lineBytesMax);
  if (text.includes('\0')) {
    throw new DroverError('bad-input', `${name}, line ${number}: has a NUL byte`, {
      hint: 'a task file is text with a command on each line; is this the right file?',
    });
  }
  return { number, text };
}

function tooLong(name: string, number: number, lineBytesMax: number): DroverError {
  return new DroverError('too-large', `${name}, line ${number}: longer than ${showBytes(lineBytesMax)}`, {
    hint: 'put the command into a script and name the script on the line',
  });
}
