/** A task that prints, under a server with a worker of its own, for whoever follows it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client } from '../../src/sdk/client.ts';
import { place, type Running, type StartOptions, until } from '../program/drover.ts';
import { clientOf } from './access.ts';

export interface RoundOptions {
  readonly followers: number;
  readonly bytes: number;
  /** How long the task takes to print them, by itself. */
  readonly ms: number;
}

export interface FollowedTask {
  /** Its workflow; the task is the first of it. */
  readonly id: string;
  readonly client: Client;
  /** The access file of the server. */
  readonly access: string;
  start(args: readonly string[], options?: StartOptions): Running;
  untilEnded(): Promise<void>;
}

export const script = (name: string): string => resolve(import.meta.dirname, `${name}.ts`);

/** Ends all that it started. */
export async function followedTask<T>(
  { bytes, ms }: Omit<RoundOptions, 'followers'>,
  follow: (task: FollowedTask) => Promise<T>,
): Promise<T> {
  const here = place();
  const access = join(here.path, '.drover', 'access.json');
  const started: Running[] = [];
  const start = (args: readonly string[], options: StartOptions = {}): Running => {
    const running = here.start(args, '', options);
    started.push(running);
    return running;
  };
  try {
    start(['server']);
    await until('the server is ready', () => isThere(access));
    start(['worker', '-j', '2']);
    const client = clientOf(access);
    const tail = `--disable-warning=ExperimentalWarning ${script('printer')} ${bytes} ${ms}`;
    const { code, stdout } = await here.run(['submit', `exec ${process.execPath} ${tail}`, '--array', '1']);
    if (code !== 0) throw new Error('the task was not taken');
    const id = stdout.trim();
    const untilEnded = async (): Promise<void> => {
      while ((await client.workflow(id, { after: 1_000_000, waitMs: 30_000 })).endedAt === undefined);
    };
    return await follow({ id, client, access, start, untilEnded });
  } finally {
    for (const { child } of started) child.kill('SIGTERM');
    await Promise.all(started.map(({ ended }) => ended));
    here.remove();
  }
}

function isThere(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes('"url"');
  } catch {
    return false;
  }
}
