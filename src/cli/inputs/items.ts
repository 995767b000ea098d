/** Where the tasks of a run come from: a file, stdin, or a command with lists of values or a range of numbers. */
import { resolve } from 'node:path';
import { quote } from '../../definition/shell/quoting.ts';
import { DroverError } from '../../model/errors.ts';
import type { SubmissionItem } from '../../sdk/submission.ts';
import type { CliEnv } from '../environment.ts';
import { parseArray } from './ranges.ts';
import { pathTemplate, type Skip, skippedIf } from './skipping.ts';
import { readTaskFile } from './task-file.ts';
import { expandArray, expandTemplate, sourceSeparator, splitSources } from './template.ts';

export type Items = Iterable<SubmissionItem> | AsyncIterable<SubmissionItem>;

export interface ItemOptions {
  readonly array?: string;
  readonly sources: readonly string[];
  /** The command as it was typed, for hints: `drover run`. */
  readonly typed: string;
  /** A task whose path is there is skipped. */
  readonly skipIfExists?: string;
  /** Whether there is something at a path. */
  readonly exists: (path: string) => boolean;
  /** Told while a file is read. */
  readonly remark: (text: string) => void;
}

export function itemsOf(env: CliEnv, words: readonly string[], options: ItemOptions): Items {
  const { array, sources, typed, remark } = options;
  const input = onlyWord(words, sources.length > 0 || array !== undefined, typed);
  if (array !== undefined && sources.length > 0) {
    throw new DroverError('bad-input', `--array and ${sourceSeparator} exclude each other`, {
      hint: `for all combinations write the range as a list: ${sourceSeparator} $(seq 10)`,
    });
  }
  const skip = skipping(options);
  if (array !== undefined) return expandArray(input, parseArray(array), skip);
  if (sources.length > 0) return expandTemplate(input, splitSources(sources), skip);
  const lines = input === '-' ? fromStdin(env, remark) : fromFile(env, input, options);
  return skip === undefined ? lines : skipLines(lines, skip);
}

function skipping({ skipIfExists: pattern, exists }: ItemOptions): Skip | undefined {
  return pattern === undefined ? undefined : { pattern, exists };
}

/** The lines of a file have no values: `{#}`, the number of the task, is all that tells them apart. */
async function* skipLines(items: Items, skip: Skip): AsyncGenerator<SubmissionItem, void> {
  const pathOf = pathTemplate(skip.pattern, 0);
  let number = 0;
  for await (const item of items) {
    if ('command' in item) number += 1;
    yield 'command' in item ? skippedIf(item, pathOf([], number), skip) : item;
  }
}

function onlyWord(words: readonly string[], isCommand: boolean, typed: string): string {
  const [input, ...more] = words;
  if (input === undefined || (isCommand ? input.trim() : input) === '') {
    throw new DroverError('bad-input', whatIsMissing(input, isCommand), {
      hint: "name a file with a command on each line, '-' for stdin, or 'cmd {}' ::: a b c",
    });
  }
  if (more.length === 0) return input;
  const hint = isCommand
    ? `quote the command: ${typed} ${quote(words.join(' '))} …`
    : `for several files: cat ${words.map(quote).join(' ')} | ${typed} -`;
  throw new DroverError('bad-input', `one argument was expected, not ${words.length}`, { hint });
}

function whatIsMissing(input: string | undefined, isCommand: boolean): string {
  if (isCommand) return 'there is no command';
  return input === undefined ? 'there is nothing to run' : 'the name of the task file is empty';
}

function fromFile(env: CliEnv, name: string, { typed, remark }: ItemOptions): Items {
  const path = resolve(env.cwd, name);
  const kind = env.kindOf(path);
  if (kind === 'directory') {
    throw new DroverError('bad-input', `${name} is a directory`, { hint: 'name a file with a command on each line' });
  }
  if (kind === 'missing') {
    throw new DroverError('bad-input', `no such file: ${name}`, {
      hint: `the argument names a file with a command on each line; to run this one command: echo ${quote(name)} | ${typed} -`,
    });
  }
  return readTaskFile(withNamedErrors(env.readFile(path), name), name, remark);
}

function fromStdin(env: CliEnv, remark: ItemOptions['remark']): Items {
  return readTaskFile(withNamedErrors(env.readStdin(), 'stdin'), 'stdin', remark);
}

/** What the system says of a file that can't be read is the user's matter, not a bug. */
async function* withNamedErrors(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* source;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new DroverError('bad-input', `can't read ${name}: ${error.message}`, {
      hint: 'name a file that you may read',
      cause: error,
    });
  }
}
