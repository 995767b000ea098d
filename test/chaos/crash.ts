/** One round of the crash test: tasks are submitted and run while the monkey kills; then everything is counted. */
import { killCauses } from './causes.ts';
import { Chance } from './chance.ts';
import { look, verdictOf, waitForAll } from './conclusion.ts';
import { Definer } from './definer.ts';
import { Herd } from './herd.ts';
import { Ledger } from './ledger.ts';
import { Monkey } from './monkey.ts';
import type { Round } from './report.ts';

export interface RoundOptions {
  readonly seed: number;
  readonly tasks: number;
  readonly batches: number;
  /** Kills per target. */
  readonly times: number;
  /** Whether every phase has to be hit. */
  readonly everyPhase: boolean;
}

const workers = 2;
const slots = 4;
const leeway = 0.06;

export async function crashRound(options: RoundOptions): Promise<Round> {
  const herd = new Herd(slots);
  try {
    return await roundWith(herd, options);
  } catch (error) {
    herd.abandon();
    throw new Error(`seed ${options.seed}, see ${herd.folder}`, { cause: error });
  }
}

async function roundWith(herd: Herd, options: RoundOptions): Promise<Round> {
  const { seed, tasks, batches, times, everyPhase } = options;
  const begunAt = Date.now();
  const ledger = new Ledger(herd.folder);
  // Neither gets far ahead of the other, so that there is always something to interrupt.
  const monkey: Monkey = new Monkey(herd, new Chance(seed), {
    ...{ times, everyPhase, pace: () => definer.progress + leeway },
  });
  const definer: Definer = new Definer(herd, ledger, new Chance(seed + 1), {
    ...{ tasks, batches },
    pace: () => monkey.progress + (monkey.aim === 'submitting' ? 1 : leeway),
  });
  const shown = new Map<string, number>();
  await herd.start(workers);
  let isOver = false;
  const looking = look(herd, shown, new Chance(seed + 2), () => isOver);
  await Promise.all([monkey.run(), definer.submitAll()]);
  herd.faults.push(...monkey.missed.map((phase) => `no kill hit it ${phase}`));
  herd.faults.push(...(await waitForAll(herd, definer)));
  isOver = true;
  await looking;
  const verdict = await verdictOf(herd, { definer, ledger, shown, causes: killCauses(herd.kills) });
  return {
    ...{ seed, folder: herd.folder, begunAt, tookMs: Date.now() - begunAt, tasks, shown: shown.size },
    acknowledged: definer.acknowledged.length,
    unanswered: definer.submissions.length - definer.acknowledged.length,
    kills: herd.kills,
    repetitions: verdict.repetitions,
    faults: [...herd.faults, ...verdict.faults],
  };
}
