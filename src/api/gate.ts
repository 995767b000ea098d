/**
 * Who is let in: from what a request or a link brings along to the one who speaks.
 *
 * Owns: when each token was last used, and the links that are open under each.
 * 1. Tokens are looked up by their hash and compared in constant time: how long a refusal takes tells nothing of them.
 * 2. A token that is expired or revoked is called that only to who has it; all others hear the same of every token.
 * 3. A link does not outlive its token.
 * 4. Who asks too often waits; so does, much sooner, who shows no token that is valid. Others at its address do not: a
 *    token can't be guessed, so nothing is gained by keeping them out.
 */
import type { Tokens } from '../controller/tokens.ts';
import { DroverError } from '../model/errors.ts';
import { rateLimits } from '../model/limits.ts';
import { parseToken, printToken, type TokenRole } from '../model/tokens.ts';
import type { Clock } from '../platform/env.ts';
import type { TokenRow } from '../store/token-row.ts';
import { Buckets, type Rate } from './buckets.ts';

/** Who asks. */
export interface Identity {
  readonly role: TokenRole;
  /** `t3`; for the tokens of the access file `admin` and `worker`. */
  readonly tokenId: string;
}

/** Of all that was given to it, as SHA-256 in hex. */
export interface Hasher {
  update(chunk: Uint8Array): void;
  digest(): string;
}

/** What only the platform can do. */
export interface Secrets {
  /** 256 random bits, as text. */
  newToken(): string;
  /** The SHA-256 of a text, in hex. */
  digest(text: string): string;
  hasher(): Hasher;
  /** Constant in time for texts of one length. */
  isSame(given: string, expected: string): boolean;
}

export interface GateOptions {
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** Those of the access file, by which all begins. */
  readonly own: { readonly admin: string; readonly worker: string };
  readonly tokens: Tokens;
  readonly rates?: { readonly requests: Rate; readonly failures: Rate };
}

/**
 * What was made with one token is spoken for with that one, or by an admin: an HTTP worker, and all that it has claimed.
 * `owner`: the `tokenId` of who made it.
 */
export function mustBeOwn({ role, tokenId }: Identity, owner: string, what: string): void {
  if (role === 'admin' || tokenId === owner) return;
  throw new DroverError('worker-wrong', `${what} was registered with another token`, {
    hint: 'use the token that it was registered with',
  });
}

interface OpenLink {
  close(why: string): void;
}

export class Gate {
  readonly secrets: Secrets;
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  /** By the hash of their token. */
  readonly #own: readonly (readonly [hash: string, identity: Identity])[];
  readonly #requests: Buckets;
  readonly #failures: Buckets;
  readonly #usedAt = new Map<string, number>();
  readonly #links = new Map<string, Set<OpenLink>>();

  constructor({ secrets, clock, own, tokens, rates = rateLimits }: GateOptions) {
    this.#requests = new Buckets(rates.requests, rateLimits.watchedMax);
    this.#failures = new Buckets(rates.failures, rateLimits.watchedMax);
    this.secrets = secrets;
    this.#clock = clock;
    this.#tokens = tokens;
    this.#own = (['admin', 'worker'] as const).map((role) => [secrets.digest(own[role]), { role, tokenId: role }]);
  }

  /** Throws what is to be answered to who is not let in. `peer`: the address that it comes from. */
  admit(authorization: string | undefined, peer = ''): Identity {
    try {
      const identity = this.#identify(authorization);
      this.#mustNotHurry(this.#requests, identity.tokenId, 'requests with this token');
      return identity;
    } catch (error) {
      const isFailure = error instanceof DroverError && error.status === 401;
      if (isFailure) this.#mustNotHurry(this.#failures, peer, 'requests without a valid token');
      throw error;
    }
  }

  /** For an answer that took a while: throws when the token has ended meanwhile. */
  mustStillBeValid({ tokenId }: Identity): void {
    const row = this.#rowOf(tokenId);
    if (row !== undefined) this.#mustBeValid(row);
  }

  /** One who needs no token is known by his address alone. */
  welcome(peer: string): void {
    this.#mustNotHurry(this.#requests, peer, 'requests from this address');
  }

  #mustNotHurry(buckets: Buckets, key: string, what: string): void {
    const retryAfterMs = buckets.take(key, this.#clock.now());
    if (retryAfterMs > 0) throw new DroverError('too-many-requests', `too many ${what}`, { details: { retryAfterMs } });
  }

  #identify(authorization: string | undefined): Identity {
    const given = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) throw new DroverError('not-authorised', 'the token is missing or wrong');
    const hash = this.secrets.digest(given);
    for (const [own, identity] of this.#own) if (this.secrets.isSame(hash, own)) return identity;
    const row = this.#tokens.ofHash(hash);
    if (row === undefined || !this.secrets.isSame(hash, row.hash)) {
      throw new DroverError('not-authorised', 'the token is missing or wrong');
    }
    this.#mustBeValid(row);
    const identity = { role: row.role, tokenId: printToken(row.id) };
    this.#usedAt.set(identity.tokenId, this.#clock.now());
    return identity;
  }

  /** As far as this controller has seen it. */
  lastUsedAt(tokenId: string): number | undefined {
    return this.#usedAt.get(tokenId);
  }

  /** The link is closed when its token ends. Returns how to forget it. */
  keep({ tokenId }: Identity, link: OpenLink): () => void {
    const links = this.#links.get(tokenId) ?? new Set();
    this.#links.set(tokenId, links.add(link));
    const expiresAt = this.#rowOf(tokenId)?.expiresAt;
    const timer =
      expiresAt === undefined ? undefined : this.#clock.at(expiresAt, () => link.close('its token expired'));
    return () => {
      timer?.cancel();
      links.delete(link);
    };
  }

  /** Closes what was opened with it; requests with it are refused already. */
  onRevoked(tokenId: string): void {
    for (const link of this.#links.get(tokenId) ?? []) link.close('its token was revoked');
    this.#usedAt.delete(tokenId);
  }

  #mustBeValid({ expiresAt, revokedAt }: TokenRow): void {
    if (revokedAt !== undefined) throw new DroverError('token-revoked', 'the token was revoked');
    if (expiresAt !== undefined && expiresAt <= this.#clock.now()) {
      throw new DroverError('token-expired', `the token expired at ${new Date(expiresAt).toISOString()}`);
    }
  }

  /** Of none of the access file's. */
  #rowOf(tokenId: string): TokenRow | undefined {
    const id = parseToken(tokenId);
    return id === undefined ? undefined : this.#tokens.get(id);
  }
}
