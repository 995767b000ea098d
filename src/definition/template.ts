/**
 * A command with named placeholders. A value is inserted so that the shell takes it as one literal word, also within
 * quotes. `{{name}}` stands for `{name}`, and `${name}` is the shell's own.
 */
import { DroverError } from '../model/errors.ts';
import { didYouMean, type Issues, type Path } from './issues.ts';
import type { TemplateWords } from './schema.ts';
import { quoteWithin } from './shell/quoting.ts';
import { type Part, type PlaceholderPattern, scanTemplate } from './shell/scanner.ts';

export const argumentName = /^[A-Za-z_][\w-]*$/;
const namedPlaceholder = /(?<!\$)\{(?:([A-Za-z_][\w-]*)|(\{[A-Za-z_][\w-]*\}))\}/y as PlaceholderPattern;

export interface Template {
  /** Absent for the command of a single task. */
  readonly name: string | undefined;
  readonly command: string;
  readonly parts: readonly Part[];
  readonly placeholders: ReadonlySet<string>;
  /** Those that do not matter to what a task is. */
  readonly opArgs: ReadonlySet<string>;
  /** Values for tasks that give none. */
  readonly args: ReadonlyMap<string, string>;
}

export function templateOf(
  name: string | undefined,
  words: Pick<TemplateWords, 'command' | 'nodeArgs' | 'taskArgs' | 'opArgs' | 'args'>,
  path: Path,
  issues: Issues,
): Template {
  const parts = partsOf(words.command, [...path, 'command'], issues);
  const placeholders = new Set(parts.flatMap((part) => (part.kind === 'placeholder' ? [part.key] : [])));
  checkKinds(words, placeholders, path, issues);
  const args = new Map<string, string>();
  for (const [key, value] of Object.entries(words.args ?? {})) {
    if (!placeholders.has(key)) issues.add([...path, 'args', key], unknownArgument(key, placeholders));
    args.set(key, String(value));
  }
  return { name, command: words.command, parts, placeholders, opArgs: new Set(words.opArgs ?? []), args };
}

export const unknownArgument = (name: string, placeholders: ReadonlySet<string>): string =>
  `the command has no placeholder {${name}}${didYouMean(name, placeholders)}`;

function partsOf(command: string, path: Path, issues: Issues): readonly Part[] {
  try {
    return scanTemplate(command, namedPlaceholder).parts;
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    issues.add(path, `${error.message}; ${error.hint}`);
    return [];
  }
}

const kinds = ['nodeArgs', 'taskArgs', 'opArgs'] as const;

/** Each name is a placeholder, and of one kind. */
function checkKinds(
  words: Pick<TemplateWords, (typeof kinds)[number]>,
  placeholders: ReadonlySet<string>,
  path: Path,
  issues: Issues,
): void {
  const kindOf = new Map<string, string>();
  for (const kind of kinds) {
    words[kind]?.forEach((name, at) => {
      const place = [...path, kind, at];
      if (!placeholders.has(name)) issues.add(place, unknownArgument(name, placeholders));
      const before = kindOf.get(name);
      if (before !== undefined) issues.add(place, `'${name}' is in ${before} already`);
      kindOf.set(name, kind);
    });
  }
}

export function fill({ parts }: Template, valueFor: (name: string) => string): string {
  let command = '';
  for (const part of parts) {
    command += part.kind === 'text' ? part.text : quoteWithin(valueFor(part.key), part.surroundings);
  }
  return command;
}
