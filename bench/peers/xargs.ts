/** `xargs -P`: keeps no output apart, no record and no result, and is what most people use. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender } from '../row.ts';
import { missingProgram, programOf } from '../tools.ts';

export interface LineWork {
  readonly n: number;
  readonly slots: number;
  /** A line of shell. */
  readonly line: string;
}

export const xargs = ({ n, slots, line }: LineWork): Contender => ({
  name: 'xargs',
  missing: () => missingProgram('xargs', 'apt-get install findutils'),
  version: async (workshop) => firstLine((await workshop.run(programOf('xargs'), ['--version'])).stdout),
  async measure(workshop) {
    const folder = workshop.scratch();
    const stdin = join(folder, 'values');
    writeFileSync(stdin, numbers(n));
    const words = [`-P${slots}`, '-I{}', 'sh', '-c', line];
    const { seconds } = await workshop.run(programOf('xargs'), words, { stdin, cwd: folder });
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});

export const numbers = (n: number): string => Array.from({ length: n }, (_, at) => `${at + 1}\n`).join('');

export const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
