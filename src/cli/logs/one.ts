/** The output of one task, byte for byte: of an attempt, or of all that begin while it is followed. */
import { isEndedTask, isEndedWorkflow, type OutputStream } from '../../model/states.ts';
import { showBytes } from '../../model/units.ts';
import type { Client } from '../../sdk/client.ts';
import type { CliEnv } from '../environment.ts';
import { named } from '../reference.ts';
import type { NamedTask } from './selection.ts';
import { beginOfTail } from './tail.ts';

export interface OneLogOptions {
  readonly env: CliEnv;
  readonly client: Client;
  readonly streams: readonly OutputStream[];
  readonly tail: number | undefined;
}

export class OneLog {
  isMissing = false;
  private isLostTold = false;
  private readonly options: OneLogOptions;
  /** Nobody reads any more: `| head`. Also ends a wait for what a silent task may write. */
  private readonly closed = new AbortController();

  constructor(options: OneLogOptions) {
    this.options = options;
  }

  /** What is there now. */
  async print({ task, attempt }: NamedTask): Promise<void> {
    const { client, tail } = this.options;
    const number = attempt ?? (tail === undefined ? undefined : (await client.task(task)).attempts || undefined);
    await this.printAttempt(task, number, { isFollowing: false, tail });
  }

  /** Of the attempt that is named; else of the last one, and of all that come after it. */
  async follow({ task, attempt }: NamedTask): Promise<void> {
    const { client, tail, env } = this.options;
    if (attempt !== undefined) return this.printAttempt(task, attempt, { isFollowing: true, tail });
    const { attempts } = await client.task(task);
    const first = attempts > 0 ? attempts : await attemptBehind(client, task, 0);
    for (let number = first; number !== undefined && !this.closed.signal.aborted; ) {
      await this.printAttempt(task, number, { isFollowing: true, tail: number === first ? tail : undefined });
      if (this.closed.signal.aborted) return;
      number = await attemptBehind(client, task, number);
      if (number !== undefined) await env.stderr.write(`drover: ${task} is tried again: attempt ${number}\n`);
    }
  }

  private async printAttempt(task: string, attempt: number | undefined, how: How): Promise<void> {
    await Promise.all(this.options.streams.map((stream) => this.printStream(task, attempt, stream, how)));
  }

  private async printStream(
    task: string,
    attempt: number | undefined,
    stream: OutputStream,
    { isFollowing: follow, tail }: How,
  ): Promise<void> {
    const { client, streams, env } = this.options;
    const offset =
      tail === undefined || attempt === undefined ? 0 : await beginOfTail(client, { task, stream, attempt }, tail);
    const onMissing = (bytes: number): void => this.tellMissing(bytes);
    const onAway = (): void => this.tellAway(task);
    const onLost = (): void => this.tellLost(task);
    const query = { stream, follow, offset, onMissing, onAway, onLost, signal: this.closed.signal };
    // With both, each goes where the task sent it.
    const output = streams.length > 1 && stream === 'stderr' ? env.stderr : env.stdout;
    for await (const bytes of client.output(task, attempt === undefined ? query : { ...query, attempt })) {
      if (!(await output.write(bytes))) this.closed.abort();
      if (this.closed.signal.aborted) return;
    }
  }

  private tellAway(task: string): void {
    this.isMissing = true;
    void this.options.env.stderr.write(awayText(task));
  }

  /** Once, though it is so of both streams. */
  private tellLost(task: string): void {
    if (!this.isLostTold) void this.options.env.stderr.write(lostText(task));
    this.isLostTold = true;
    this.isMissing = true;
  }

  private tellMissing(bytes: number): void {
    this.isMissing = true;
    void this.options.env.stderr.write(
      `drover: ${showBytes(bytes)} are missing here: their worker is away, or ended before they were fetched, or their file in .drover/output is gone\n`,
    );
  }
}

export const awayText = (task: string): string =>
  `drover: the worker of ${task} is away: what it has not handed over can't be read now\n`;

export const lostText = (task: string): string =>
  `drover: the worker of ${task} was lost: what it had not handed over is missing\n`;

interface How {
  readonly isFollowing: boolean;
  readonly tail: number | undefined;
}

/** The next attempt of a task, as soon as there is one; none where the task, or its workflow, has ended. */
async function attemptBehind(client: Client, task: string, last: number): Promise<number | undefined> {
  const { workflow } = named(task);
  const { next: after } = await client.eventPage({ cursor: 'now', limit: 1 });
  const over = new AbortController();
  const { signal } = over;
  const news = [`task=${task}`, `workflow=${workflow}&type=workflow-moved`].map((where) =>
    client.events({ after, where, signal }),
  );
  try {
    for (let pending = news.map((events) => quiet(events.next())); ; ) {
      const { attempts, state } = await client.task(task);
      if (attempts > last) return last + 1;
      if (isEndedTask(state) || isEndedWorkflow((await client.workflow(workflow)).state)) return undefined;
      const first = await Promise.race(pending.map(async (event, at) => event.then(() => at)));
      pending = pending.map((event, at) => (at === first ? quiet(news[at]?.next() ?? event) : event));
    }
  } finally {
    over.abort();
  }
}

/** One that fails when nobody waits for it any more is no fault. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
