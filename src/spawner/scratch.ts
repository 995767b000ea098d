/**
 * The scratch directories of tasks. Owns the removals under way.
 * Invariant: after `remove` the path is free at once; what was in it disappears in the background.
 */

import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';

export class ScratchDirectories {
  private readonly removals = new Set<Promise<void>>();
  private count = 0;

  /** Throws what `mkdir` throws. */
  make(path: string): void {
    mkdirSync(path, { recursive: true });
  }

  remove(path: string): void {
    try {
      rmdirSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') this.removeContents(path);
      else if (code !== 'ENOENT') complain(path, error);
    }
  }

  /** Resolves when nothing is left to remove. */
  async settled(): Promise<void> {
    await Promise.all(this.removals);
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
