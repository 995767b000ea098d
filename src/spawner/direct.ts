/**
 * Decides whether a task can be started without its shell, and as what.
 * Owns two caches: which shells are bash, and the candidate paths of a program name in a PATH. Which
 * candidate is there is looked up every time, since an earlier task may just have installed it. Tasks that follow each
 * other are often alike, as those of an array: what was found out of the last command, directory and names of variables
 * is kept as well.
 */

import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, normalize } from 'node:path';
import type { Libc } from '../platform/node/libc.ts';
import type { StartTask } from '../protocol/spawner.ts';
import type { BaseEnvironment } from './environment.ts';
import { isShellVariable, mattersToBash } from './environment.ts';
import { KnownPath } from './known-path.ts';
import { nameOf, VariableNames } from './variable-names.ts';
import { isBuiltin, plainWords } from './words.ts';

export type DirectCall = {
  readonly path: string;
  readonly argv: readonly string[];
  /** What the shell would have passed on of the base, and added to it. */
  readonly env: BaseEnvironment;
  readonly additions: readonly string[];
};

const CACHE_ENTRIES_MAX = 4_096;
const EXECUTABLE_BY_ALL = 0o111;
const { S_IFMT, S_IFREG } = constants;
/** For the programs that stand in for built-ins: a PATH may lead to others of the same name, which bash passes over. */
const SYSTEM_PATH = '/usr/bin:/bin';

export class DirectCalls {
  private readonly libc: Libc | undefined;
  private readonly bashPaths = new Map<string, boolean>();
  private readonly candidates = new Map<string, readonly KnownPath[] | undefined>();

  private command: { text: string; words: readonly string[] | undefined } = { text: '', words: undefined };
  private cwd = { path: '/', isPlain: true };
  private readonly names = new VariableNames();

  constructor(libc: Libc | undefined) {
    this.libc = libc;
  }

  /** undefined: the line goes to the shell. */
  find(task: StartTask, base: BaseEnvironment): DirectCall | undefined {
    if (!this.isBash(task.shell) || !base.neutralForBash) return undefined;
    if (task.command !== this.command.text) this.command = { text: task.command, words: plainWords(task.command) };
    const argv = this.command.words;
    const program = argv?.[0];
    if (!argv || program === undefined) return undefined;
    if (task.cwd !== this.cwd.path) this.cwd = { path: task.cwd, isPlain: isPlainDirectory(task.cwd) };
    if (!this.cwd.isPlain || this.doMatter(task.vars)) return undefined;
    const path = program.includes('/') ? program : this.lookUp(program, searchPathOf(program, task, base));
    if (path === undefined) return undefined;
    return { path, argv, env: base.passedByBash, additions: base.bashAdditions(path) };
  }

  /**
   * Only bash replaces itself by the program, so that its end is seen as it is. dash waits, and turns a death by
   * signal into an exit code and a message; zsh reads a start-up file even for `-c`.
   */
  private isBash(shell: string): boolean {
    if (!this.bashPaths.has(shell)) remember(this.bashPaths, shell, leadsToBash(shell));
    return this.bashPaths.get(shell) ?? false;
  }

  /** Names that don't matter are remembered; of those that may, the values count as well. */
  private doMatter(vars: readonly string[]): boolean {
    if (this.names.areOf(vars)) return false;
    if (vars.some(mattersToBash)) return true;
    if (!vars.some((entry) => isShellVariable(nameOf(entry)))) this.names.learn(vars);
    return false;
  }

  private lookUp(program: string, searchPath: string | undefined): string | undefined {
    if (!searchPath) return undefined;
    const key = `${program}\0${searchPath}`;
    if (!this.candidates.has(key)) {
      const places = candidatePaths(program, searchPath)?.map((path) => new KnownPath(path, this.libc));
      remember(this.candidates, key, places);
    }
    return this.candidates.get(key)?.find(isExecutable)?.path;
  }
}

/** bash gives its program a PWD without `..`, `//` or a final `/`. */
function isPlainDirectory(path: string): boolean {
  return normalize(path) === path && (path === '/' || !path.endsWith('/'));
}

function leadsToBash(shell: string): boolean {
  // By another name, such as rbash, it has other rules.
  if (basename(shell) !== 'bash' && basename(shell) !== 'sh') return false;
  try {
    return basename(realpathSync(shell)) === 'bash';
  } catch {
    return false;
  }
}

/** undefined for a PATH with relative or empty elements: what they mean is left to the shell. */
function candidatePaths(program: string, searchPath: string): string[] | undefined {
  const directories = searchPath.split(':');
  if (!directories.every((directory) => directory.startsWith('/'))) return undefined;
  return directories.map((directory) => (directory.endsWith('/') ? directory + program : `${directory}/${program}`));
}

function isExecutable(place: KnownPath): boolean {
  const mode = place.look()?.mode ?? 0;
  if ((mode & S_IFMT) !== S_IFREG) return false;
  if ((mode & EXECUTABLE_BY_ALL) === EXECUTABLE_BY_ALL) return true;
  try {
    accessSync(place.path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function searchPathOf(program: string, task: StartTask, base: BaseEnvironment): string | undefined {
  if (isBuiltin(program)) return SYSTEM_PATH;
  return task.vars.findLast((entry) => entry.startsWith('PATH='))?.slice('PATH='.length) ?? base.valueOf('PATH');
}

function remember<Value>(cache: Map<string, Value>, key: string, value: Value): void {
  if (cache.size >= CACHE_ENTRIES_MAX) cache.clear();
  cache.set(key, value);
}
