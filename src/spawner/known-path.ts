/**
 * A path that is looked at for each task: through libc, where it is there, by a C string that is kept.
 * Owns that string.
 */
import { statSync } from 'node:fs';
import type { FileLook, Libc } from '../platform/node/libc.ts';
import { CStrings } from './c-strings.ts';

type Native = Pick<Libc, 'addressOf' | 'lookAt'>;

export class KnownPath {
  readonly path: string;
  private readonly native: Native | undefined;
  private readonly text: CStrings | undefined;
  private readonly address: number = 0;

  constructor(path: string, native: Native | undefined) {
    this.path = path;
    this.native = native;
    if (!native) return;
    this.text = new CStrings(native.addressOf);
    this.text.reserve(path.length + 1, 0);
    this.address = this.text.addString(path);
  }

  /** undefined when there is nothing, or it may not be looked at. */
  look(): FileLook | undefined {
    if (this.native) return this.native.lookAt(this.address);
    try {
      const stats = statSync(this.path, { throwIfNoEntry: false });
      return stats && { mode: stats.mode, ctimeMs: stats.ctimeMs, sizeBytes: stats.size };
    } catch {
      return undefined;
    }
  }
}
