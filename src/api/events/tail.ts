/**
 * The last changes of the history, in memory, for streams that keep up with them.
 *
 * Owns: these changes, as they were committed, and the attempts that they name.
 * 1. It holds changes without a gap, up to the last one that is durable, and nothing while nobody reads.
 * 2. It holds about `tailChangesMax` of them. Who wants older ones is told to read the store.
 */
import type { Committed, ControllerShell } from '../../controller/shell.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Change } from '../../core/change.ts';
import type { AttemptId } from '../../model/ids.ts';
import { eventStreamLimits } from '../../model/limits.ts';
import type { HistoryEntry } from '../../store/store.ts';
import type { HistoryPart } from './blocks.ts';

export class EventTail {
  readonly #shell: ControllerShell;
  readonly #readers = new Set<() => void>();
  #turns: Committed[] = [];
  /** Those that the changes name. */
  readonly #attempts = new Map<AttemptId, AttemptRow>();
  /** Of the changes that are held; a submission counts by its tasks. */
  #weight = 0;
  #stop: (() => void) | undefined;

  constructor(shell: ControllerShell) {
    this.#shell = shell;
  }

  /** `onNews` is called after each turn that changed something. Returns how to stop. */
  read(onNews: () => void): () => void {
    this.#stop ??= this.#shell.follow((committed) => this.#take(committed));
    this.#readers.add(onNews);
    return () => {
      this.#readers.delete(onNews);
      if (this.#readers.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      this.#turns = [];
      this.#attempts.clear();
      this.#weight = 0;
    };
  }

  /** The next changes beyond that number, some of them; undefined if they are not here any more, or not yet. */
  after(seq: number): HistoryPart | undefined {
    const first = this.#turns[0];
    if (first === undefined || seq + 1 < first.first) return undefined;
    const entries: HistoryEntry[] = [];
    for (let at = this.#turnOf(seq + 1); at < this.#turns.length; at++) {
      const { first: from, at: time, changes } = this.#turns[at] as Committed;
      for (let next = Math.max(0, seq + 1 - from); next < changes.length; next++) {
        if (entries.length === eventStreamLimits.changesAtOnce) return this.#part(entries);
        entries.push({ seq: from + next, at: time, change: changes[next] as Change });
      }
    }
    return this.#part(entries);
  }

  #part(entries: readonly HistoryEntry[]): HistoryPart {
    return { entries, attempts: async () => this.#attempts };
  }

  #take(committed: Committed): void {
    this.#turns.push(committed);
    for (const row of committed.attempts) this.#attempts.set(row.id, row);
    this.#weight += weightOf(committed);
    let dropped = 0;
    while (this.#weight > eventStreamLimits.tailChangesMax && dropped < this.#turns.length) {
      this.#drop(this.#turns[dropped++] as Committed);
    }
    if (dropped > 0) this.#turns.splice(0, dropped);
    for (const onNews of this.#readers) onNews();
  }

  #drop(turn: Committed): void {
    this.#weight -= weightOf(turn);
    for (const row of turn.attempts) if (this.#attempts.get(row.id) === row) this.#attempts.delete(row.id);
  }

  /** The last turn that begins at that number or before it. */
  #turnOf(seq: number): number {
    let [low, high] = [0, this.#turns.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#turns[middle] as Committed).first <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function weightOf({ changes }: Committed): number {
  let weight = changes.length;
  for (const change of changes) if (change.type === 'tasks-added') weight += change.seeds.length;
  return weight;
}
