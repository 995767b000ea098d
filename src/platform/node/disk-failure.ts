/** What the file system says to a write, as an error of the catalogue that names the path. */
import { statfsSync } from 'node:fs';
import { DroverError } from '../../model/errors.ts';

const whys: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EIO: 'the disk can not be read or written',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
};

/** Does what needs the disk. A disk that says no is an operating error; anything else stays a bug. */
export function onDisk<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw diskFailure(path, error);
  }
}

export function diskFailure(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  const why = whys[String(error.code)];
  const text = why === undefined ? error.message : `${why} (${error.message})`;
  return new DroverError('store-unwritable', `${path} can't be written: ${text}`, { cause: error });
}

/** For who can't tell why a process of its own does not start: that one had no room to say so. */
export function isDiskFull(path: string): boolean {
  try {
    const { bavail, ffree, files } = statfsSync(path);
    // Some file systems count no files.
    return bavail === 0 || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
