/** Tokens: made at random, kept as hashes, compared in constant time. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * 256 random bits: nobody guesses them, so a fast hash keeps them as well as a slow one would, and costs no request
 * anything. The first word tells tools that look for leaked secrets what it is.
 */
export const newToken = (): string => `drover_${randomBytes(32).toString('base64url')}`;

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

export function hasher(): { update(chunk: Uint8Array): void; digest(): string } {
  const hash = createHash('sha256');
  return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest('hex') };
}

export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The HMAC-SHA256 of a text, in hex. */
export const sign = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
