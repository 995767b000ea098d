/** What the programs of the Node peers share: their arguments, their packages, their clock. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { npmFolder } from '../tools.ts';
import type { JobsTaken } from './node-jobs.ts';

/** They are installed outside the project, so that it knows neither them nor their types. */
export const load: (name: string) => unknown = createRequire(join(npmFolder, 'package.json'));

const [, , count = '0', where = '', settingsText = '{}'] = process.argv;
export const n = Number(count);
/** A connection string, or a socket. */
export const place = where;
export const settings = JSON.parse(settingsText) as Readonly<Record<string, number>>;

/** Batches of the numbers 1 to n. */
export function* batches(size: number): Generator<number[], void> {
  for (let first = 1; first <= n; first += size) {
    yield Array.from({ length: Math.min(size, n - first + 1) }, (_, at) => first + at);
  }
}

export async function takeTime(add: () => Promise<void>, drain: () => Promise<void>): Promise<void> {
  const begin = performance.now();
  await add();
  const added = performance.now();
  await drain();
  const end = performance.now();
  const taken: JobsTaken = { addSeconds: (added - begin) / 1_000, drainSeconds: (end - added) / 1_000 };
  process.stdout.write(`${JSON.stringify(taken)}\n`);
}

export const pauseMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
