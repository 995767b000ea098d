export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** 0 for none. */
export function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
