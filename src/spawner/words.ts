/**
 * Which lines need no shell. The test is strict: the result of running the words directly must be exactly that of
 * `bash -c`; a line in doubt goes to the shell.
 */

/** Characters that mean themselves in every position and any locale. */
const PLAIN_LINE = /^[A-Za-z0-9_@%+=:,./ \t-]+$/;
/** Without `=` (assignments) and `%` (jobs). */
const PLAIN_PROGRAM = /^[A-Za-z0-9_@+:,./-]+$/;

/** Built-ins and keywords: the program of that name, if there is one, behaves differently. */
const SHELL_WORDS = new Set(
  (
    '. : [ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare ' +
    'dirs disown do done elif else enable esac eval exec exit export fc fg fi for function getopts hash help ' +
    'history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select ' +
    'set shift shopt source suspend test then time times trap type typeset ulimit umask unalias unset until wait while'
  ).split(' '),
);

/** Programs that show the order of their environment, which bash rearranges. */
const ENVIRONMENT_PRINTERS = new Set(['env', 'printenv']);

/** The argument list of a line of plain words, or undefined when it needs a shell. */
export function plainWords(command: string): string[] | undefined {
  if (!PLAIN_LINE.test(command)) return undefined;
  const words = command.split(/[ \t]+/).filter((word) => word !== '');
  const program = words[0];
  if (program === undefined || !PLAIN_PROGRAM.test(program)) return undefined;
  if (SHELL_WORDS.has(program) || ENVIRONMENT_PRINTERS.has(program)) return undefined;
  return agreesWithBuiltin(program, words) ? words : undefined;
}

/** Built-ins whose program does the same for some words. */
const AGREEING_BUILTINS = new Set(['true', 'false', 'echo']);

/** Of the programs that `plainWords` lets through. */
export function isBuiltin(program: string): boolean {
  return AGREEING_BUILTINS.has(program);
}

/** No options, hence no `--help`. */
function agreesWithBuiltin(program: string, words: readonly string[]): boolean {
  if (program === 'true' || program === 'false') return words.length === 1;
  if (program === 'echo') return !words.some((word) => word.startsWith('-'));
  return true;
}
