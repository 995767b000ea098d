/** HyperQueue, the fastest of the task runners for clusters, by its own Python API (hyperqueue-tasks.py). */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender } from '../row.ts';
import { venvFolder } from '../tools.ts';
import { installedPython, missingPython } from './python.ts';

export interface ProgramWork {
  readonly n: number;
  readonly slots: number;
  readonly words: readonly string[];
}

const python = join(venvFolder, 'bin', 'python');

export const hyperqueue = ({ n, slots, words }: ProgramWork): Contender => ({
  name: 'hyperqueue',
  note: `LocalCluster, no journal, N = ${n.toLocaleString('en')}`,
  missing: () => missingPython('hyperqueue'),
  version: async () => installedPython('hyperqueue') ?? 'unknown',
  async measure(workshop) {
    const folder = workshop.scratch();
    const script = join(import.meta.dirname, 'hyperqueue-tasks.py');
    const { stdout } = await workshop.run(python, [script, String(n), String(slots), folder, ...words]);
    const seconds = Number(stdout.trim().split('\n').at(-1));
    const outputs = existsSync(join(folder, 'work')) ? readdirSync(join(folder, 'work')).length : 0;
    if (!(seconds > 0) || outputs < 2 * n) throw new Error(`it left ${outputs} files of output, and said ${stdout}`);
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});
