/**
 * A worker's host lock: a `flock` on a file of its directory. The spawner inherits the open file, so the lock is free
 * only when worker and spawner are both dead; and the spawner dies only after all that it started. Whoever gets the
 * lock next has the proof that nothing of the last holder runs, but for what outlives both being killed with -9:
 * that, it finds by the tag in its environment.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DroverError } from '../../model/errors.ts';
import type { Libc } from './libc.ts';
import { makeDirectory } from './make-directory.ts';

export interface HostLock {
  readonly fd: number;
  /** The same for whoever holds this lock, since the machine was booted, and for nobody else anywhere. */
  readonly name: string;
}

const pollMs = 20;

/** Waits for the last holder to be gone; undefined when it is not in that time. */
export async function takeHostLock(libc: Libc, directory: string, waitMs: number): Promise<HostLock | undefined> {
  const fd = openLock(directory);
  for (const deadline = performance.now() + waitMs; ; ) {
    if (libc.tryLock(fd)) return { fd, name: nameOf(fd) };
    if (performance.now() >= deadline) {
      closeSync(fd);
      return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Two machines may have one name, and one directory; a boot and an inode are had once. */
function nameOf(fd: number): string {
  const { dev, ino } = fstatSync(fd);
  return `${bootName()}:${dev}:${ino}`;
}

function bootName(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return hostname();
  }
}

function openLock(directory: string): number {
  try {
    makeDirectory(directory, 0o700);
    return openSync(join(directory, 'lock'), 'a', 0o600);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DroverError('store-unwritable', `the worker can not use ${directory}: ${why}`, { cause });
  }
}
