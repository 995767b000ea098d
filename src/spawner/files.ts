/**
 * The files that tasks read and write. Owns the descriptors; all are close-on-exec, tasks get duplicates.
 * Invariants:
 *  1. an open file is closed exactly once, when it has no user and is not kept for the next task;
 *  2. at most one kept descriptor per path, at most KEPT_FILES_MAX without a user;
 *  3. tasks never take the last descriptors: to look at and kill their processes needs some too.
 */

import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { descriptorLimit } from '../platform/node/descriptors.ts';
import type { OutputFile } from '../protocol/spawner.ts';
import { statIfAny } from './stat.ts';

export type OpenFile = {
  readonly path: string;
  readonly fd: number;
  users: number;
  /** Whether the next task with this path finds it open. */
  kept: boolean;
};

const KEPT_FILES_MAX = 1_024;
const SPARE_DESCRIPTORS = 16;
const FILE_MODE = 0o666;
const CREATE = constants.O_WRONLY | constants.O_CREAT;
const OUTPUT_FLAGS = { append: CREATE | constants.O_APPEND, truncate: CREATE | constants.O_TRUNC };

export class TaskFiles {
  readonly devNull: number;
  private readonly fdMax = descriptorLimit() - SPARE_DESCRIPTORS;
  private readonly kept = new Map<string, OpenFile>();

  constructor() {
    this.devNull = openSync('/dev/null', 'r');
  }

  /** Throws what `open` throws. */
  openOutput(output: OutputFile): OpenFile {
    const known = output.mode === 'append' ? this.kept.get(output.path) : undefined;
    if (known) {
      known.users += 1;
      return known;
    }
    const fd = this.open(output.path, OUTPUT_FLAGS[output.mode]);
    const file = { path: output.path, fd, users: 1, kept: output.mode === 'append' };
    if (file.kept) this.keep(file);
    return file;
  }

  /** Stdout and stderr with the same path are one open file, so that neither overwrites the other. */
  share(file: OpenFile): OpenFile {
    file.users += 1;
    return file;
  }

  release(file: OpenFile): void {
    file.users -= 1;
    closeIfUnused(file);
  }

  openInput(path: string): number {
    return this.open(path, constants.O_RDONLY);
  }

  closeInput(fd: number): void {
    if (fd !== this.devNull) closeSync(fd);
  }

  /** The next task with this path opens it anew. */
  forget(path: string): void {
    const file = this.kept.get(path);
    if (!file) return;
    this.kept.delete(path);
    file.kept = false;
    closeIfUnused(file);
  }

  private open(path: string, flags: number): number {
    refuseFifo(path);
    const fd = openSync(path, flags, FILE_MODE);
    // The kernel gives the lowest free number, so a high one means that few are left.
    if (fd <= this.fdMax) return fd;
    closeSync(fd);
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  }

  private keep(file: OpenFile): void {
    if (this.kept.size >= KEPT_FILES_MAX) {
      for (const other of this.kept.values()) {
        if (other.users > 0) continue;
        this.forget(other.path);
        break;
      }
    }
    this.kept.set(file.path, file);
  }
}

export function sizeOf(file: OpenFile): number {
  return fstatSync(file.fd).size;
}

/** For a file that may have become unreadable since its size was `before`, such as one of a server that went away. */
export function sizeSince(file: OpenFile, before: number): number {
  try {
    return sizeOf(file);
  } catch {
    return before;
  }
}

function closeIfUnused(file: OpenFile): void {
  if (file.users > 0 || file.kept) return;
  try {
    closeSync(file.fd);
  } catch {
    // A network file system tells here that it lost data; the descriptor is closed, and the task has its result.
  }
}

/** To open a FIFO waits for its other end, and all tasks of the worker would wait with it. */
function refuseFifo(path: string): void {
  if (!statIfAny(path)?.isFIFO()) return;
  throw new Error(`${path} is a named pipe; redirect to it within the command instead`);
}
