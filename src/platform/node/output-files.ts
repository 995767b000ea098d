/** The files that tasks write to, as the worker reads them. Synchronous: what it reads is in the cache. */
import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { makeDirectory } from './make-directory.ts';

export const nodeOutputFiles = {
  size: (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0,

  /** Fewer bytes where the file has no more: a task may have truncated it. */
  read(path: string, position: number, length: number): Uint8Array {
    const buffer = Buffer.alloc(length);
    let fd: number;
    try {
      fd = openSync(path, 'r');
    } catch {
      return buffer.subarray(0, 0);
    }
    try {
      let filled = 0;
      while (filled < length) {
        const got = readSync(fd, buffer, filled, length - filled, position + filled);
        if (got === 0) break;
        filled += got;
      }
      return buffer.subarray(0, filled);
    } finally {
      closeSync(fd);
    }
  },

  remove: (path: string): void => rmSync(path, { force: true }),

  makeDirectory: (path: string): void => {
    try {
      makeDirectory(path);
    } catch {
      // The first task that can't write there says what is wrong.
    }
  },
};
