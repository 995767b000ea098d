/**
 * Numbers from a seed. A fork depends on the seed and its name alone, not on what was drawn before: who draws less, or
 * is removed, shifts nobody else.
 */
export class Random {
  readonly #origin: number;
  #state: number;

  constructor(seed: number) {
    this.#origin = scramble(seed | 0);
    this.#state = this.#origin;
  }

  fork(name: string | number): Random {
    return new Random(this.#origin ^ hashText(String(name)));
  }

  /** From 0, below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** Both ends included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Small ones are as likely as large ones: durations of faults span orders of magnitude. */
  logarithmic(least: number, most: number): number {
    return least * (most / least) ** this.next();
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const fnvPrime = 16_777_619;
export const hashStart = 0x811c9dc5 | 0;

export function hashText(text: string, from: number = hashStart): number {
  let hash = from;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), fnvPrime);
  return hash;
}

export const hashNumber = (value: number, from: number): number =>
  Math.imul(Math.imul(from ^ (value | 0), fnvPrime) ^ ((value * 1024) | 0), fnvPrime);
