/** The command line: from words to an exit code. Loads a command only when it is called. */
import { Command, CommanderError } from 'commander';
import { DroverError, exitCodes } from '../model/errors.ts';
import { commandLineOf } from './command-line.ts';
import type { Context } from './context.ts';
import { defineCommands } from './definitions.ts';
import type { CliEnv } from './environment.ts';
import { bugObject, describeBug, describeError, errorObject } from './failure.ts';
import type { Programs } from './programs.ts';

/** `argv` without the interpreter and the script. Never throws. */
export async function runCli(argv: readonly string[], env: CliEnv, programs: Programs): Promise<number> {
  // Values are the user's: what follows `:::` is never an option.
  const separator = argv.indexOf(':::');
  const words = separator < 0 ? argv : argv.slice(0, separator);
  const sources = separator < 0 ? [] : argv.slice(separator);
  try {
    checkText([env.cwd, ...argv]);
    return await parse(words, sources, { env, programs });
  } catch (error) {
    return await fail(env, error, words.includes('--json'));
  } finally {
    // Notes are written in passing; they must be out before the process ends.
    await Promise.allSettled([env.stdout.write(''), env.stderr.write('')]);
  }
}

/**
 * Node gives bytes that are no UTF-8 as U+FFFD: a command or name that has one is not what was typed, and a task
 * would meet another file than the one that was meant. Task files are refused for the same (inputs/lines.ts).
 */
function checkText(words: readonly string[]): void {
  const bad = words.find((word) => word.includes('\ufffd'));
  if (bad === undefined) return;
  throw new DroverError('bad-input', `'${bad}' is not UTF-8`, {
    hint: 'rename it, or let a shell find it within the task: a pattern such as *.txt in a script or a task file',
  });
}

async function parse(words: readonly string[], sources: readonly string[], context: Context): Promise<number> {
  const { env } = context;
  if (sources.length > 0 && words[0] !== 'run' && words[0] !== 'submit') {
    throw new DroverError('bad-input', "':::' begins values for 'drover run' and 'drover submit' only", {
      hint: "see 'drover run --help'",
    });
  }
  let code: number = exitCodes.ok;
  const printed = { out: '', err: '' };
  const program = new Command('drover')
    .version(env.version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        printed.out += text;
      },
      writeErr: (text) => {
        printed.err += text;
      },
      outputError: () => undefined,
      getOutHelpWidth: () => (env.stdout.isTerminal ? env.stdout.columns : 100),
      getErrHelpWidth: () => (env.stderr.isTerminal ? env.stderr.columns : 100),
    });
  defineCommands(program, { env, sources, commandLine: commandLineOf(words, sources) }, async (action) => {
    code = await action(context);
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = isHelp(error) ? exitCodes.ok : exitCodes.usage;
    if (code !== exitCodes.ok && error.code !== 'commander.help') throw usageError(error, words);
    if (code !== exitCodes.ok && words[0] === 'help') throw unknownTopic(words);
  }
  if (printed.out !== '') await env.stdout.write(printed.out);
  if (printed.err !== '') await env.stderr.write(printed.err);
  return code;
}

const isHelp = ({ exitCode }: CommanderError): boolean => exitCode === 0;

/** Commander puts its suggestion into the second line. */
function usageError({ message }: CommanderError, [command = '']: readonly string[]): DroverError {
  const [what = '', suggestion = ''] = message.replace(/^error: /, '').split('\n');
  const guess = suggestion.replace(/^\((.*)\)$/, '$1 ').replace('Did you mean', 'did you mean');
  const page =
    /^[a-z]+$/.test(command) && !what.startsWith('unknown command') ? `drover ${command} --help` : 'drover --help';
  return new DroverError('bad-input', what, { hint: `${guess}see '${page}'` });
}

const unknownTopic = ([, topic]: readonly string[]): DroverError =>
  new DroverError('bad-input', `unknown command '${topic}'`, { hint: "see 'drover --help'" });

async function fail(env: CliEnv, error: unknown, isJson: boolean): Promise<number> {
  const isKnown = error instanceof DroverError;
  if (isJson) {
    const object = isKnown ? errorObject(error) : bugObject(error);
    await env.stdout.write(`${JSON.stringify(object)}\n`).catch(() => undefined);
  }
  await env.stderr.write(isKnown ? describeError(error) : describeBug(error, env)).catch(() => undefined);
  return isKnown ? error.exitCode : exitCodes.bug;
}
