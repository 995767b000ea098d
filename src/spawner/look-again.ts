/** After what time the memory of a task is looked at again, where only looking tells. */

/** A look costs some 20 µs for each process: a hundred tasks far below their limits take less than 1 % of a processor. */
const FAR_MS = 800;
const NEAR_MS = 100;
const CLOSE_MS = 25;
const LEAST_MS = 20;
const NEAR_SHARE = 0.5;
const CLOSE_SHARE = 0.8;

export type Use = {
  readonly limitBytes: number;
  readonly usedBytes: number;
  /** Bytes per millisecond since the last look. */
  readonly growth: number;
  readonly ageMs: number;
};

export const isFar = (usedBytes: number, limitBytes: number): boolean => usedBytes < limitBytes * NEAR_SHARE;

export function lookAgainMs({ limitBytes, usedBytes, growth, ageMs }: Use): number {
  const isClose = usedBytes >= limitBytes * CLOSE_SHARE;
  const byShare = isFar(usedBytes, limitBytes) ? FAR_MS : isClose ? CLOSE_MS : NEAR_MS;
  // Halfway to where it meets the limit if it goes on like this.
  const byGrowth = growth > 0 ? (limitBytes - usedBytes) / growth / 2 : Number.POSITIVE_INFINITY;
  // Most grow when they begin.
  return Math.max(LEAST_MS, Math.min(byShare, byGrowth, ageMs));
}
