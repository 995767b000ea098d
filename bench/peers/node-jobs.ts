/** Peers that are packages of Node: each has a program here that adds N empty jobs and drains them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figures } from '../row.ts';
import { packageFolder } from '../tools.ts';
import type { Workshop } from '../workshop.ts';

/** What such a program prints. */
export interface JobsTaken {
  readonly addSeconds: number;
  readonly drainSeconds: number;
}

export async function runJobs(
  workshop: Workshop,
  program: string,
  n: number,
  where: string,
  settings: object = {},
): Promise<Figures> {
  const path = join(import.meta.dirname, program);
  const words = ['--disable-warning=ExperimentalWarning', path, String(n), where, JSON.stringify(settings)];
  const { stdout } = await workshop.run(process.execPath, words);
  const { addSeconds, drainSeconds } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Partial<JobsTaken>;
  if (addSeconds === undefined || drainSeconds === undefined) throw new Error(`it printed no result: ${stdout}`);
  return { rate: n / (addSeconds + drainSeconds), addRate: n / addSeconds, drainRate: n / drainSeconds };
}

export function packageVersion(name: string): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
