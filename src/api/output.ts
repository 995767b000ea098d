/** Output of attempts: from the packed files once the controller has it, from the worker as long as it does not. */
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

/** Waits up to `until` for bytes beyond the offset, or for the end. */
export async function readOutput(
  shell: ControllerShell,
  attempt: AttemptId,
  stream: OutputStream,
  offset: number,
  until: number,
): Promise<OutputRead> {
  for (;;) {
    const answer = await readOnce(shell, attempt, stream, offset);
    const isNews = answer.nextOffset > offset || answer.isComplete;
    if (isNews || shell.now() >= until) return answer;
    await shell.changed(Math.min(until, shell.now() + followMs));
  }
}

/** How often a worker is asked for news of a stream that is followed. */
const followMs = 100;

async function readOnce(
  shell: ControllerShell,
  attempt: AttemptId,
  stream: OutputStream,
  offset: number,
): Promise<OutputRead> {
  const request = { type: 'read-output', attempt, stream, offset, limit: outputChunkBytesMax } as const;
  const reply = await shell.request(request);
  if (reply.type === 'output' && reply.live !== undefined) {
    const { data } = reply.live;
    return { data, nextOffset: offset + data.length, isComplete: false };
  }
  const isLive = await shell.read((cluster) => {
    const record = cluster.attempts.get(attempt);
    return (record !== undefined && record.state !== 'ended') || shell.controller.sessions.pulls.isPulling(attempt);
  });
  const output = await storedOutput(shell, attempt, stream);
  const data = await output.read(offset, outputReadBytesMax);
  // A stretch that will not come any more is left out, and the reader sees by how much the offset jumps.
  const gapEnd = !isLive && data.length === 0 ? output.nextAfter(offset) : undefined;
  const nextOffset = gapEnd ?? offset + data.length;
  return { data, nextOffset, isComplete: !isLive && nextOffset >= output.bytes };
}
