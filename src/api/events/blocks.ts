/**
 * The history as streams read it from the store that are behind: in blocks, each of which is read once for all who want it.
 *
 * Owns: the blocks that were read lately, and those that are being read.
 * 1. One block is read at a time, with a turn of the event loop behind it, however many streams are behind.
 * 2. At most `blocksMax` are kept; that which nobody has wanted for the longest time goes first. Only whole ones are kept, which never change.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import { eventStreamLimits as limits } from '../../model/limits.ts';
import type { HistoryEntry } from '../../store/store.ts';
import { breath } from '../query/breath.ts';
import { attemptsOf } from './selection.ts';
import type { AttemptsById } from './view.ts';

export interface HistoryPart {
  readonly entries: readonly HistoryEntry[];
  /** All attempts that they name. */
  attempts(): Promise<AttemptsById>;
}

export class HistoryBlocks {
  readonly #shell: ControllerShell;
  /** By their place: block 0 begins with change 1. The one that was wanted last is the last. */
  readonly #blocks = new Map<number, HistoryPart>();
  readonly #reading = new Map<number, Promise<HistoryPart>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(shell: ControllerShell) {
    this.#shell = shell;
  }

  /** The next changes beyond that number, some of them; none at the end. */
  async after(seq: number): Promise<HistoryPart> {
    const place = Math.floor(seq / limits.blockChanges);
    const block = this.#held(place) ?? (await this.#ask(place));
    const from = seq - place * limits.blockChanges;
    return { entries: block.entries.slice(from, from + limits.changesAtOnce), attempts: block.attempts };
  }

  #held(place: number): HistoryPart | undefined {
    const block = this.#blocks.get(place);
    if (block === undefined) return undefined;
    this.#blocks.delete(place);
    this.#blocks.set(place, block);
    return block;
  }

  #ask(place: number): Promise<HistoryPart> {
    const reading =
      this.#reading.get(place) ??
      this.#inTurn(() => this.#read(place)).finally(() => {
        this.#reading.delete(place);
      });
    this.#reading.set(place, reading);
    return reading;
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.then(breath, breath);
    return done;
  }

  async #read(place: number): Promise<HistoryPart> {
    const entries = await this.#shell.store.history(place * limits.blockChanges, limits.blockChanges);
    let attempts: Promise<AttemptsById> | undefined;
    const block: HistoryPart = {
      entries,
      attempts: () => {
        attempts ??= attemptsOf(this.#shell, entries, undefined);
        return attempts;
      },
    };
    if (entries.length === limits.blockChanges) this.#keep(place, block);
    return block;
  }

  #keep(place: number, block: HistoryPart): void {
    this.#blocks.set(place, block);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= limits.blocksMax) return;
      this.#blocks.delete(oldest);
    }
  }

  /** Nobody reads any more. */
  forget(): void {
    this.#blocks.clear();
  }
}
