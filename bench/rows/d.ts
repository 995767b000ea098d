/** Row d: a million tasks handed to a server by the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, startServer } from '../drover.ts';
import { peakMB, peakUntilExit } from '../memory.ts';
import { type Comparison, type Contender, drover, type Figures, type MakeRow, type Unit } from '../row.ts';
import { lastWords, type Workshop } from '../workshop.ts';

const submission = (n: number): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const tasks = join(folder, 'tasks.txt');
    writeFileSync(tasks, Array.from({ length: n }, (_, at) => `true ${at + 1}\n`).join(''));
    const directory = join(folder, '.drover');
    const server = await startServer(workshop, directory);
    await server.client.restartLoopDelay();
    const client = await submitFile(workshop, directory, tasks);
    const delay = (await server.client.server()).loopDelayMs;
    const controllerMB = peakMB(server.running.pid);
    const [workflow] = (await server.client.workflows()).workflows;
    if (workflow?.counts.total !== n) throw new Error(`${workflow?.counts.total} of ${n} tasks were submitted`);
    if (delay === undefined || controllerMB === undefined) throw new Error('the server does not tell its figures');
    await workshop.stop(server.running);
    workshop.discard(folder);
    return { ...client, controllerMB, loopP50Ms: delay.p50, loopP99Ms: delay.p99, loopMaxMs: delay.max };
  },
});

async function submitFile(workshop: Workshop, directory: string, tasks: string): Promise<Figures> {
  const [program, words] = command('submit', '--dir', directory, tasks);
  const begin = performance.now();
  const running = workshop.start(program, words);
  const clientMB = await peakUntilExit(running);
  const status = await running.exited;
  if (status !== 0) throw new Error(`drover submit ended with ${status}: ${lastWords(running)}`);
  return { seconds: (performance.now() - begin) / 1_000, clientMB };
}

export const rowD: MakeRow = ({ million }) => {
  const line = (work: string, figure: string, unit: Unit, most: number): Comparison => ({
    ...{ work, unit, target: { most }, value: { contender: drover, figure } },
  });
  return {
    letter: 'd',
    contenders: [submission(million)],
    comparisons: [
      line(`drover submit of ${million.toLocaleString('en')} tasks`, 'seconds', 's', 8),
      line('… peak memory of the controller', 'controllerMB', 'MB', 700),
      line('… peak memory of the client', 'clientMB', 'MB', 200),
      line('… event loop of the controller, p99 delay', 'loopP99Ms', 'ms', 50),
    ],
  };
};
