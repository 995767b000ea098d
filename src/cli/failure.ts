/** How a command says that it failed. */
import { type Issue, printIssue } from '../definition/issues.ts';
import { type DroverError, type ErrorDetails, errorKinds } from '../model/errors.ts';
import type { Difference } from '../protocol/views/submissions.ts';
import { printable } from './display/text.ts';
import type { CliEnv } from './environment.ts';

export function describeError({ message, hint, details }: Pick<DroverError, 'message' | 'hint' | 'details'>): string {
  const more = [...issueLines(details), ...differenceLines(details)].map((line) => `  ${printable(line)}\n`);
  return `drover: ${printable(message)}\n${more.join('')}${hint === '' ? '' : `  ${printable(hint)}\n`}`;
}

/** What is wrong with a definition beside the first, which is the message. */
function issueLines(details: ErrorDetails | undefined): string[] {
  const issues = (details?.issues ?? []) as readonly Issue[];
  const rest = Number(details?.total ?? issues.length) - issues.length;
  return [...issues.slice(1).map((issue) => printIssue(issue, '')), ...(rest > 0 ? [`… and ${rest} more`] : [])];
}

function differenceLines(details: ErrorDetails | undefined): string[] {
  const difference = details?.difference as Difference | undefined;
  return Object.entries(difference ?? {}).flatMap(([kind, { count, first }]) => {
    if (count === 0) return [];
    const more = count > first.length ? ['…'] : [];
    return [`${kind}: ${count}`, ...[...first, ...more].map((name) => `  ${name}`)];
  });
}

export function errorObject({ code, message, hint, details }: DroverError) {
  return { error: { code, message, hint, ...(details === undefined ? {} : { details }) } };
}

/** Whatever is not an operating error is ours. */
export function describeBug(error: unknown, { version }: CliEnv): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `drover: this is a bug in Drover: ${error instanceof Error ? error.message : String(error)}`,
    `  ${errorKinds.bug.hint}:`,
    `  drover ${version}, node ${process.version}, ${process.platform} ${process.arch}`,
    stack.replaceAll(/^/gm, '  '),
    '',
  ].join('\n');
}

export const bugObject = (error: unknown) => ({
  error: { code: 'bug', message: error instanceof Error ? error.message : String(error), hint: errorKinds.bug.hint },
});
