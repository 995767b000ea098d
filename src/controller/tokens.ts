/**
 * The tokens that were given out, beside those of the access file.
 *
 * Owns: their rows. No part of the cluster: what runs where does not depend on who may ask, so the core, its history
 * and the simulator know nothing of them; but they are committed by the turns like all else, and a new one is told to
 * nobody before it is durable.
 * 1. An id is never used again, also when its row has gone: the newest row stays.
 * 2. Of a token only the hash is known.
 */
import { DroverError } from '../model/errors.ts';
import { tokensMax } from '../model/limits.ts';
import { printToken, type TokenRole } from '../model/tokens.ts';
import type { TokenRow } from '../store/token-row.ts';

export interface NewToken {
  readonly name: string | undefined;
  readonly role: TokenRole;
  readonly hash: string;
  readonly expiresAt: number | undefined;
}

/** What a turn did to tokens, for its commit. */
export interface TokenChanges {
  readonly written: TokenRow[];
  readonly removed: number[];
}

export class Tokens {
  readonly #byId = new Map<number, TokenRow>();
  readonly #byHash = new Map<string, TokenRow>();
  #last = 0;
  #changes: TokenChanges = { written: [], removed: [] };

  /** In the order of their ids. */
  constructor(rows: readonly TokenRow[]) {
    for (const row of rows) this.#put(row);
  }

  add({ name, role, hash, expiresAt }: NewToken, now: number): TokenRow {
    if (this.#byId.size >= tokensMax) this.#makeRoom(now);
    const row = { id: this.#last + 1, name, role, hash, createdAt: now, expiresAt, revokedAt: undefined };
    this.#put(row);
    this.#changes.written.push(row);
    return row;
  }

  /** One that is revoked already stays as it is. */
  revoke(id: number, now: number): void {
    const row = this.#byId.get(id);
    if (row === undefined) throw new DroverError('token-unknown', `there is no token ${printToken(id)}`);
    if (row.revokedAt !== undefined) return;
    const revoked = { ...row, revokedAt: now };
    this.#put(revoked);
    this.#changes.written.push(revoked);
  }

  get(id: number): TokenRow | undefined {
    return this.#byId.get(id);
  }

  ofHash(hash: string): TokenRow | undefined {
    return this.#byHash.get(hash);
  }

  get rows(): Iterable<TokenRow> {
    return this.#byId.values();
  }

  /** What changed since it was last asked; undefined when nothing has. */
  takeChanges(): TokenChanges | undefined {
    const { written, removed } = this.#changes;
    if (written.length === 0 && removed.length === 0) return undefined;
    this.#changes = { written: [], removed: [] };
    return { written, removed };
  }

  #put(row: TokenRow): void {
    this.#byId.set(row.id, row);
    this.#byHash.set(row.hash, row);
    this.#last = Math.max(this.#last, row.id);
  }

  #makeRoom(now: number): void {
    for (const row of this.#byId.values()) {
      if (row.id === this.#last || isValid(row, now)) continue;
      this.#byId.delete(row.id);
      this.#byHash.delete(row.hash);
      this.#changes.removed.push(row.id);
      return;
    }
    throw new DroverError('too-large', `there are ${tokensMax} tokens`, { hint: 'revoke those that nobody uses' });
  }
}

const isValid = ({ revokedAt, expiresAt }: TokenRow, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
