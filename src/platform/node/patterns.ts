/**
 * Regular expressions of strangers. One that backtracks for ever would stop the process: a context of its own can be
 * ended from outside, also in the midst of a match.
 */
import { type Context, createContext, Script } from 'node:vm';
import { DroverError } from '../../model/errors.ts';
import type { Pattern, Span } from '../env.ts';

/** A busy machine may take its time over what takes none: then it is tried again, so often at most. */
const triesMax = 10;

/** An empty match is none: there is nothing to show of it but the line, so it counts as a place of its own. */
const finding = new Script(`
  texts.map((text) => {
    const spans = [];
    pattern.lastIndex = 0;
    for (let found; spans.length < spansMax && (found = pattern.exec(text)) !== null; ) {
      spans.push([found.index, found.index + found[0].length]);
      if (found[0] === '') pattern.lastIndex++;
    }
    return spans;
  })
`);

export function compilePattern(source: string, ignoresCase: boolean): Pattern {
  const context: Context = createContext({ pattern: parsed(source, ignoresCase) });
  return {
    find: (texts, spansMax, msMax) => {
      Object.assign(context, { texts, spansMax });
      for (let tries = 1; ; tries++) {
        const before = process.threadCpuUsage();
        try {
          return finding.runInContext(context, { timeout: msMax }) as Span[][];
        } catch (error) {
          // Of another context, and so no instance of this one's Error.
          if ((error as { readonly code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
          const { user, system } = process.threadCpuUsage(before);
          if ((user + system) / 1_000 < msMax / 2 && tries < triesMax) continue;
          throw new DroverError(
            'pattern-too-slow',
            `'${source}' takes too long: more than ${msMax} ms for a piece of output`,
          );
        }
      }
    },
  };
}

function parsed(source: string, ignoresCase: boolean): RegExp {
  try {
    return new RegExp(source, ignoresCase ? 'giu' : 'gu');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DroverError('bad-input', `'${source}' is no regular expression: ${message}`);
  }
}
