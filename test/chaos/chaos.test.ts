/** The crash test, small. `npm run chaos` is the large one. */
import { expect, it } from 'vitest';
import { crashRound } from './crash.ts';
import { printRound } from './report.ts';
import { printSubmitKills, submitKills } from './submit-kill.ts';

const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);

it('loses, repeats and leaves nothing when controller and workers are killed', { timeout: 240_000 }, async () => {
  const round = await crashRound({ seed, tasks: 300, batches: 20, times: 3, everyPhase: false });
  expect(round.faults, printRound(round)).toEqual([]);
});

it('has what it acknowledged when it is killed at once', { timeout: 120_000 }, async () => {
  const kills = await submitKills({ seed, bySdk: 12, byCommand: 3 });
  expect(kills.faults, printSubmitKills(kills)).toEqual([]);
});
