/**
 * The scratch directories of tasks. Owns those that are empty and wait for the next task, and the removals under way.
 * Invariant: a task finds its directory empty; what an earlier one left in it disappears in the background.
 */

import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { FileLook, Libc } from '../platform/node/libc.ts';
import { KnownPath } from './known-path.ts';

/** File systems count time in ticks, some in seconds: what changes within one can't be told from its time. */
const TICK_MS_MAX = 2_000;

type Untouched = {
  readonly place: KnownPath;
  readonly madeMs: number;
  readonly look: FileLook | undefined;
  /** Whether a change from now on would show. */
  isSettled: boolean;
};

export class ScratchDirectories {
  private readonly libc: Libc | undefined;
  private readonly untouched = new Map<string, Untouched>();
  private readonly removals = new Set<Promise<void>>();
  private count = 0;

  constructor(libc: Libc | undefined) {
    this.libc = libc;
  }

  /** Throws what `mkdir` throws. */
  make(path: string): void {
    const madeMs = performance.now();
    const known = this.untouched.get(path);
    if (known) {
      known.isSettled ||= madeMs - known.madeMs > TICK_MS_MAX;
      return;
    }
    mkdirSync(path, { recursive: true });
    const place = new KnownPath(path, this.libc);
    this.untouched.set(path, { place, madeMs, look: place.look(), isSettled: false });
  }

  /** Its task has ended; most have not used it, and then the next one may have it as it is. */
  release(path: string): void {
    if (this.isUntouched(path)) return;
    this.untouched.delete(path);
    this.remove(path);
  }

  /** Removes all; resolves when nothing is left. */
  async removeAll(): Promise<void> {
    for (const path of this.untouched.keys()) this.remove(path);
    this.untouched.clear();
    await Promise.all(this.removals);
  }

  private isUntouched(path: string): boolean {
    const known = this.untouched.get(path);
    const look = known?.place.look();
    // By its change time, as its file system tells it.
    if (!look || look.ctimeMs !== known?.look?.ctimeMs || look.mode !== known.look.mode) return false;
    try {
      return known.isSettled || readdirSync(path).length === 0;
    } catch {
      return false;
    }
  }

  private remove(path: string): void {
    try {
      rmdirSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') this.removeContents(path);
      else if (code !== 'ENOENT') complain(path, error);
    }
  }

  private removeContents(path: string): void {
    const doomed = `${path}.removed-${process.pid}-${++this.count}`;
    try {
      renameSync(path, doomed);
    } catch (error) {
      complain(path, error);
      return;
    }
    const removal = rm(doomed, { recursive: true, force: true })
      .catch((error: unknown) => complain(doomed, error))
      .finally(() => this.removals.delete(removal));
    this.removals.add(removal);
  }
}

/** The task has its result; that something of it stays on the disk is for the worker's log. */
function complain(path: string, error: unknown): void {
  process.stderr.write(`drover spawner: scratch directory ${path} was not removed: ${(error as Error).message}\n`);
}
