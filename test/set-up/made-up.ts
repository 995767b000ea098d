/**
 * How much is made up at random, and from which seed. A change is judged by the same cases each time, or it would fail now
 * and then for what others have done. `npm run properties` looks for more, from another seed each time.
 */

/** DROVER_TEST_TIMES=20: so many times as much. */
export const times = Number(process.env.DROVER_TEST_TIMES ?? 1);

/** DROVER_TEST_SEED=7: from another seed. */
export const seed = Number(process.env.DROVER_TEST_SEED ?? 20_261);

export const madeUp = (runs = 100): { readonly numRuns: number; readonly seed: number } => ({
  numRuns: runs * times,
  seed,
});
