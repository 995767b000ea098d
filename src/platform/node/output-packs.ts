/** The packed files of output, `<directory>/<number>.pack`: written at given positions, synced before they count. */
import { mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { DroverError } from '../../model/errors.ts';
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
        // Not `a`: positions are given, and what a crash left behind the last of them is written over.
        const handle =
          this.#handles.get(first.file) ??
          (await this.#keep(first.file, 'r+').catch(() => this.#keep(first.file, 'w+')));
        await writeAll(handle, data, first.position);
        touched.add(handle);
      }
      for (const handle of touched) await handle.datasync();
    } catch (error) {
      throw diskFailure(this.#directory, error);
    }
  }

  /** Fewer bytes where the file has no more, none where it is gone: somebody may have cleared up. */
  async read(file: number, position: number, length: number): Promise<Uint8Array> {
    try {
      const handle = this.#handles.get(file) ?? (await this.#keep(file, 'r+'));
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return new Uint8Array();
      throw new DroverError('store-damaged', `output can't be read: ${messageOf(cause)}`, { cause });
    }
  }

  async close(): Promise<void> {
    for (const handle of this.#handles.values()) await handle.close();
    this.#handles.clear();
  }

  async #keep(file: number, mode: 'r+' | 'w+'): Promise<FileHandle> {
    const handle = await open(join(this.#directory, `${String(file).padStart(8, '0')}.pack`), mode, 0o600);
    this.#handles.set(file, handle);
    return handle;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
