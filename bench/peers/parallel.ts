/** GNU parallel: keeps the outputs of tasks apart, and prints each when its task has ended. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender } from '../row.ts';
import { missingProgram, programOf } from '../tools.ts';
import { firstLine, type LineWork } from './xargs.ts';

export const parallel = ({ n, slots, line }: LineWork): Contender => ({
  name: 'parallel',
  note: `N = ${n.toLocaleString('en')}`,
  missing: () => missingProgram('parallel', 'apt-get install parallel'),
  version: async (workshop) => firstLine((await workshop.run(programOf('parallel'), ['--version'])).stdout),
  async measure(workshop) {
    const folder = workshop.scratch();
    const stdin = join(folder, 'lines');
    writeFileSync(stdin, `${line}\n`.repeat(n));
    const options = { stdin, cwd: folder, env: { HOME: folder, PARALLEL_HOME: folder } };
    const { seconds } = await workshop.run(programOf('parallel'), ['--will-cite', `-j${slots}`], options);
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});
