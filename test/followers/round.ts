/** A task that prints, followed by so many at a time: whether each got every byte, how late, and what it cost the task. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client } from '../../src/sdk/client.ts';
import { place, type Running, until } from '../program/drover.ts';
import { clientOf } from './access.ts';

export interface RoundOptions {
  readonly followers: number;
  readonly bytes: number;
  /** How long the task takes to print them, by itself. */
  readonly ms: number;
}

export interface Round {
  /** What the task says, and its worker. */
  readonly printMs: number;
  readonly wallMs: number;
  /** From the submission to the end of the workflow, for whoever waits. */
  readonly runMs: number;
  /** How many followers have other bytes than the task wrote. */
  readonly wrong: number;
  readonly delaysMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** How late the controller's event loop was. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number } | undefined;
}

interface Followed {
  readonly followed: readonly { readonly bytes: number; readonly digest: string }[];
  readonly delaysMs: Round['delaysMs'];
}

const script = (name: string): string => resolve(import.meta.dirname, `${name}.ts`);

export async function followersRound({ followers, bytes, ms }: RoundOptions): Promise<Round> {
  const here = place();
  const access = join(here.path, '.drover', 'access.json');
  const started: Running[] = [];
  const begin = (running: Running): Running => {
    started.push(running);
    return running;
  };
  try {
    begin(here.start(['server']));
    await until('the server is ready', () => isThere(access));
    begin(here.start(['worker', '-j', '2']));
    const client = clientOf(access);
    const tail = `--disable-warning=ExperimentalWarning ${script('printer')} ${bytes} ${ms}`;
    const begunAt = performance.now();
    const { code, stdout: id } = await here.run(['submit', `exec ${process.execPath} ${tail}`, '--array', '1']);
    if (code !== 0) throw new Error('the task was not taken');
    const task = `${id.trim()}.1`;
    // Others than the task pay for them, as they do when they are on other machines.
    const program = ['nice', process.execPath, '--disable-warning=ExperimentalWarning', script('follower')];
    await client.restartLoopDelay();
    const following =
      followers === 0 ? undefined : begin(here.start([access, task, String(followers)], '', { program }));
    await client.workflow(id.trim(), { after: 1_000_000, waitMs: 1 });
    while ((await client.workflow(id.trim(), { after: 1_000_000, waitMs: 30_000 })).endedAt === undefined);
    const runMs = performance.now() - begunAt;
    const { loopDelayMs } = await client.server();
    const { history } = await client.task(task);
    const [printMs, digest] = [Number(await outputOf(client, task, 'stderr')), await digestOf(client, task)];
    const said = following === undefined ? undefined : ((await following.ended).stdout as string);
    const got = (
      said === undefined ? { followed: [], delaysMs: { p50: 0, p99: 0, max: 0 } } : JSON.parse(said)
    ) as Followed;
    const wrong = got.followed.filter((one) => one.bytes !== bytes - (bytes % 256) || one.digest !== digest).length;
    return { printMs, wallMs: history.at(-1)?.wallMs ?? 0, runMs, wrong, delaysMs: got.delaysMs, loopDelayMs };
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

async function outputOf(client: Client, task: string, stream: 'stdout' | 'stderr'): Promise<string> {
  return Buffer.concat(await Array.fromAsync(client.output(task, { stream, follow: true }))).toString();
}

async function digestOf(client: Client, task: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of client.output(task, { stream: 'stdout', follow: true })) hash.update(piece);
  return hash.digest('hex');
}
