/** `drover logs`: what tasks wrote. Of one, byte for byte; of many, lines with the name of their task in front. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import { isEndedTask, type OutputStream } from '../../model/states.ts';
import { showBytes } from '../../model/units.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, withClient } from '../context.ts';
import { LogFollower, LogList, type ManyLogs, patternOf } from '../logs/many.ts';
import { search } from '../logs/search.ts';
import { type NamedTask, type Selection, selectionOf } from '../logs/selection.ts';
import { beginOfTail } from '../logs/tail.ts';

export interface LogOptions extends Omit<CommonOptions, 'json'> {
  readonly where?: string;
  readonly failed?: boolean;
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly both?: boolean;
  readonly attempt?: number;
  readonly tail?: number;
  readonly grep?: string;
  readonly ignoreCase?: boolean;
  readonly context?: number;
}

export function logs(context: Context, names: readonly string[], options: LogOptions): Promise<number> {
  const selection = selectionOf(names, options);
  const { grep, follow, tail, ignoreCase = false } = options;
  if (grep !== undefined && tail !== undefined) {
    throw new DroverError('bad-input', '--grep looks at all of it: leave --tail out');
  }
  const pattern = grep === undefined ? undefined : patternOf(grep, ignoreCase);
  return withClient(context, options, (client) => {
    if (grep !== undefined && !follow) return searchThem(context, client, selection, { ...options, grep });
    const [one] = selection.tasks;
    const isOne = selection.tasks.length === 1 && selection.filters.length === 0;
    if (one !== undefined && isOne && pattern === undefined) return logOne(context, client, one, options);
    return logMany(
      { env: context.env, client, streams: streamsOf(options), tail, pattern },
      selection,
      follow ?? false,
    );
  });
}

const streamsOf = ({ stderr, both }: LogOptions): readonly OutputStream[] =>
  both ? ['stdout', 'stderr'] : [stderr ? 'stderr' : 'stdout'];

/** As grep has it: 1 when nothing matches. */
async function searchThem(
  { env }: Context,
  client: Client,
  selection: Selection,
  { grep, ignoreCase = false, context = 0, both, stderr }: LogOptions & { readonly grep: string },
): Promise<number> {
  const stream = both ? 'both' : stderr ? 'stderr' : 'stdout';
  const { matches, missing } = await search(env, client, selection, { pattern: grep, ignoreCase, context, stream });
  return matches > 0 && missing === 0 ? exitCodes.ok : exitCodes.tasksFailed;
}

async function logMany(logs: ManyLogs, selection: Selection, isFollowing: boolean): Promise<number> {
  const result = isFollowing
    ? await new LogFollower(logs).follow(selection)
    : await new LogList(logs).printAll(selection);
  const isFound = logs.pattern === undefined || result.lines > 0;
  return result.isMissing || !isFound ? exitCodes.tasksFailed : exitCodes.ok;
}

async function logOne(
  { env }: Context,
  client: Client,
  { task, attempt }: NamedTask,
  { follow = false, tail, ...options }: LogOptions,
): Promise<number> {
  if (follow && attempt === undefined) await untilStarted(client, task);
  let isMissing = false;
  const onMissing = (bytes: number): void => {
    isMissing = true;
    void env.stderr.write(
      `drover: ${showBytes(bytes)} are missing here: their worker ended before they were fetched, or their file in .drover/output is gone\n`,
    );
  };
  const number = attempt ?? (tail === undefined ? undefined : (await client.task(task)).attempts);
  const print = async (stream: OutputStream): Promise<void> => {
    const offset =
      tail === undefined || !number ? 0 : await beginOfTail(client, { task, stream, attempt: number }, tail);
    const query = { stream, follow, offset, onMissing, ...(number ? { attempt: number } : {}) };
    // With both, each goes where the task sent it.
    const output = options.both && stream === 'stderr' ? env.stderr : env.stdout;
    for await (const bytes of client.output(task, query)) {
      // Who reads may have seen enough: `drover logs w1.1 | head`.
      if (!(await output.write(bytes))) break;
    }
  };
  await Promise.all(streamsOf(options).map(print));
  return isMissing ? exitCodes.tasksFailed : exitCodes.ok;
}

/** A task that waits has no output yet to follow. */
async function untilStarted(client: Client, task: string): Promise<void> {
  const { next } = await client.eventPage({ cursor: 'now', limit: 1 });
  const { attempts, state } = await client.task(task);
  if (attempts > 0 || isEndedTask(state)) return;
  for await (const { type, to } of client.events({ after: next, where: `task=${task}` })) {
    if (type === 'attempt-recorded' || isEndedTask(to as typeof state)) return;
  }
}
