/** A task that prints, followed by so many at a time: whether each got every byte, how late, and what it cost the task. */
import { createHash } from 'node:crypto';
import type { Client } from '../../src/sdk/client.ts';
import { type Quantiles, quantilesOf } from './quantiles.ts';
import { followedTask, type RoundOptions, script } from './task.ts';

export interface Round {
  /** What the task says, and its worker. */
  readonly printMs: number;
  readonly wallMs: number;
  /** From the start of the server to the end of the workflow, for whoever waits. */
  readonly runMs: number;
  /** How many followers have other bytes than the task wrote. */
  readonly wrong: number;
  readonly delaysMs: Quantiles;
  /** How late the controller's event loop was. */
  readonly loopDelayMs: Quantiles | undefined;
}

interface Followed {
  readonly followed: readonly { readonly bytes: number; readonly digest: string }[];
  readonly delaysMs: Round['delaysMs'];
}

export async function followersRound({ followers, ...size }: RoundOptions): Promise<Round> {
  const begunAt = performance.now();
  return followedTask(size, async ({ id, client, access, start, untilEnded }) => {
    const task = `${id}.1`;
    // Others than the task pay for them, as they do when they are on other machines.
    const program = ['nice', process.execPath, '--disable-warning=ExperimentalWarning', script('follower')];
    await client.restartLoopDelay();
    const following = followers === 0 ? undefined : start([access, task, String(followers)], { program });
    await untilEnded();
    const runMs = performance.now() - begunAt;
    const { loopDelayMs } = await client.server();
    const { history } = await client.task(task);
    const [printMs, digest] = [Number(await outputOf(client, task, 'stderr')), await digestOf(client, task)];
    const said = following === undefined ? undefined : ((await following.ended).stdout as string);
    const got = (said === undefined ? { followed: [], delaysMs: quantilesOf([]) } : JSON.parse(said)) as Followed;
    const printed = size.bytes - (size.bytes % 256);
    const wrong = got.followed.filter((one) => one.bytes !== printed || one.digest !== digest).length;
    return { printMs, wallMs: history.at(-1)?.wallMs ?? 0, runMs, wrong, delaysMs: got.delaysMs, loopDelayMs };
  });
}

async function outputOf(client: Client, task: string, stream: 'stdout' | 'stderr'): Promise<string> {
  return Buffer.concat(await Array.fromAsync(client.output(task, { stream, follow: true }))).toString();
}

async function digestOf(client: Client, task: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of client.output(task, { stream: 'stdout', follow: true })) hash.update(piece);
  return hash.digest('hex');
}
