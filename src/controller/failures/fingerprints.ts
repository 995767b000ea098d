/**
 * Fingerprints of failures, each kept once and named by a few hexadecimal digits that people can type.
 * Owns: all fingerprints of the store, and those that the next commit has to write.
 * 1. A fingerprint has the same id and the same name for good. 2. No two have the same name.
 */
import { failureLimits } from '../../model/limits.ts';
import type { FingerprintRow } from '../../store/failure-rows.ts';
import { foldLines } from './fold.ts';

/** What failed attempts have that wrote what there is no more room for. */
const overflow = 'other';
const nameDigitsMin = 4;

export class Fingerprints {
  readonly #ids = new Map<string, number>();
  readonly #names = new Set<string>();
  readonly #rows: FingerprintRow[] = [];
  #new: FingerprintRow[] = [];

  constructor(rows: readonly FingerprintRow[]) {
    for (const row of rows) this.#take(row);
  }

  /** The id of the fingerprint of that text; 0 where it has no line. */
  of(text: string): number {
    const lines = foldLines(text);
    if (lines === '') return 0;
    const known = this.#ids.get(lines);
    if (known !== undefined) return known;
    if (this.#rows.length < failureLimits.fingerprintsMax - 1) return this.#add(this.#nameFor(lines), lines);
    return this.#ids.get(overflow) ?? this.#add(overflow, overflow);
  }

  get(id: number): FingerprintRow | undefined {
    return this.#rows[id - 1];
  }

  takeNew(): readonly FingerprintRow[] {
    const taken = this.#new;
    if (taken.length > 0) this.#new = [];
    return taken;
  }

  #add(name: string, lines: string): number {
    const row = { id: this.#rows.length + 1, name, lines };
    this.#take(row);
    this.#new.push(row);
    return row.id;
  }

  #take(row: FingerprintRow): void {
    this.#rows.push(row);
    this.#ids.set(row.lines, row.id);
    this.#names.add(row.name);
  }

  /** As few digits of its digest as tell it from the others so far. */
  #nameFor(lines: string): string {
    for (let salt = 0; ; salt++) {
      const digest = digestOf(salt === 0 ? lines : `${lines}\n${salt}`);
      for (let digits = nameDigitsMin; digits <= digest.length; digits++) {
        const name = digest.slice(0, digits);
        if (!this.#names.has(name)) return name;
      }
    }
  }
}

/** FNV-1a over the text's characters: names need to differ, not to be safe. */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
