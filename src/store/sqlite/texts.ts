/**
 * Texts that many rows share are kept once: environments, and commands that come again and again, as those of an array do.
 * Owns: the commands that were written lately. Invariant: an id in here is of a row that is there, or of the transaction
 * under way; after one that fails nothing is written any more.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A shorter command is no longer than what refers to it. */
const charsMin = 64;
/** How many, and how long together, are remembered; one that is repeated later is written once more. */
const rememberedMax = 256;
const rememberedCharsMax = 4 * 1024 * 1024;

export class Texts {
  readonly #insert: StatementSync;
  readonly #find: StatementSync;
  /** Seen once: no id yet. */
  readonly #commands = new Map<string, number | undefined>();
  #chars = 0;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO text (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING');
    this.#find = database.prepare('SELECT id FROM text WHERE hash = ?');
  }

  /** Within a transaction, as all of these. Returns its id. */
  keep(body: string): number {
    const hash = createHash('sha256').update(body).digest();
    this.#insert.run(hash, body);
    const { id } = this.#find.get(hash) as { id: number };
    return id;
  }

  /** undefined: the command goes into the row itself. */
  ofCommand(command: string): number | undefined {
    if (command.length < charsMin) return undefined;
    const known = this.#commands.get(command);
    if (known !== undefined) return known;
    if (!this.#commands.has(command)) {
      this.#remember(command);
      return undefined;
    }
    const id = this.keep(command);
    this.#commands.set(command, id);
    return id;
  }

  #remember(command: string): void {
    if (this.#commands.size >= rememberedMax || this.#chars + command.length > rememberedCharsMax) {
      this.#commands.clear();
      this.#chars = 0;
    }
    this.#commands.set(command, undefined);
    this.#chars += command.length;
  }
}
