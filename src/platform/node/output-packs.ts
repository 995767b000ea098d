/** The packed files of output, `<directory>/<number>.pack`: written at given positions, synced before they count. */
import { mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure, onDisk } from './disk-failure.ts';

interface PackWrite {
  readonly file: number;
  readonly position: number;
  readonly data: Uint8Array;
}

export class NodeOutputPacks {
  readonly #directory: string;
  readonly #handles = new Map<number, FileHandle>();

  constructor(directory: string) {
    this.#directory = directory;
    onDisk(directory, () => mkdirSync(directory, { recursive: true, mode: 0o700 }));
  }

  async write(writes: readonly PackWrite[]): Promise<void> {
    try {
      const touched = new Set<FileHandle>();
      for (const { first, data } of runs(writes)) {
        const handle = await this.#open(first.file);
        await writeAll(handle, data, first.position);
        touched.add(handle);
      }
      for (const handle of touched) await handle.datasync();
    } catch (error) {
      throw diskFailure(this.#directory, error);
    }
  }

  async read(file: number, position: number, length: number): Promise<Uint8Array> {
    const handle = await this.#open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  async close(): Promise<void> {
    for (const handle of this.#handles.values()) await handle.close();
    this.#handles.clear();
  }

  async #open(file: number): Promise<FileHandle> {
    const known = this.#handles.get(file);
    if (known !== undefined) return known;
    const path = join(this.#directory, `${String(file).padStart(8, '0')}.pack`);
    // Not `a`: positions are given, and what a crash left behind the last of them is written over.
    const handle = await open(path, 'r+').catch(() => open(path, 'w+', 0o600));
    this.#handles.set(file, handle);
    return handle;
  }
}

/** One call may write less than all of it. */
async function writeAll(handle: FileHandle, data: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await handle.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

/** Writes that follow each other in a file are one write. */
function* runs(writes: readonly PackWrite[]): Generator<{ first: PackWrite; data: Uint8Array }> {
  let first: PackWrite | undefined;
  let parts: Uint8Array[] = [];
  let end = 0;
  for (const write of writes) {
    if (first !== undefined && (write.file !== first.file || write.position !== end)) {
      yield { first, data: Buffer.concat(parts) };
      first = undefined;
    }
    if (first === undefined) {
      first = write;
      parts = [];
    }
    parts.push(write.data);
    end = write.position + write.data.length;
  }
  if (first !== undefined) yield { first, data: Buffer.concat(parts) };
}
