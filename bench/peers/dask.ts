/** dask.distributed, whose tasks are calls within a process and are kept in memory only. */
import { join } from 'node:path';
import type { Contender } from '../row.ts';
import { venvFolder } from '../tools.ts';
import { installedPython, missingPython } from './python.ts';

const python = join(venvFolder, 'bin', 'python');
const threads = 4;

export const dask = (n: number): Contender => ({
  name: 'dask',
  note: `in memory, N = ${n.toLocaleString('en')}`,
  missing: () => missingPython('distributed'),
  version: async () => installedPython('distributed') ?? 'unknown',
  async measure(workshop) {
    const folder = workshop.scratch();
    const script = join(import.meta.dirname, 'dask-tasks.py');
    const { stdout } = await workshop.run(python, [script, String(n), String(threads), folder]);
    const seconds = Number(stdout.trim().split('\n').at(-1));
    if (!(seconds > 0)) throw new Error(`it said ${stdout}`);
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});
