/**
 * Output that is being followed: fetched once, for all who follow it.
 *
 * Owns: blocks of streams, of `outputChunkBytesMax` each, as far as they are filled.
 * 1. A block is asked for once at a time, however many wait for it; a stream without news is asked about by one timer.
 * 2. Blocks only grow: a reader gets every byte once, in order, from memory or from wherever it is fetched again.
 * 3. All blocks together have at most `sharedOutputBytesMax`; those go first that nobody has read for the longest time.
 */
import type { ControllerShell } from '../controller/shell.ts';
import { followPollMs, outputChunkBytesMax, sharedOutputBytesMax } from '../model/limits.ts';
import { type OutputPlace, type OutputRead, readOutput } from './output.ts';

interface Block {
  /** From the beginning of the block on. */
  data: Buffer;
  /** The stream ends with it. */
  isLast: boolean;
  asking: Promise<OutputRead> | undefined;
}

/** Of a stream: when it is asked about next, for all who wait for news of it. */
interface Pulse {
  readers: number;
  pollMs: number;
  next: Promise<void> | undefined;
}

/** What nobody follows any more is forgotten after this. */
const idleMsMax = 30_000;

export class SharedOutput {
  readonly #shell: ControllerShell;
  readonly #bytesMax: number;
  /** The least recently read first. */
  readonly #blocks = new Map<string, Block>();
  readonly #pulses = new Map<string, Pulse>();
  #bytes = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(shell: ControllerShell, bytesMax: number = sharedOutputBytesMax) {
    this.#shell = shell;
    this.#bytesMax = bytesMax;
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Waits up to `until`, about, for bytes beyond the offset, or for the end. */
  async read(place: OutputPlace, until: number): Promise<OutputRead> {
    const key = `${place.attempt} ${place.stream}`;
    const pulse = this.#enter(key);
    try {
      for (;;) {
        const answer = this.#held(place) ?? (await this.#ask(place));
        const isNews = answer.nextOffset > place.offset || answer.isComplete;
        if (isNews || this.#shell.now() >= until) return answer;
        await this.#beat(pulse);
      }
    } finally {
      this.#leave(key, pulse);
    }
  }

  #enter(key: string): Pulse {
    const pulse = this.#pulses.get(key) ?? { readers: 0, pollMs: followPollMs.first, next: undefined };
    pulse.readers++;
    this.#pulses.set(key, pulse);
    clearTimeout(this.#idle);
    return pulse;
  }

  #leave(key: string, pulse: Pulse): void {
    pulse.readers--;
    if (pulse.readers > 0) return;
    this.#pulses.delete(key);
    if (this.#pulses.size === 0) this.#idle = setTimeout(() => this.#forget(), idleMsMax).unref();
  }

  #forget(): void {
    this.#blocks.clear();
    this.#bytes = 0;
  }

  /** Until it is time to ask again. The first who waits sets the time for all. */
  #beat(pulse: Pulse): Promise<void> {
    pulse.next ??= new Promise((resolve) => {
      setTimeout(() => {
        pulse.next = undefined;
        pulse.pollMs = Math.min(2 * pulse.pollMs, followPollMs.max);
        resolve();
      }, pulse.pollMs);
    });
    return pulse.next;
  }

  #held({ attempt, stream, offset }: OutputPlace): OutputRead | undefined {
    const index = Math.floor(offset / outputChunkBytesMax);
    const key = `${attempt} ${stream} ${index}`;
    const block = this.#blocks.get(key);
    const from = offset - index * outputChunkBytesMax;
    if (block === undefined || from >= block.data.length) return undefined;
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    const data = block.data.subarray(from);
    return { data, nextOffset: offset + data.length, isComplete: block.isLast, isAway: false };
  }

  /** What comes behind what is held of the block; from there to the offset nothing is left out. */
  async #ask(place: OutputPlace): Promise<OutputRead> {
    const { attempt, stream, offset } = place;
    const index = Math.floor(offset / outputChunkBytesMax);
    const key = `${attempt} ${stream} ${index}`;
    const block = this.#blocks.get(key) ?? { data: Buffer.alloc(0), isLast: false, asking: undefined };
    this.#blocks.set(key, block);
    const from = index * outputChunkBytesMax + block.data.length;
    block.asking ??= this.#fetch({ attempt, stream, offset: from }, key, block);
    const answer = await block.asking;
    const held = this.#held(place);
    if (held !== undefined) return held;
    // A stretch that is gone begins elsewhere for who is within it.
    return from === offset ? answer : readOutput(this.#shell, place, { isPatient: true });
  }

  async #fetch(place: OutputPlace, key: string, block: Block): Promise<OutputRead> {
    try {
      const limit = outputChunkBytesMax - (place.offset % outputChunkBytesMax);
      const answer = await readOutput(this.#shell, place, { limit, isPatient: true });
      if (answer.data.length > 0) this.#fill(key, block, answer);
      return answer;
    } finally {
      block.asking = undefined;
      if (block.data.length === 0) this.#blocks.delete(key);
    }
  }

  #fill(key: string, block: Block, { data, isComplete }: OutputRead): void {
    block.data = Buffer.concat([block.data, data]);
    block.isLast = isComplete;
    this.#bytes += data.length;
    const pulse = this.#pulses.get(streamOf(key));
    if (pulse !== undefined) pulse.pollMs = followPollMs.first;
    for (const [oldest, { data: dropped, asking }] of this.#blocks) {
      if (this.#bytes <= this.#bytesMax) return;
      if (oldest === key || asking !== undefined) continue;
      this.#blocks.delete(oldest);
      this.#bytes -= dropped.length;
    }
  }
}

const streamOf = (key: string): string => key.slice(0, key.lastIndexOf(' '));
