/** Partitions, stops and kills, small. `npm run chaos -- network` is the large one. */
import { expect, it } from 'vitest';
import { printNetworkRound } from './report.ts';
import { networkRound } from './round.ts';

const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);
const size = { seconds: 14, msMax: 4_000, gapMsMax: 4_000, taskMsMax: 3_000 };

it('never has two attempts of a task at once, whatever is cut, stopped or killed', { timeout: 240_000 }, async () => {
  const round = await networkRound({ seed, ...size });
  expect(round.faults, printNetworkRound(round)).toEqual([]);
});
