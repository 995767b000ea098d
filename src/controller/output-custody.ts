/**
 * The custody of output: where the controller puts what it gets. Bytes go into packed files, at positions that are given out here; the shell writes and syncs them before the
 * commit that points at them, so a worker is told to drop output only when it is durable here.
 * 1. Positions are given out once; a crash may leave unused bytes behind the last piece, which are written over.
 */
import type { AttemptId } from '../model/ids.ts';
import { outputFileBytesMax } from '../model/limits.ts';
import type { OutputStream } from '../model/states.ts';
import type { StreamEnd } from '../protocol/worker.ts';
import type { OutputPiece } from '../store/store.ts';
import type { OutputWrite } from './messages.ts';

export class OutputCustody {
  #file: number;
  #length: number;
  #pieces: OutputPiece[] = [];
  #writes: OutputWrite[] = [];

  constructor(end: { readonly file: number; readonly length: number }) {
    this.#file = Math.max(1, end.file);
    this.#length = end.length;
  }

  /** Keeps the tail that came with an end; returns where it begins in its stream. */
  keepTail(attempt: AttemptId, stream: OutputStream, { bytes, tail }: StreamEnd): number {
    const data = Buffer.from(tail, 'base64');
    const offset = Math.max(0, bytes - data.length);
    this.keep(attempt, stream, offset, data);
    return offset;
  }

  keep(attempt: AttemptId, stream: OutputStream, offset: number, data: Uint8Array): void {
    if (data.length === 0) return;
    if (this.#length + data.length > outputFileBytesMax) {
      this.#file++;
      this.#length = 0;
    }
    const place = { file: this.#file, position: this.#length };
    this.#pieces.push({ attempt, stream, offset, length: data.length, ...place });
    this.#writes.push({ ...place, data });
    this.#length += data.length;
  }

  /** What this turn has to make durable. */
  take(): { pieces: OutputPiece[]; writes: OutputWrite[] } {
    const taken = { pieces: this.#pieces, writes: this.#writes };
    this.#pieces = [];
    this.#writes = [];
    return taken;
  }
}
