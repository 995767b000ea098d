/** What a task costs the controller, by the number of workers, tasks and workflows. */
import { ScaledHerd, type Size } from './herd.ts';

export interface Measured extends Size {
  /** Of the controller's CPU. */
  readonly microsecondsPerTask: number;
}

/** Small herds are measured several times over, to be as far from chance as large ones. */
const tasksMeasured = 200_000;

/** Round after round: the least that each has cost is what it costs, the rest is what else the machine did meanwhile. */
export function measure(sizes: readonly Size[], rounds: number): Measured[] {
  // The machine's translator has seen the code, as in a controller that has been there for a while.
  for (const workflows of [1, 10]) new ScaledHerd({ workers: 100, tasks: 100_000, workflows }).run();
  const least = sizes.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [at, size] of sizes.entries()) least[at] = Math.min(least[at] ?? 0, cost(size));
  }
  return sizes.map((size, at) => ({ ...size, microsecondsPerTask: least[at] ?? 0 }));
}

function cost(size: Size): number {
  let [cpuMs, ended] = [0, 0];
  while (ended < tasksMeasured) {
    const herd = new ScaledHerd(size);
    herd.run();
    cpuMs += herd.cpuMs;
    ended += herd.ended;
  }
  return (1_000 * cpuMs) / ended;
}
