/** Row i: how long the command itself takes to start. */
import { join } from 'node:path';
import { command } from '../drover.ts';
import { type Contender, drover, type Figures, type MakeRow } from '../row.ts';
import { median } from '../sitting.ts';
import { root } from '../tools.ts';
import type { Workshop } from '../workshop.ts';

/** In one round: starts are short, and each is disturbed by something else. */
const times = 10;
const bare = 'node -e 0';

async function medianMs(workshop: Workshop, program: string, words: readonly string[]): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < times; time++) taken.push(1_000 * (await workshop.run(program, words)).seconds);
  return median(taken) ?? Number.NaN;
}

const commands: Contender = {
  name: drover,
  measure: async (workshop): Promise<Figures> => ({
    versionMs: await medianMs(workshop, ...command('--version')),
    cloneVersionMs: await medianMs(workshop, join(root, 'drover'), ['--version']),
    runSeconds: (await medianRunMs(workshop)) / 1_000,
  }),
};

/** Each in a folder of its own, so the store is made anew: the slowest case. */
async function medianRunMs(workshop: Workshop): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    const folder = workshop.scratch();
    const [program, words] = command('run', '--dir', join(folder, '.drover'), 'echo', ':::', 'one');
    const { seconds, stdout } = await workshop.run(program, words, { cwd: folder });
    if (stdout !== 'one\n') throw new Error(`the task printed '${stdout}'`);
    taken.push(1_000 * seconds);
    workshop.discard(folder);
  }
  return median(taken) ?? Number.NaN;
}

const node: Contender = {
  name: bare,
  version: async () => process.version,
  measure: async (workshop) => ({ ms: await medianMs(workshop, process.execPath, ['-e', '0']) }),
};

export const rowI: MakeRow = () => {
  const against = { contender: bare, figure: 'ms' };
  const target = { most: 2 };
  const value = (figure: string) => ({ contender: drover, figure });
  return {
    letter: 'i',
    contenders: [commands, node],
    comparisons: [
      { work: 'drover --version, as installed', value: value('versionMs'), unit: 'ms', against, target },
      { work: './drover --version, in a clone', value: value('cloneVersionMs'), unit: 'ms', against, target },
      { work: 'drover run of one task', value: value('runSeconds'), unit: 's', target: { most: 0.6 } },
    ],
  };
};
