/** How a command says that it failed. */
import { type DroverError, errorKinds } from '../model/errors.ts';
import { printable } from './display/text.ts';
import type { CliEnv } from './environment.ts';

export function describeError({ message, hint }: Pick<DroverError, 'message' | 'hint'>): string {
  return `drover: ${printable(message)}\n${hint === '' ? '' : `  ${printable(hint)}\n`}`;
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
