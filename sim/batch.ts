/** Many seeds in this process, one after the other; or one, with all that there is to tell of it. */
import { countCells } from './coverage.ts';
import { drawPlan } from './plan.ts';
import { runPlan } from './run.ts';
import { scenarios } from './scenarios/scenarios.ts';
import { shrink } from './shrink.ts';
import { addRun, emptySummary, type Summary } from './summary.ts';

const cells = countCells();

export interface BatchOptions {
  readonly from: number;
  readonly seeds: number;
  /** Takes every so manieth seed. */
  readonly stride: number;
  readonly stopsAtFirst: boolean;
  onProgress(summary: Summary): void;
}

export async function runBatch(options: BatchOptions): Promise<Summary> {
  const { from, seeds, stride, stopsAtFirst, onProgress } = options;
  const summary = emptySummary();
  for (let seed = from; seed < from + seeds; seed += stride) {
    addRun(summary, await runPlan(drawPlan(seed)));
    onProgress(summary);
    if (stopsAtFirst && summary.failures.length > 0) break;
  }
  Object.assign(summary.cells, Object.fromEntries(cells));
  return summary;
}

export interface Single {
  readonly seed: number;
  readonly scenario: string | undefined;
  readonly isShrunk: boolean;
  readonly lines: number;
}

/** Returns whether nothing was violated. */
export async function runSingle(single: Single, say: (text: string) => void): Promise<boolean> {
  const { seed, scenario, isShrunk, lines } = single;
  const drawn = scenario === undefined ? drawPlan(seed) : scenarios[scenario];
  if (drawn === undefined) throw new Error(`no scenario ${scenario}; there are ${Object.keys(scenarios).join(', ')}`);
  const plan = isShrunk ? await shrink(drawn, say) : drawn;
  const result = await runPlan(plan, lines);
  const { violation } = result;
  say(`${scenario ?? `seed ${seed}`}: ${result.steps} steps, ${result.simulatedMs / 1000} s, hash ${result.hash}`);
  if (violation === undefined) return true;
  say(`${violation.timeline}\n`);
  say(`${plan.workers.length} workers, ${plan.clients.length} clients, healed at ${plan.faultyMs / 1000} s; faults:`);
  for (const fault of plan.faults) say(`  ${JSON.stringify(fault)}`);
  say(`\n${violation.message}`);
  if (scenario === undefined) say(`replay: npm run sim -- --seed ${seed}; with fewer faults: --shrink`);
  return false;
}
