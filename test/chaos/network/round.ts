/** One round of trouble: tasks run while paths are cut and processes are stopped and killed; then everything is counted. */
import { Chance } from '../chance.ts';
import { look, verdictOf, waitForAll } from '../conclusion.ts';
import { Definer } from '../definer.ts';
import type { Repetition } from '../evidence.ts';
import { Herd } from '../herd.ts';
import { Ledger } from '../ledger.ts';
import { Imp } from './imp.ts';
import { namespaceNetwork } from './namespaces.ts';
import type { Network } from './network.ts';
import { Nurse, type Recovery } from './nurse.ts';
import { proxyNetwork } from './proxy.ts';
import { type Trouble, Troubles } from './troubles.ts';

export interface NetworkRoundOptions {
  readonly seed: number;
  /** How long there is trouble. */
  readonly seconds: number;
  /** How long each lasts at most. */
  readonly msMax: number;
  readonly gapMsMax: number;
  /** How long a task takes at most. */
  readonly taskMsMax: number;
  /** Namespaces where they work when absent. */
  readonly by?: Network['kind'] | undefined;
}

export interface NetworkRound {
  readonly seed: number;
  readonly by: Network['kind'];
  readonly folder: string;
  readonly begunAt: number;
  readonly tookMs: number;
  readonly tasks: number;
  readonly attempts: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly troubles: readonly Trouble[];
  readonly repetitions: readonly Repetition[];
  readonly excused: readonly string[];
  readonly longest: Recovery | undefined;
  readonly recoveries: number;
  /** From the end of the last trouble to the end of the last task. */
  readonly endedAfterMs: number;
  readonly faults: readonly string[];
}

const workers = 3;
const slots = 4;
const tasksPerSecond = 1.5;
const batchSize = 6;
const briefMsMin = 50;
const briefMsMax = 2_000;
const longOneIn = 6;

export async function networkRound(options: NetworkRoundOptions): Promise<NetworkRound> {
  const network = await networkOf(options.by);
  const herd = new Herd(slots, network);
  try {
    return await roundWith(herd, network, options);
  } catch (error) {
    herd.abandon();
    throw new Error(`seed ${options.seed}, see ${herd.folder}`, { cause: error });
  } finally {
    network.close();
  }
}

async function networkOf(by: Network['kind'] | undefined): Promise<Network> {
  const network = by === 'proxy' ? undefined : await namespaceNetwork(workers);
  if (network === undefined && by === 'namespaces') throw new Error('network namespaces do not work here');
  return network ?? (await proxyNetwork(workers));
}

async function roundWith(herd: Herd, network: Network, options: NetworkRoundOptions): Promise<NetworkRound> {
  const { seed, seconds, taskMsMax } = options;
  const begunAt = Date.now();
  const ledger = new Ledger(herd.folder, true);
  const troubles = new Troubles((pid) => herd.positionOf(pid));
  await herd.start(workers);
  const imp = new Imp(herd, troubles, options);
  const tasks = Math.ceil(seconds * tasksPerSecond);
  const definer = new Definer(herd, ledger, new Chance(seed + 1), {
    ...{ tasks, batches: Math.ceil(tasks / batchSize), pace: () => imp.progress },
    durationMs: (chance) =>
      chance.isOneIn(longOneIn) ? chance.between(briefMsMax, taskMsMax) : chance.between(briefMsMin, briefMsMax),
  });
  const nurse = new Nurse(herd, troubles);
  const shown = new Map<string, number>();
  let isOver = false;
  const watching = [nurse.watch(() => isOver), look(herd, shown, new Chance(seed + 2), () => isOver)];
  await Promise.all([imp.run(network.paths), definer.submitAll()]);
  const healedAt = Math.max(...troubles.all.map(({ to }) => to));
  herd.faults.push(...(await waitForAll(herd, definer)));
  const endedAfterMs = Date.now() - healedAt;
  isOver = true;
  await Promise.all(watching);
  const verdict = await verdictOf(herd, { definer, ledger, shown, causes: troubles });
  return {
    ...{ seed, by: network.kind, folder: herd.folder, begunAt, tookMs: Date.now() - begunAt, tasks, endedAfterMs },
    attempts: verdict.attempts,
    acknowledged: definer.acknowledged.length,
    unanswered: definer.submissions.length - definer.acknowledged.length,
    troubles: troubles.all,
    ...{ repetitions: verdict.repetitions, excused: verdict.excused },
    ...{ longest: nurse.longest, recoveries: nurse.recoveries.length },
    faults: [...herd.faults, ...verdict.faults],
  };
}
