/** Output of many tasks as lines with the name of their task in front. */
import { printable } from '../display/text.ts';
import type { Output } from '../environment.ts';

/** A line that is longer comes in parts, each with its prefix. */
export const lineBytesMax = 64 * 1024;

const newline = 0x0a;

/** Cuts bytes into lines, of which none is held back for longer than until it is whole, or too long. */
export class LineCutter {
  private rest: Uint8Array = new Uint8Array();

  *take(bytes: Uint8Array): Generator<Uint8Array, void> {
    let data: Uint8Array = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    while (data.length > 0) {
      const end = data.indexOf(newline);
      if (end < 0 && data.length <= lineBytesMax) break;
      const isPart = end < 0 || end > lineBytesMax;
      const to = isPart ? endOfPart(data) : end;
      yield data.subarray(0, to);
      data = data.subarray(isPart ? to : to + 1);
    }
    this.rest = data;
  }

  /** What has no end of its own. */
  *end(): Generator<Uint8Array, void> {
    if (this.rest.length > 0) yield this.rest;
    this.rest = new Uint8Array();
  }
}

/** Not within a character, where it is text. */
function endOfPart(data: Uint8Array): number {
  const isWithin = (at: number): boolean => ((data[at] ?? 0) & 0xc0) === 0x80;
  for (let at = lineBytesMax; at > lineBytesMax - 4; at--) if (!isWithin(at)) return at;
  return lineBytesMax;
}

/** Colours and tabs may pass; what moves the cursor, and bytes that are no text, are shown as escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about these.
const disturbing = /[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f-\u009f\ufffd]|\u001b(?!\[[\d;]*m)/;

/** As it is, unless it goes to a terminal that it would disturb. */
export function shown(line: Uint8Array, { isTerminal }: Output): Uint8Array | string {
  if (!isTerminal) return line;
  const text = Buffer.from(line).toString();
  return disturbing.test(text) ? printable(text) : line;
}

export function withPrefix(prefix: string, line: Uint8Array | string): Uint8Array {
  return Buffer.concat([Buffer.from(`${prefix} `), Buffer.from(line), Buffer.of(newline)]);
}
