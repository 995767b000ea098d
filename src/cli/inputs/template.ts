/**
 * `drover run 'cmd {}' ::: a b c`: a command for each combination of values. `{}` is the value (all of them, with
 * several sources), `{1}` that of the first source, `{#}` the running number. A value is inserted so that the shell
 * takes it literally, also within quotes: `a b; rm x` stays one word. Without any placeholder, values are appended.
 */

import { quoteWithin } from '../../definition/shell/quoting.ts';
import { type Part, type Scan, scanTemplate } from '../../definition/shell/scanner.ts';
import { DroverError } from '../../model/errors.ts';
import type { SubmissionItem } from '../../sdk/submission.ts';
import { type Command, pathTemplate, type Skip, skippedIf } from './skipping.ts';

export const sourceSeparator = ':::';

/** `words` as they follow on the command line, the first separator included. */
export function splitSources(words: readonly string[]): string[][] {
  const sources: string[][] = [];
  for (const word of words) {
    if (word === sourceSeparator) sources.push([]);
    else sources.at(-1)?.push(word);
  }
  return sources;
}

/** A bad template is refused at once. The last source varies fastest. */
export function expandTemplate(
  template: string,
  sources: readonly (readonly string[])[],
  skip?: Skip,
): Iterable<SubmissionItem> {
  const parts = withPlaceholder(template, scanTemplate(template));
  checkKeys(parts, sources.length);
  return fillAll(parts, combinations(sources), skipper(skip, sources.length));
}

/** Without a placeholder the command is the same for all; `$DROVER_INDEX` tells them apart. */
export function expandArray(template: string, indices: Iterable<number>, skip?: Skip): Iterable<SubmissionItem> {
  const { parts } = scanTemplate(template);
  checkKeys(parts, 1);
  return fillIndexed(parts, indices, skipper(skip, 1));
}

type Skipper = (item: Command, values: readonly string[], number: number) => SubmissionItem;

function skipper(skip: Skip | undefined, lists: number): Skipper {
  if (skip === undefined) return (item) => item;
  const pathOf = pathTemplate(skip.pattern, lists);
  return (item, values, number) => skippedIf(item, pathOf(values, number), skip);
}

function* fillAll(
  parts: readonly Part[],
  tuples: Iterable<readonly string[]>,
  skipped: Skipper,
): Generator<SubmissionItem, void> {
  let number = 0;
  for (const values of tuples) {
    number += 1;
    yield skipped({ command: fill(parts, values, number) }, values, number);
  }
}

function* fillIndexed(
  parts: readonly Part[],
  indices: Iterable<number>,
  skipped: Skipper,
): Generator<SubmissionItem, void> {
  let number = 0;
  for (const index of indices) {
    number += 1;
    const values = [String(index)];
    yield skipped({ command: fill(parts, values, number), arrayIndex: index }, values, number);
  }
}

function withPlaceholder(template: string, { parts, isOpenEnded }: Scan): readonly Part[] {
  if (parts.some(({ kind }) => kind === 'placeholder')) return parts;
  if (!isOpenEnded) {
    throw new DroverError('bad-input', `no value can be appended to ${template}`, {
      hint: 'a quote or parenthesis is open, or it ends with a comment; write {} where the value belongs',
    });
  }
  return [...parts, { kind: 'text', text: ' ' }, { kind: 'placeholder', key: '', surroundings: 'bare' }];
}

function checkKeys(parts: readonly Part[], sources: number): void {
  for (const part of parts) {
    if (part.kind === 'text' || part.key === '' || part.key === '#') continue;
    if (Number(part.key) >= 1 && Number(part.key) <= sources) continue;
    const known = sources === 1 ? '{} and {#}' : `{1} to {${sources}}, {} and {#}`;
    throw new DroverError('bad-input', `the placeholder {${part.key}} has no value`, {
      hint: `there ${sources === 1 ? 'is one list' : `are ${sources} lists`} of values: ${known}; lines of a task file are taken as they are`,
    });
  }
}

function fill(parts: readonly Part[], values: readonly string[], number: number): string {
  let command = '';
  for (const part of parts) {
    if (part.kind === 'text') command += part.text;
    else if (part.key === '#') command += number;
    else {
      const inserted = part.key === '' ? values : values.slice(Number(part.key) - 1, Number(part.key));
      command += inserted.map((value) => quoteWithin(value, part.surroundings)).join(' ');
    }
  }
  return command;
}

function* combinations(sources: readonly (readonly string[])[]): Generator<readonly string[], void> {
  const [first, ...rest] = sources;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const value of first) {
    for (const others of combinations(rest)) yield [value, ...others];
  }
}
