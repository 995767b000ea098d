/** Output of attempts: from the packed files once the controller has it, from the worker as long as it does not. */
import type { LiveOutput } from '../controller/messages.ts';
import type { ControllerShell } from '../controller/shell.ts';
import type { AttemptId } from '../model/ids.ts';
import { outputChunkBytesMax, outputReadBytesMax } from '../model/limits.ts';
import type { OutputStream } from '../model/states.ts';

export interface StoredOutput {
  /** Where the last piece that is here ends. */
  readonly bytes: number;
  /** Where the first piece beyond that offset begins, or the last one ends; undefined from there on. */
  nextAfter(offset: number): number | undefined;
  read(offset: number, limit: number): Promise<Uint8Array>;
}

export interface OutputRead {
  readonly data: Uint8Array;
  readonly nextOffset: number;
  /** The attempt has ended and these are its last bytes. */
  readonly isComplete: boolean;
}

export async function storedOutput(
  shell: ControllerShell,
  attempt: AttemptId,
  stream: OutputStream,
): Promise<StoredOutput> {
  const all = await shell.store.outputPieces(attempt);
  const pieces = all.filter((piece) => piece.stream === stream).sort((a, b) => a.offset - b.offset);
  const bytes = pieces.reduce((end, { offset, length }) => Math.max(end, offset + length), 0);
  const read = async (offset: number, limit: number): Promise<Uint8Array> => {
    const parts: Uint8Array[] = [];
    let from = offset;
    for (const piece of pieces) {
      const left = limit - (from - offset);
      if (left <= 0 || piece.offset > from) break;
      const skip = from - piece.offset;
      if (skip >= piece.length) continue;
      const length = Math.min(left, piece.length - skip);
      const part = await shell.packs.read(piece.file, piece.position + skip, length);
      parts.push(part);
      from += part.length;
      if (part.length < length) break;
    }
    return Buffer.concat(parts);
  };
  const nextAfter = (offset: number): number | undefined => {
    if (offset >= bytes) return undefined;
    return pieces.find((piece) => piece.offset > offset)?.offset ?? bytes;
  };
  return { bytes, nextAfter, read };
}

/** Which bytes are meant. */
export interface OutputPlace {
  readonly attempt: AttemptId;
  readonly stream: OutputStream;
  readonly offset: number;
}

/** What is there now beyond the offset: from the worker as long as that has it, else from the store. */
export async function readOutput(
  shell: ControllerShell,
  { attempt, stream, offset }: OutputPlace,
  limit: number = outputReadBytesMax,
): Promise<OutputRead> {
  const live = await readLive(shell, { attempt, stream, offset }, Math.min(limit, outputChunkBytesMax));
  if (live !== undefined) return { data: live.data, nextOffset: offset + live.data.length, isComplete: false };
  const isLive = await shell.read((cluster) => {
    const record = cluster.attempts.get(attempt);
    return (record !== undefined && record.state !== 'ended') || shell.controller.sessions.pulls.isPulling(attempt);
  });
  const output = await storedOutput(shell, attempt, stream);
  const data = await output.read(offset, limit);
  // A stretch that will not come any more is left out, and the reader sees by how much the offset jumps.
  const gapEnd = !isLive && data.length === 0 ? output.nextAfter(offset) : undefined;
  const nextOffset = gapEnd ?? offset + data.length;
  return { data, nextOffset, isComplete: !isLive && nextOffset >= output.bytes };
}

/** Where a stream ends now. */
export async function outputLength(shell: ControllerShell, attempt: AttemptId, stream: OutputStream): Promise<number> {
  const live = await readLive(shell, { attempt, stream, offset: 0 }, 0);
  return live?.bytes ?? (await storedOutput(shell, attempt, stream)).bytes;
}

/** `undefined` when its worker is not there, or has handed it over. */
async function readLive(shell: ControllerShell, place: OutputPlace, limit: number): Promise<LiveOutput | undefined> {
  const reply = await shell.request({ type: 'read-output', ...place, limit });
  return reply.type === 'output' ? reply.live : undefined;
}
