/** Files of output that live in memory: the segments that tasks write to, and the controller's packed files. */
import type { OutputPacks } from '../../src/controller/shell.ts';
import { outputTailBytesMax } from '../../src/model/limits.ts';
import type { OutputEnd } from '../../src/protocol/spawner.ts';
import type { OutputFiles } from '../../src/worker/shell.ts';

class MemoryFile {
  #content = Buffer.alloc(0);

  get size(): number {
    return this.#content.length;
  }

  write(position: number, data: Uint8Array): void {
    const grown = Buffer.alloc(Math.max(this.size, position + data.length));
    this.#content.copy(grown);
    grown.set(data, position);
    this.#content = grown;
  }

  /** A copy: what is written later must not show in what was read. */
  read(position: number, length: number): Uint8Array {
    return Buffer.from(this.#content.subarray(position, position + length));
  }

  empty(): void {
    this.#content = Buffer.alloc(0);
  }
}

/** As the worker sees its segments; and tasks, which append to them. */
export class MemoryOutputFiles implements OutputFiles {
  readonly #files = new Map<string, MemoryFile>();

  append(path: string, text: string): void {
    this.#file(path).write(this.size(path), Buffer.from(text));
  }

  size(path: string): number {
    return this.#file(path).size;
  }

  read(path: string, position: number, length: number): Uint8Array {
    return this.#file(path).read(position, length);
  }

  /** As a spawner reports it. */
  endOf(path: string): OutputEnd {
    const bytes = this.size(path);
    const tail = this.read(path, Math.max(0, bytes - outputTailBytesMax), outputTailBytesMax);
    return { bytes, tail: Buffer.from(tail).toString('base64') };
  }

  remove(path: string): void {
    this.empty(path);
  }

  empty(path: string): void {
    this.#file(path).empty();
  }

  /** Any path can be written to. */
  makeDirectory(): void {}

  #file(path: string): MemoryFile {
    const file = this.#files.get(path) ?? new MemoryFile();
    this.#files.set(path, file);
    return file;
  }
}

export function memoryOutputPacks(): OutputPacks {
  const files = new Map<number, MemoryFile>();
  return {
    async write(writes) {
      for (const { file, position, data } of writes) {
        const found = files.get(file) ?? new MemoryFile();
        files.set(file, found);
        found.write(position, data);
      }
    },
    read: async (file, position, length) => files.get(file)?.read(position, length) ?? new Uint8Array(),
    close: async () => {},
  };
}
