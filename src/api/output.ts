/** Output of attempts: from the packed files once the controller has it, from the worker as long as it does not. */
import type { LiveOutput } from '../controller/messages.ts';
import type { ControllerShell } from '../controller/shell.ts';
import type { Cluster } from '../core/cluster.ts';
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
  /** There may be more, with a worker that can't be asked now. */
  readonly isAway: boolean;
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

export interface ReadOptions {
  readonly limit?: number;
  /** It waits for what is with a worker that can't be asked now; else that is left out. */
  readonly isPatient?: boolean;
}

/** What is there now beyond the offset: from the worker as long as that has it, else from the store. */
export async function readOutput(
  shell: ControllerShell,
  { attempt, stream, offset }: OutputPlace,
  { limit = outputReadBytesMax, isPatient = false }: ReadOptions = {},
): Promise<OutputRead> {
  const live = await readLive(shell, { attempt, stream, offset }, Math.min(limit, outputChunkBytesMax));
  const read = (data: Uint8Array, nextOffset: number) => ({ data, nextOffset, isComplete: false, isAway: false });
  if (live !== undefined) return read(live.data, offset + live.data.length);
  const known = await shell.read((cluster) => whereaboutsOf(shell, cluster, attempt));
  const output = await storedOutput(shell, attempt, stream);
  const data = await output.read(offset, limit);
  const gapEnd = data.length > 0 ? undefined : output.nextAfter(offset);
  const isExpected = !known.isOpen && gapEnd !== undefined && (await mayBeWithItsWorker(shell, attempt));
  const { isOpen, isAway } = isExpected ? away : known;
  // A stretch that will not come is left out, and the reader sees by how much the offset jumps.
  const isLeftOut = !isOpen || (isAway && !isPatient);
  const nextOffset = isLeftOut && gapEnd !== undefined ? gapEnd : offset + data.length;
  return { ...read(data, nextOffset), isComplete: !isOpen && nextOffset >= output.bytes, isAway };
}

interface Whereabouts {
  /** More may come of it, though nobody could say so now. */
  readonly isOpen: boolean;
  readonly isAway: boolean;
}
const away: Whereabouts = { isOpen: true, isAway: true };

/** After a restart: a worker that has not yet said what it has may have what is missing here. */
async function mayBeWithItsWorker(shell: ControllerShell, attempt: AttemptId): Promise<boolean> {
  const [row] = await shell.store.attempts([attempt]);
  return shell.read(({ liveWorkers }) => {
    const worker = row === undefined ? undefined : liveWorkers.get(row.worker);
    return worker?.kind === 'native' && worker.facts.isNew;
  });
}

/** Of an attempt that nobody answered for. */
function whereaboutsOf(
  { controller }: ControllerShell,
  { attempts, workers }: Cluster,
  attempt: AttemptId,
): Whereabouts {
  const { pulls } = controller.sessions;
  const record = attempts.get(attempt);
  const holder = record !== undefined && record.state !== 'ended' ? record.worker : pulls.holderOf(attempt);
  if (holder === undefined) return { isOpen: false, isAway: false };
  // What workers over HTTP have sent is here, and nobody asks them for more.
  return { isOpen: true, isAway: workers.get(holder)?.kind !== 'http' && !pulls.reaches(holder) };
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
