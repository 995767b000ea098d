/**
 * The simulator's command line.
 *   npm run sim -- --seeds 10000        many seeds, on all cores
 *   npm run sim -- --seed 42            one, with its timeline if it fails; --shrink leaves out what it does not need
 *   npm run sim -- --scenario cut-off   a named one
 *   npm run sim -- scale                what a task costs the controller, by workers, tasks and workflows
 *   … --mutation give-up-early          with a defect switched on
 * What runs is imported only once a mutation is in place; several jobs are processes of their own.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { switchOn } from './mutation.ts';
import { mutationOf } from './mutations.ts';
import type { Summary } from './summary.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    scenario: { type: 'string' },
    mutation: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    /** Stop at the first violation. */
    first: { type: 'boolean', default: false },
    lines: { type: 'string', default: '150' },
    /** For the jobs that this program starts: every so manieth seed. */
    stride: { type: 'string' },
  },
});

/** How often progress is told where it can't be overwritten. */
const lineEveryMs = 30_000;
let nextLineAt = lineEveryMs;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (values.mutation !== undefined) switchOn(mutationOf(values.mutation));
const isSingle = values.seed !== undefined || values.scenario !== undefined;
process.exitCode = (await chosen()) ? 0 : 1;

function chosen(): Promise<boolean> {
  if (positionals[0] === 'scale') return scale();
  if (isSingle) return single();
  return values.stride === undefined ? many() : part();
}

async function scale(): Promise<boolean> {
  const { runScale } = await import('./scale/main.ts');
  return runScale(say);
}

async function single(): Promise<boolean> {
  const { runSingle } = await import('./batch.ts');
  const { scenario, shrink: isShrunk } = values;
  return runSingle({ seed: Number(values.seed), scenario, isShrunk, lines: Number(values.lines) }, say);
}

async function many(): Promise<boolean> {
  const { addSummary, emptySummary, render } = await import('./summary.ts');
  const begunAt = performance.now();
  const jobs = Math.max(1, Math.min(Number(values.jobs), Number(values.seeds)));
  const progress = Array.from({ length: jobs }, () => ({ seeds: 0, failures: 0 }));
  const parts = await Promise.all(
    progress.map((mine, job) =>
      startPart(job, jobs, (seeds, failures) => {
        Object.assign(mine, { seeds, failures });
        showProgress(progress);
      }),
    ),
  );
  const total = emptySummary();
  for (const found of parts) addSummary(total, found);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  const seconds = (performance.now() - begunAt) / 1000;
  say(render(total));
  say(`took             ${seconds.toFixed(0)} s on ${jobs} cores, ${Math.round(total.steps / seconds)} steps/s`);
  return total.failures.length === 0;
}

function showProgress(progress: readonly { seeds: number; failures: number }[]): void {
  const { isTTY } = process.stderr;
  if (!isTTY && performance.now() < nextLineAt) return;
  nextLineAt = performance.now() + lineEveryMs;
  const seeds = progress.reduce((sum, each) => sum + each.seeds, 0);
  const failures = progress.reduce((sum, each) => sum + each.failures, 0);
  const text = `${seeds} of ${values.seeds} seeds, ${failures} violations`;
  process.stderr.write(isTTY ? `\r${text}` : `${text}\n`);
}

type News = { readonly seeds: number; readonly failures: number } | { readonly summary: Summary };

function startPart(job: number, jobs: number, onProgress: (seeds: number, failures: number) => void): Promise<Summary> {
  const own = process.argv.slice(2);
  const from = Number(values.from) + job;
  const seeds = Number(values.seeds) - job;
  const child = fork(import.meta.filename, [...own, '--from', `${from}`, '--seeds', `${seeds}`, '--stride', `${jobs}`]);
  return new Promise((resolve, reject) => {
    child.on('message', (news: News) => {
      if ('summary' in news) resolve(news.summary);
      else onProgress(news.seeds, news.failures);
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`a job ended with ${code}`)));
  });
}

async function part(): Promise<boolean> {
  const { runBatch } = await import('./batch.ts');
  const summary = await runBatch({
    from: Number(values.from),
    seeds: Number(values.seeds),
    stride: Number(values.stride),
    stopsAtFirst: values.first,
    onProgress: ({ seeds, failures }) => {
      if (seeds % 20 === 0) process.send?.({ seeds, failures: failures.length });
    },
  });
  await new Promise((resolve) => process.send?.({ summary }, resolve));
  process.disconnect?.();
  return true;
}
