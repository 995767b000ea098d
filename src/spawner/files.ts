/**
 * The files that tasks read and write. Owns the descriptors; all are close-on-exec, tasks get duplicates.
 * Invariants:
 *  1. an open file is closed exactly once, when it has no user and is not kept for the next task;
 *  2. at most one kept descriptor per path, at most KEPT_FILES_MAX without a user;
 *  3. tasks never take the last descriptors: to look at and kill their processes needs some too.
 */

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { outputTailBytesMax } from '../model/limits.ts';
import { descriptorLimit } from '../platform/node/descriptors.ts';
import type { Libc } from '../platform/node/libc.ts';
import type { OutputEnd, OutputFile } from '../protocol/spawner.ts';
import { statIfAny } from './stat.ts';

export type OpenFile = {
  readonly path: string;
  readonly fd: number;
  users: number;
  /** Whether the next task with this path finds it open. */
  kept: boolean;
  /** It may hold what the last task wrote. */
  isUsed: boolean;
  /** For reading what tasks write, since the other one only writes; kept while descriptors are plenty. */
  reader: number | undefined;
};

const KEPT_FILES_MAX = 1_024;
const SPARE_DESCRIPTORS = 16;
/** The kernel gives the lowest free number, so a higher one means that few are left. */
const READER_FD_MAX = Math.floor(descriptorLimit() / 4);
const FILE_MODE = 0o666;
/** Tasks append: one that opens its own output once more must not overwrite it. */
const OUTPUT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;
const EMPTY: OutputEnd = { bytes: 0, tail: '' };

export class TaskFiles {
  readonly devNull: number;
  private readonly libc: Libc | undefined;
  /** What is read comes here first; one read at a time. */
  private readonly tail = Buffer.from(new ArrayBuffer(outputTailBytesMax));
  private readonly tailAddress: number;
  private readonly fdMax = descriptorLimit() - SPARE_DESCRIPTORS;
  private readonly kept = new Map<string, OpenFile>();

  constructor(libc: Libc | undefined) {
    this.libc = libc;
    this.tailAddress = libc?.addressOf(this.tail) ?? 0;
    this.devNull = openSync('/dev/null', 'r');
  }

  /** Throws what `open` throws. */
  openOutput(output: OutputFile): OpenFile {
    const known = output.mode === 'reuse' ? this.kept.get(output.path) : undefined;
    if (known) {
      // If libc can't, Node can't either, and says why.
      if (known.isUsed && !this.libc?.empty(known.fd)) ftruncateSync(known.fd);
      known.isUsed = false;
      known.users += 1;
      return known;
    }
    const fd = this.open(output.path, OUTPUT_FLAGS);
    const file = { path: output.path, fd, users: 1, kept: output.mode === 'reuse', isUsed: false, reader: undefined };
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

  /** What a task left in its file; nothing if it has become unreadable, as one of a server that went away. */
  endOf(file: OpenFile): OutputEnd {
    try {
      file.isUsed = true;
      const bytes = this.sizeOf(file);
      file.isUsed = bytes > 0;
      return bytes === 0 ? EMPTY : { bytes, tail: this.readTail(file, bytes) };
    } catch {
      return EMPTY;
    }
  }

  private sizeOf(file: OpenFile): number {
    return this.libc?.lookInto(file.fd)?.sizeBytes ?? fstatSync(file.fd).size;
  }

  /** By the descriptor, since a task may have renamed or removed the file. */
  private readTail(file: OpenFile, size: number): string {
    const reader = file.reader ?? openSync(`/proc/self/fd/${file.fd}`, 'r');
    try {
      const length = Math.min(size, outputTailBytesMax);
      const got =
        this.libc?.readAt(reader, this.tailAddress, length, size - length) ??
        readSync(reader, this.tail, 0, length, size - length);
      if (got < 0) throw new Error(`${file.path} can't be read`);
      return this.tail.toString('base64', 0, got);
    } finally {
      if (file.kept && reader <= READER_FD_MAX) file.reader = reader;
      else closeReader(file, reader);
    }
  }

  private open(path: string, flags: number): number {
    refuseFifo(path);
    const fd = openSync(path, flags, FILE_MODE);
    // Likewise, few are left for the spawner itself.
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

function closeReader(file: OpenFile, reader = file.reader): void {
  if (reader !== undefined) closeSync(reader);
  file.reader = undefined;
}

function closeIfUnused(file: OpenFile): void {
  if (file.users > 0 || file.kept) return;
  closeReader(file);
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
