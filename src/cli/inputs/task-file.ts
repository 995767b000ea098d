/** The task file: a line is a task; blank lines and `#` comments are skipped; `#DROVER` begins a directive. */
import { DroverError } from '../../model/errors.ts';
import { commandBytesMax } from '../../model/limits.ts';
import type { SubmissionItem } from '../../sdk/submission.ts';
import { readLines } from './lines.ts';

const directives: Readonly<Record<string, SubmissionItem>> = {
  BARRIER: { barrier: true },
  'BARRIER CHECK': { barrier: true, check: true },
};

const skipped = /^\s*(?:#|$)/;
const directive = /^\s*#DROVER(?:\s+(.*))?$/;
/** A comment by its form, a barrier by its words: without it, tasks would start too early. */
const nearDirective = /^\s*#\s*drover[\s:_-]*barrier/i;

/** `name` is how errors call the file; `remark` is told what is allowed, but hardly meant. */
export async function* readTaskFile(
  source: AsyncIterable<Uint8Array>,
  name: string,
  remark: (text: string) => void,
): AsyncGenerator<SubmissionItem, void> {
  for await (const { number, text } of readLines(source, name, commandBytesMax)) {
    if (!skipped.test(text)) {
      yield { command: text };
      continue;
    }
    const match = directive.exec(text);
    if (match !== null) yield parseDirective(match[1] ?? '', `${name}, line ${number}`);
    else if (nearDirective.test(text)) {
      remark(`${name}, line ${number}: '${text.trim()}' is a comment; a barrier is written '#DROVER BARRIER'`);
    }
  }
}

function parseDirective(words: string, place: string): SubmissionItem {
  const wanted = words.trim().replaceAll(/\s+/g, ' ');
  const item = Object.hasOwn(directives, wanted) ? directives[wanted] : undefined;
  if (item !== undefined) return item;
  const known = Object.keys(directives).map((words) => `'#DROVER ${words}'`);
  throw new DroverError('bad-input', `${place}: unknown directive '#DROVER ${wanted}'`, {
    hint: `known are ${known.join(' and ')}; a comment has a space after the '#'`,
  });
}
