/**
 * Commands that come again and again, as those of an array do, are kept once, like environments.
 * Owns: the commands that were written lately. Invariant: an id in here is of a row that is there, or of the transaction
 * under way; after one that fails nothing is written any more.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A shorter one is no longer than what refers to it. */
const charsMin = 64;
/** How many, and how long together, are remembered; one that is repeated later is written once more. */
const rememberedMax = 256;
const rememberedCharsMax = 4 * 1024 * 1024;

export class CommandTexts {
  readonly #insert: StatementSync;
  readonly #find: StatementSync;
  /** Seen once: no id yet. */
  readonly #ids = new Map<string, number | undefined>();
  #chars = 0;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO text (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING');
    this.#find = database.prepare('SELECT id FROM text WHERE hash = ?');
  }

  /** Within a transaction. undefined: it goes into the row itself. */
  idOf(command: string): number | undefined {
    if (command.length < charsMin) return undefined;
    const known = this.#ids.get(command);
    if (known !== undefined) return known;
    if (!this.#ids.has(command)) {
      this.#remember(command);
      return undefined;
    }
    const hash = createHash('sha256').update(command).digest();
    this.#insert.run(hash, command);
    const { id } = this.#find.get(hash) as { id: number };
    this.#ids.set(command, id);
    return id;
  }

  #remember(command: string): void {
    if (this.#ids.size >= rememberedMax || this.#chars + command.length > rememberedCharsMax) {
      this.#ids.clear();
      this.#chars = 0;
    }
    this.#ids.set(command, undefined);
    this.#chars += command.length;
  }
}
