/**
 * A worker's host lock: a `flock` on a file of its directory. The spawner inherits the open file, so the lock is free
 * only when worker and spawner are both dead; and the spawner dies only after all that it started. Whoever gets the
 * lock next has the proof that nothing of the last holder runs, but for what outlives both being killed with -9:
 * that, it finds by the tag in its environment.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Libc } from './libc.ts';

export interface HostLock {
  readonly fd: number;
}

const pollMs = 20;

/** Waits for the last holder to be gone; undefined when it is not in that time. */
export async function takeHostLock(libc: Libc, directory: string, waitMs: number): Promise<HostLock | undefined> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fd = openSync(join(directory, 'lock'), 'a', 0o600);
  for (const deadline = performance.now() + waitMs; ; ) {
    if (libc.tryLock(fd)) return { fd };
    if (performance.now() >= deadline) {
      closeSync(fd);
      return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
