/** Works out why a task could not be started, in terms of what its owner can do about it. */

import { accessSync, constants as fsConstants } from 'node:fs';
import { constants } from 'node:os';
import { getSystemErrorMessage } from 'node:util';
import type { StartFailure, StartFailureCode, StartTask } from '../protocol/spawner.ts';
import { statIfAny } from './stat.ts';

/** Conditions of the machine, not of the task. */
const TEMPORARY = new Set([
  'EAGAIN',
  'ENOMEM',
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'ESTALE',
  'EBUSY',
  'EINTR',
]);
/** The first name counts: EWOULDBLOCK and others are second names of an errno. */
const ERRNO_NAMES = new Map(
  Object.entries(constants.errno)
    .reverse()
    .map(([name, value]) => [value, name]),
);

/** A start that failed before there was a process. */
export class StartError extends Error {
  readonly failure: StartFailure;

  constructor(failure: StartFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** For an error of the file system with one of the task's files. */
export function fileFailure(code: StartFailureCode, what: string, path: string, error: unknown): StartError {
  const cause = error as NodeJS.ErrnoException;
  if (cause.code && TEMPORARY.has(cause.code)) {
    return failed('no-resources', `${what} ${path}: ${cause.message}; free the resource, it is tried again`, false);
  }
  return failed(code, `${what} ${path}: ${cause.message}; check that the path exists and is accessible`, true);
}

/** After the kernel refused: it answers ENOENT alike for a missing directory, shell or interpreter. */
export function launchFailure(task: StartTask, errno: number): StartError {
  if (errno === constants.errno.E2BIG) {
    const units = task.command.length;
    const advice = 'shorten it, put it in a script, or pass less in the environment';
    return failed(
      'too-long',
      `the command (${units} characters) and its environment exceed the system's limit; ${advice}`,
      true,
    );
  }
  return directoryFailure(task.cwd) ?? shellFailure(task.shell) ?? otherFailure(task.shell, errno);
}

export function nulFailure(): StartError {
  return failed('other', 'the command, its directory or a variable holds a NUL character; remove it', true);
}

export function stoppingFailure(): StartError {
  return failed('other', 'the worker is stopping; the task runs elsewhere or later', false);
}

function directoryFailure(cwd: string): StartError | undefined {
  const stats = statIfAny(cwd);
  if (!stats)
    return failed(
      'cwd-missing',
      `working directory ${cwd} does not exist or can't be reached on this machine; create it`,
      true,
    );
  if (!stats.isDirectory()) return failed('cwd-missing', `working directory ${cwd} is not a directory`, true);
  if (isAllowed(cwd, fsConstants.X_OK)) return undefined;
  return failed('cwd-missing', `working directory ${cwd} can't be entered; check its permissions`, true);
}

function shellFailure(shell: string): StartError | undefined {
  if (isAllowed(shell, fsConstants.X_OK) && statIfAny(shell)?.isFile()) return undefined;
  return failed(
    'shell-missing',
    `shell ${shell} is not an executable on this machine; install it or choose another`,
    true,
  );
}

function otherFailure(shell: string, errno: number): StartError {
  const name = ERRNO_NAMES.get(errno) ?? `errno ${errno}`;
  const reason = `${name}: ${getSystemErrorMessage(-errno)}`;
  if (!TEMPORARY.has(name)) {
    return failed(
      'other',
      `the system refused to start ${shell} (${reason}); is it a shell, with its interpreter?`,
      true,
    );
  }
  const advice = 'raise the limit on processes, memory or open files, or run fewer tasks at once';
  return failed('no-resources', `no resources to start the task (${reason}); ${advice}`, false);
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function failed(code: StartFailureCode, message: string, permanent: boolean): StartError {
  return new StartError({ code, message, permanent });
}
