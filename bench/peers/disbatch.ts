/** disBatch: looks once a second which of its tasks have ended. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender } from '../row.ts';
import { venvFolder } from '../tools.ts';
import { installedPython, missingPython } from './python.ts';
import type { LineWork } from './xargs.ts';

const program = join(venvFolder, 'bin', 'disBatch');

export const disbatch = ({ n, slots, line }: LineWork): Contender => ({
  name: 'disbatch',
  note: `N = ${n.toLocaleString('en')}`,
  missing: () => missingPython('disbatch'),
  version: async () => installedPython('disbatch') ?? 'unknown',
  async measure(workshop) {
    const folder = workshop.scratch();
    writeFileSync(join(folder, 'tasks'), `${line}\n`.repeat(n));
    const env = { PATH: `${join(venvFolder, 'bin')}:${process.env.PATH}` };
    const words = ['-e', '-s', `localhost:${slots}`, '-p', join(folder, 'run'), join(folder, 'tasks')];
    const { seconds } = await workshop.run(program, words, { cwd: folder, env });
    const recorded = recordedIn(folder);
    if (recorded !== n) throw new Error(`it recorded ${recorded} of ${n} tasks`);
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});

function recordedIn(folder: string): number {
  const file = readdirSync(folder).find((name) => name.endsWith('_status.txt'));
  return file === undefined ? 0 : readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').length;
}
