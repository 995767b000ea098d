/** Drover's own programs, as a user starts them: the bundles, with real folders, processes and sockets. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessPath, readAccessFile } from '../src/platform/node/access-file.ts';
import { Client } from '../src/sdk/client.ts';
import { pause } from '../src/sdk/pause.ts';
import type { Contender } from './row.ts';
import { drover } from './row.ts';
import { root } from './tools.ts';
import { lastWords, type Running, type StartOptions, type Workshop } from './workshop.ts';

const flags = ['--disable-warning=ExperimentalWarning'];
/** A store with a million tasks takes a while to load. */
const readyMsMax = 120_000;
const pollMs = 5;

/** The words that start the `drover` command without the clone's check for changed sources. */
export const command = (...words: string[]): [string, string[]] => [
  process.execPath,
  [...flags, join(root, '.bundle', 'cli.js'), ...words],
];

export interface LocalWork {
  readonly n: number;
  readonly slots: number;
  readonly line: string;
  readonly shell?: string;
}

/** `drover run` of a file with N such lines, from its start to its end. */
export const droverRun = ({ n, slots, line, shell }: LocalWork): Contender => ({
  name: drover,
  async measure(workshop) {
    const folder = workshop.scratch();
    const file = join(folder, 'tasks.txt');
    writeFileSync(file, `${line}\n`.repeat(n));
    const options = ['-j', String(slots), '--dir', join(folder, '.drover'), '--json'];
    const [program, words] = command('run', ...options, ...(shell === undefined ? [] : ['--shell', shell]), file);
    const { seconds, stdout } = await workshop.run(program, words, { cwd: folder });
    assertDone(stdout, n);
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});

function assertDone(stdout: string, n: number): void {
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { state?: string; done?: number };
  if (last.done !== n) throw new Error(`${last.done} of ${n} tasks are done: ${JSON.stringify(last)}`);
}

export interface Server {
  readonly running: Running;
  readonly directory: string;
  readonly client: Client;
}

/** A server process of its own; returns when it answers. */
export async function startServer(workshop: Workshop, directory: string, options?: StartOptions): Promise<Server> {
  const [program, words] = command('server', '--dir', directory);
  const running = workshop.start(program, words, options);
  let status: number | string | undefined;
  running.exited.then(
    (ended) => {
      status = ended;
    },
    (error) => {
      status = String(error);
    },
  );
  for (const deadline = performance.now() + readyMsMax; performance.now() < deadline; await pause(pollMs)) {
    const access = readAccessFile(accessPath(directory));
    if (access?.pid === running.pid) {
      return { running, directory, client: new Client({ url: access.url, token: access.tokens.admin }) };
    }
    if (status !== undefined) throw new Error(`the server ended with ${status}: ${lastWords(running)}`);
  }
  throw new Error(`the server did not come up: ${lastWords(running)}`);
}
