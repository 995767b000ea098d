/**
 * How often each of many may do something: a bucket for each, which holds `burst` at most and gets `perSecond` new ones.
 *
 * Owns: the level of every bucket that is not full.
 * 1. As many buckets as `keysMax` are known; past it the one that was used longest ago is forgotten, which makes it full.
 */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  level: number;
  at: number;
}

export class Buckets {
  readonly #rate: Rate;
  readonly #keysMax: number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, keysMax: number) {
    this.#rate = rate;
    this.#keysMax = keysMax;
  }

  /** Takes one, and returns 0; or how many ms it takes until there is one. */
  take(key: string, now: number): number {
    const { perSecond, burst } = this.#rate;
    const { level, at } = this.#buckets.get(key) ?? { level: burst, at: now };
    const filled = Math.min(burst, level + (Math.max(0, now - at) / 1_000) * perSecond);
    this.#buckets.delete(key);
    this.#buckets.set(key, { level: filled >= 1 ? filled - 1 : filled, at: now });
    const [oldest = key] = this.#buckets.keys();
    if (this.#buckets.size > this.#keysMax) this.#buckets.delete(oldest);
    return filled >= 1 ? 0 : Math.ceil(((1 - filled) / perSecond) * 1_000);
  }
}
