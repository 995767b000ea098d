import type { TokenRole } from '../model/tokens.ts';

/** A token that was given out, without the token itself. */
export interface TokenRow {
  readonly id: number;
  readonly name: string | undefined;
  readonly role: TokenRole;
  /** The SHA-256 of the token, in hex: the token is random and long, so there is nothing to guess from it. */
  readonly hash: string;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
}
