/**
 * `--skip-if-exists PATH`: a task is skipped when what it makes is there. The path has the placeholders of the command;
 * no shell reads it, so a value is inserted as it is. Looked at where and when the task is submitted.
 */
import { DroverError } from '../../model/errors.ts';
import type { SubmissionItem } from '../../sdk/submission.ts';

export interface Skip {
  readonly pattern: string;
  readonly exists: (path: string) => boolean;
}

export type Command = Extract<SubmissionItem, { readonly command: string }>;

const placeholder = /\{(\d*|#)\}/g;

/** From the values and the number of a task to its path. `lists`: how many values there are. */
export function pathTemplate(pattern: string, lists: number): (values: readonly string[], number: number) => string {
  for (const [text, key = ''] of pattern.matchAll(placeholder)) {
    const isKnown = key === '#' || (key === '' ? lists > 0 : Number(key) >= 1 && Number(key) <= lists);
    if (isKnown) continue;
    throw new DroverError('bad-input', `--skip-if-exists: the placeholder ${text} has no value`, {
      hint: lists === 0 ? 'lines of a task file have a number only: {#}' : 'use the placeholders of the command',
    });
  }
  return (values, number) =>
    pattern.replace(placeholder, (_, key: string) => {
      if (key === '#') return String(number);
      return key === '' ? values.join(' ') : (values[Number(key) - 1] ?? '');
    });
}

export const skippedIf = (item: Command, path: string, { exists }: Skip): Command =>
  exists(path) ? { ...item, skipped: `${path} exists` } : item;
