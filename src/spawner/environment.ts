/**
 * Environments of tasks. A base is interned once; a task adds a few entries to it or replaces some.
 *
 * BaseEnvironment owns the block of C strings for its tasks (where libc is there). Invariants:
 *  1. a name occurs once, the last entry given wins;
 *  2. the C strings never move and live as long as the BaseEnvironment; a task copies pointers, not text.
 */

import { isAbsolute } from 'node:path';
import type { Libc } from '../platform/node/libc.ts';
import { EnvironmentBlock } from './environment-block.ts';
import { statIfAny } from './stat.ts';
import { nameOf } from './variable-names.ts';

/**
 * Variables by which bash would run other code, look up programs elsewhere or change what the program sees:
 * start-up files, exported functions and options, and those that it assigns itself.
 */
const SHELL_VARIABLE =
  /^(BASH.*|SHELLOPTS|EXECIGNORE|POSIXLY_CORRECT|IFS|OPTIND|OPTARG|OPTERR|PS[124]|PPID|RANDOM|SRANDOM|SECONDS|EPOCH.*|LINENO|UID|EUID|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|HISTCMD|COMP_WORDBREAKS|PWD|OLDPWD|SHLVL|SSH2?_CLIENT|LC_ALL|LOCPATH|_)$/;
/** Of those, the ones whose effect `BaseEnvironment` works out. */
const UNDERSTOOD_IN_BASE = new Set('PWD OLDPWD SHLVL SSH_CLIENT SSH2_CLIENT PS1 PS2 LC_ALL LOCPATH _'.split(' '));
/** bash -c has no prompts, and takes those that it inherits away. Some environments of Python export theirs. */
const DROPPED = new Set(['PS1', 'PS2']);
/** Those that need no files. */
const BUILT_IN_LOCALES = new Set(['', 'C', 'POSIX']);
/** bash resets deeper levels with a warning. */
const PLAIN_LEVEL = /^(0|[1-9][0-9]{0,2})$/;
const LEVEL_MAX = 998;

type Native = Pick<Libc, 'addressOf' | 'hasLocale'>;

export class BaseEnvironment {
  readonly entries: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  private readonly block: EnvironmentBlock | undefined;
  private readonly native: Native | undefined;
  private neutral: boolean | undefined;
  private reduced: BaseEnvironment | undefined;

  constructor(entries: readonly string[], native?: Native) {
    const last = new Map<string, string>();
    for (const entry of entries) last.set(nameOf(entry), entry);
    this.entries = [...last.values()];
    this.indexOf = new Map([...last.keys()].map((name, index) => [name, index]));
    this.native = native;
    this.block = native && new EnvironmentBlock(this.entries, native.addressOf);
  }

  /** With these added, or in the place of its own: where the array for C is, until the next call. */
  write(vars: readonly string[]): number {
    if (!this.block) throw new Error('an environment of another launcher');
    return this.block.write(vars, this.indexOf);
  }

  valueOf(name: string): string | undefined {
    const index = this.indexOf.get(name);
    return index === undefined ? undefined : this.entries[index]?.slice(name.length + 1);
  }

  /** Whether a program sees the same under this environment with and without bash in between. */
  get neutralForBash(): boolean {
    this.neutral ??= this.isNeutralForBash();
    return this.neutral;
  }

  /** What bash passes on to a program that it execs, given `neutralForBash`. */
  get passedByBash(): BaseEnvironment {
    this.reduced ??= [...DROPPED].some((name) => this.indexOf.has(name))
      ? new BaseEnvironment(
          this.entries.filter((entry) => !DROPPED.has(nameOf(entry))),
          this.native,
        )
      : this;
    return this.reduced;
  }

  /** What bash adds to that. */
  bashAdditions(program: string): string[] {
    return this.indexOf.has('SHLVL') ? [`_=${program}`] : [`_=${program}`, 'SHLVL=0'];
  }

  private isNeutralForBash(): boolean {
    const level = this.valueOf('SHLVL');
    if (level !== undefined && !(PLAIN_LEVEL.test(level) && Number(level) <= LEVEL_MAX)) return false;
    // bash that finds itself started by sshd at the outermost level reads ~/.bashrc, even for `-c`.
    const bySsh = this.indexOf.has('SSH_CLIENT') || this.indexOf.has('SSH2_CLIENT');
    if (bySsh && Number(level ?? 0) < 1) return false;
    // bash drops an OLDPWD that is no directory, seen from the working directory of the task.
    const previous = this.valueOf('OLDPWD');
    if (previous !== undefined && !(isAbsolute(previous) && isDirectory(previous))) return false;
    if (!this.hasItsLocale()) return false;
    // bash drops what has no name or no value.
    if (this.entries.some((entry) => entry.indexOf('=') < 1)) return false;
    return [...this.indexOf.keys()].every((name) => UNDERSTOOD_IN_BASE.has(name) || !isShellVariable(name));
  }

  /** bash warns, at each start, of an LC_ALL that is not installed. */
  private hasItsLocale(): boolean {
    const locale = this.valueOf('LC_ALL') ?? '';
    if (BUILT_IN_LOCALES.has(locale)) return true;
    return !this.indexOf.has('LOCPATH') && (this.native?.hasLocale(locale) ?? false);
  }
}

/** Whether an entry that a task adds to its base may make bash behave differently from a direct start. */
export function mattersToBash(entry: string): boolean {
  const name = nameOf(entry);
  if (name === 'LC_ALL') return !BUILT_IN_LOCALES.has(entry.slice(name.length + 1));
  return name === '' || name === entry || isShellVariable(name);
}

export function isShellVariable(name: string): boolean {
  return SHELL_VARIABLE.test(name);
}

function isDirectory(path: string): boolean {
  return statIfAny(path)?.isDirectory() ?? false;
}
