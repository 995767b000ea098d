/**
 * Decides whether a task can be started without its shell, and as what.
 * Owns two caches: which shells are bash, and the candidate paths of a program name in a PATH. Which
 * candidate is there is looked up every time, since an earlier task may just have installed it.
 */

import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, normalize } from 'node:path';
import type { StartTask } from '../protocol/spawner.ts';
import type { BaseEnvironment } from './environment.ts';
import { mattersToBash } from './environment.ts';
import { statIfAny } from './stat.ts';
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
/** For the programs that stand in for built-ins: a PATH may lead to others of the same name, which bash passes over. */
const SYSTEM_PATH = '/usr/bin:/bin';

export class DirectCalls {
  private readonly bashPaths = new Map<string, boolean>();
  private readonly candidates = new Map<string, readonly string[] | undefined>();

  /** undefined: the line goes to the shell. */
  find(task: StartTask, base: BaseEnvironment): DirectCall | undefined {
    const argv = plainWords(task.command);
    const program = argv?.[0];
    if (!argv || program === undefined) return undefined;
    if (!this.isBash(task.shell) || !base.neutralForBash) return undefined;
    // bash gives its program a PWD without `..`, `//` or a final `/`.
    if (normalize(task.cwd) !== task.cwd || (task.cwd.endsWith('/') && task.cwd !== '/')) return undefined;
    if (task.vars.some(mattersToBash)) return undefined;
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

  private lookUp(program: string, searchPath: string | undefined): string | undefined {
    if (!searchPath) return undefined;
    const key = `${program}\0${searchPath}`;
    if (!this.candidates.has(key)) remember(this.candidates, key, candidatePaths(program, searchPath));
    return this.candidates.get(key)?.find(isExecutable);
  }
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

function isExecutable(path: string): boolean {
  const stats = statIfAny(path);
  if (!stats?.isFile()) return false;
  if ((stats.mode & EXECUTABLE_BY_ALL) === EXECUTABLE_BY_ALL) return true;
  try {
    accessSync(path, constants.X_OK);
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
