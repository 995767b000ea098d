/**
 * Takes a task from its description to a running process, or to the reason why there is none.
 * Owns nothing between calls but the open files; a failed start gives back all that it took.
 */

import { constants } from 'node:os';
import { basename } from 'node:path';
import type { OutputFile, StartTask } from '../protocol/spawner.ts';
import { ARGUMENT_BYTES_MAX, SPAWN_KEY_VARIABLE } from '../protocol/spawner.ts';
import { DirectCalls } from './direct.ts';
import type { BaseEnvironment } from './environment.ts';
import { fileFailure, launchFailure, nulFailure } from './failure.ts';
import type { OpenFile, TaskFiles } from './files.ts';
import { spawnKeyValue } from './kin.ts';
import type { Launcher } from './launcher.ts';
import type { ScratchDirectories } from './scratch.ts';

export type StartedProcess = { readonly pid: number; readonly out: OpenFile; readonly err: OpenFile };

/** UTF-16 units of a piece of a long command: at most three bytes each, well below ARGUMENT_BYTES_MAX. */
const PIECE_UNITS = 32 * 1024;
/** A shell would take such a line for one of its own options; a blank in front, unlike `--`, is right for any shell. */
const LIKE_AN_OPTION = /^[-+]/;
/** The program was not the trouble: the shell would meet it too. */
const SHELL_WOULD_FAIL_TOO = new Set<number>([constants.errno.EAGAIN, constants.errno.ENOMEM]);

export class Starter {
  private readonly launcher: Launcher;
  private readonly files: TaskFiles;
  private readonly scratch: ScratchDirectories;
  private readonly directCalls: DirectCalls;

  constructor(launcher: Launcher, files: TaskFiles, scratch: ScratchDirectories) {
    this.launcher = launcher;
    this.files = files;
    this.scratch = scratch;
    this.directCalls = new DirectCalls(launcher.libc);
  }

  /** Throws a StartError when no process came to be. */
  start(task: StartTask, base: BaseEnvironment): StartedProcess {
    if (holdsNul(task)) throw nulFailure();
    const stdin = this.openInput(task);
    let out: OpenFile | undefined;
    let err: OpenFile | undefined;
    let hasScratch = false;
    try {
      out = this.openOutput(task.stdout, 'stdout');
      const isShared = task.stderr.path === task.stdout.path;
      err = isShared ? this.files.share(out) : this.openOutput(task.stderr, 'stderr');
      hasScratch = this.makeScratch(task);
      const pid = this.launch(task, base, stdin, out.fd, err.fd);
      if (pid < 0) throw launchFailure(task, -pid);
      return { pid, out, err };
    } catch (error) {
      if (hasScratch && task.scratch !== undefined) this.scratch.release(task.scratch);
      if (err) this.files.release(err);
      if (out) this.files.release(out);
      throw error;
    } finally {
      this.files.closeInput(stdin);
    }
  }

  private launch(task: StartTask, env: BaseEnvironment, stdin: number, stdout: number, stderr: number): number {
    const { cwd } = task;
    const own = [`PWD=${cwd}`, `${SPAWN_KEY_VARIABLE}=${spawnKeyValue(task.key)}`];
    const direct = this.launcher.triesPrograms ? this.directCalls.find(task, env) : undefined;
    if (direct) {
      const { path, argv } = direct;
      const vars = task.vars.concat(own, direct.additions);
      const pid = this.launcher.launch({ path, argv, env: direct.env, vars, cwd, stdin, stdout, stderr });
      if (pid > 0 || SHELL_WOULD_FAIL_TOO.has(-pid)) return pid;
    }
    const vars = task.vars.concat(own);
    return this.launcher.launch({
      path: task.shell,
      argv: shellArguments(task),
      env,
      vars,
      cwd,
      stdin,
      stdout,
      stderr,
    });
  }

  private openInput(task: StartTask): number {
    if (task.stdin === undefined) return this.files.devNull;
    try {
      return this.files.openInput(task.stdin);
    } catch (error) {
      throw fileFailure('stdin-missing', 'stdin', task.stdin, error);
    }
  }

  private openOutput(output: OutputFile, what: string): OpenFile {
    try {
      return this.files.openOutput(output);
    } catch (error) {
      throw fileFailure('output-unwritable', what, output.path, error);
    }
  }

  /** Whether it has one. */
  private makeScratch(task: StartTask): boolean {
    const path = task.scratch;
    if (path === undefined) return false;
    try {
      this.scratch.make(path);
      return true;
    } catch (error) {
      throw fileFailure('other', 'scratch directory', path, error);
    }
  }
}

/**
 * `shell -c command`. A command beyond the size of one argument is passed in pieces that the shell joins; `$0`, `$@`,
 * stdin, descriptors and line numbers are those of `-c`.
 */
function shellArguments(task: StartTask): string[] {
  const { command } = task;
  const name = basename(task.shell);
  if (command.length * 3 < ARGUMENT_BYTES_MAX || Buffer.byteLength(command) < ARGUMENT_BYTES_MAX) {
    return [name, '-c', LIKE_AN_OPTION.test(command) ? ` ${command}` : command];
  }
  const pieces = splitText(command);
  const joined = pieces.map((_, index) => `\${${index + 1}}`).join('');
  return [name, '-c', `eval "shift ${pieces.length}; ${joined}"`, name, ...pieces];
}

function splitText(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = Math.min(start + PIECE_UNITS, text.length);
    // Between the halves of a surrogate pair a cut would destroy the character.
    const cut = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    pieces.push(text.slice(start, cut));
    start = cut;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function holdsNul(task: StartTask): boolean {
  return task.command.includes('\0') || task.cwd.includes('\0') || task.vars.some((entry) => entry.includes('\0'));
}
