/** `npm run sim -- scale`: the whole grid, as a table and as docs/scale.svg. Takes a few minutes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Measured, measure } from './measure.ts';
import { plot, type Series } from './plot.ts';

const workers = [10, 100, 1_000, 10_000];
const tasks = [10_000, 100_000, 1_000_000];
const [manyTasks, manyWorkflows] = [1_000_000, 1_000];
const rounds = 2;
/**
 * Between the dearest and the cheapest. Not one: what is spread over more memory is found in the caches less often. What
 * went over all workers or tasks would be a hundred times as dear.
 */
const spreadMax = 4;

const picture = join(import.meta.dirname, '..', '..', 'docs', 'scale.svg');
const count = (value: number): string => value.toLocaleString('en');

/** Returns whether it is flat. */
export function runScale(say: (text: string) => void): boolean {
  const rows = [
    ...tasks.map((number) => ({ name: `${count(number)} tasks`, tasks: number, workflows: 1 })),
    { name: `in ${count(manyWorkflows)} workflows`, tasks: manyTasks, workflows: manyWorkflows },
  ];
  const sizes = rows.flatMap(({ tasks, workflows }) => workers.map((each) => ({ workers: each, tasks, workflows })));
  const measured = measure(sizes, rounds);
  const series = rows.map(({ name }, at) => ({
    ...{ name, points: measured.slice(at * workers.length, (at + 1) * workers.length) },
  }));
  writeFileSync(picture, plot(series));
  for (const line of table(series)) say(line);
  const costs = measured.map(({ microsecondsPerTask }) => microsecondsPerTask);
  const spread = Math.max(...costs) / Math.min(...costs);
  say(`\ndearest / cheapest ${spread.toFixed(2)}, at most ${spreadMax}; the plot is docs/scale.svg`);
  return spread <= spreadMax;
}

function* table(series: readonly Series[]): Generator<string> {
  yield `${'µs per task, by workers'.padEnd(30)}${workers.map((each) => count(each).padStart(8)).join('')}`;
  const cell = ({ microsecondsPerTask }: Measured): string => microsecondsPerTask.toFixed(1).padStart(8);
  for (const { name, points } of series) yield `${name.padEnd(30)}${points.map(cell).join('')}`;
}
