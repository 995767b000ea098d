/** A file, or stdin, that is read as one text: bounded, and UTF-8. */
import { resolve } from 'node:path';
import { DroverError } from '../../model/errors.ts';
import { definitionBytesMax } from '../../model/limits.ts';
import { showBytes } from '../../model/units.ts';
import type { CliEnv } from '../environment.ts';

export interface WholeText {
  /** How errors call it. */
  readonly name: string;
  /** What to do when there is no such file, and when it is too large. */
  readonly missingHint: string;
  readonly largeHint: string;
}

/** `input` is a path, or `-` for stdin. */
export async function wholeText(env: CliEnv, input: string, about: WholeText): Promise<string> {
  const { name, missingHint, largeHint } = about;
  const path = resolve(env.cwd, input);
  if (input !== '-' && env.kindOf(path) !== 'file') {
    const what = env.kindOf(path) === 'missing' ? 'no such file' : 'no file';
    throw new DroverError('bad-input', `${what}: ${name}`, { hint: missingHint });
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of input === '-' ? env.readStdin() : env.readFile(path)) {
      bytes += piece.length;
      if (bytes > definitionBytesMax) break;
      pieces.push(piece);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new DroverError('bad-input', `can't read ${name}: ${error.message}`, { cause: error });
  }
  if (bytes > definitionBytesMax) {
    throw new DroverError('too-large', `${name} has more than ${showBytes(definitionBytesMax)}`, { hint: largeHint });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch (cause) {
    throw new DroverError('bad-definition', `${name}: not UTF-8`, { cause });
  }
}
