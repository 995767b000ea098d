/**
 * Empty tasks through everything but processes: a server with its durable store, the SDK, and a worker that runs nothing
 * (idle-worker.ts). Owns one server and its worker for the time of a measurement.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessPath } from '../src/platform/node/access-file.ts';
import type { WorkflowSpec } from '../src/protocol/spec.ts';
import type { Client } from '../src/sdk/client.ts';
import { pause } from '../src/sdk/pause.ts';
import { type SubmissionItem, submit } from '../src/sdk/submission.ts';
import { type Server, startServer } from './drover.ts';
import type { Contender, Figures } from './row.ts';
import { lastWords, type Running, type StartOptions, type Workshop } from './workshop.ts';

/** More than a machine has cores, as a peer has jobs under way; what is sent ahead comes on top. */
export const idleSlots = 64;
/** The more run, the further apart are the rows of two ends. */
export const shuffledSlots = 1_024;

const readyMsMax = 30_000;
const pollMs = 10;

export const spec: WorkflowSpec = {
  ...{ name: 'bench', cwd: '/', shell: '/bin/sh', env: {}, maxAttempts: 1, terminationMs: 1_000 },
  ...{ failFast: false, open: false },
};

/** The command is not run, but stored, read and sent like any other. */
export function* emptyTasks(n: number): Generator<SubmissionItem, void> {
  for (let at = 1; at <= n; at++) yield { command: `true ${at}` };
}

export interface Stamp {
  readonly started: number;
  /** Ms since the epoch. */
  readonly at: number;
  readonly monotonicMs: number;
}

export interface IdleWorker {
  readonly running: Running;
  stamps(): Stamp[];
}

export function startIdleWorker(workshop: Workshop, directory: string, isShuffled = false, failEvery = 0): IdleWorker {
  const stamps = join(directory, 'idle-worker.stamps');
  const words = [
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'idle-worker.ts'),
    ...['--access', accessPath(directory), '--directory', join(directory, 'idle-worker'), '--stamps', stamps],
    ...['--slots', String(isShuffled ? shuffledSlots : idleSlots), ...(isShuffled ? ['--shuffle'] : [])],
    ...['--fail-every', String(failEvery)],
  ];
  const running = workshop.start(process.execPath, words);
  return { running, stamps: () => readStamps(stamps) };
}

function readStamps(path: string): Stamp[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Stamp);
  } catch {
    return [];
  }
}

export async function untilHealthy(client: Client, worker: IdleWorker): Promise<void> {
  for (const deadline = performance.now() + readyMsMax; performance.now() < deadline; await pause(pollMs)) {
    if ((await client.server()).workers > 0) return;
  }
  throw new Error(`the idle worker did not join: ${lastWords(worker.running)}`);
}

/** Until the workflow has ended, and every task of it is done. */
export async function drain(client: Client, workflow: string, n: number): Promise<void> {
  for (let after = 0; ; ) {
    const view = await client.workflow(workflow, { after, waitMs: 10_000 });
    after = view.version;
    if (view.endedAt === undefined) continue;
    if (view.counts.done === n) return;
    throw new Error(`${view.counts.done} of ${n} tasks are done: ${JSON.stringify(view.counts)}`);
  }
}

export interface IdlePool extends Server {
  readonly worker: IdleWorker;
}

export interface PoolOptions {
  readonly isShuffled?: boolean;
  readonly server?: StartOptions;
}

/** A server and a worker that is ready, for one measurement; both are gone afterwards, and so is their folder. */
export async function withIdlePool(
  workshop: Workshop,
  { isShuffled = false, server: options }: PoolOptions,
  measure: (pool: IdlePool) => Promise<Figures>,
): Promise<Figures> {
  const folder = workshop.scratch();
  const directory = join(folder, '.drover');
  const server = await startServer(workshop, directory, options);
  const worker = startIdleWorker(workshop, directory, isShuffled);
  try {
    await untilHealthy(server.client, worker);
    return await measure({ ...server, worker });
  } finally {
    await workshop.stop(worker.running);
    await workshop.stop(server.running);
    workshop.discard(folder);
  }
}

/** Submit and drain: the rate from before the first request to the end of the last task. */
export async function submitAndDrain({ client }: Pick<Server, 'client'>, n: number): Promise<Figures> {
  const begin = performance.now();
  const { id } = await submit(client, { spec, items: emptyTasks(n) });
  const submitted = performance.now();
  await drain(client, id, n);
  const end = performance.now();
  return {
    rate: (1_000 * n) / (end - begin),
    submitRate: (1_000 * n) / (submitted - begin),
    drainRate: (1_000 * n) / (end - submitted),
  };
}

export const droverEmpty = (name: string, n: number, options: PoolOptions = {}): Contender => ({
  name,
  measure: (workshop) => withIdlePool(workshop, options, (pool) => submitAndDrain(pool, n)),
});
