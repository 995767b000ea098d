/** `drover logs`: what tasks wrote. Of one, byte for byte; of many, lines with the name of their task in front. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { OutputStream } from '../../model/states.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, inFolder, withSession } from '../context.ts';
import { patienceOf } from '../execution.ts';
import { LogFollower, LogList, type ManyLogs } from '../logs/many.ts';
import { OneLog, type OneLogOptions } from '../logs/one.ts';
import { search } from '../logs/search.ts';
import { mustExist, type NamedTask, type Selection, selectionOf } from '../logs/selection.ts';
import { reporterFor } from '../reporter.ts';
import type { SessionOptions } from '../session.ts';

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
  mustMean(options);
  const pattern = grep === undefined ? undefined : context.env.compilePattern(grep, ignoreCase);
  // Who follows outlasts a restart of the server, and a run does not end before its last lines are read.
  const following = follow ? { attends: true, patience: patienceOf(reporterFor(context.env, 'quiet')) } : {};
  return withPatience(context, { ...inFolder(options.dir), ...following }, async (client) => {
    const [one] = selection.tasks;
    const isOne = selection.tasks.length === 1 && selection.filters.length === 0;
    if (one !== undefined && isOne && pattern === undefined) {
      return logOne({ env: context.env, client, streams: streamsOf(options), tail }, one, follow ?? false);
    }
    await mustExist(client, selection);
    if (grep !== undefined && !follow) return searchThem(context, client, selection, { ...options, grep });
    return logMany(
      { env: context.env, client, streams: streamsOf(options), tail, pattern },
      selection,
      follow ?? false,
    );
  });
}

/** What would be without effect is refused. */
function mustMean({ grep, follow, tail, ignoreCase, context }: LogOptions): void {
  const refuse = (message: string): never => {
    throw new DroverError('bad-input', message);
  };
  if (grep !== undefined && tail !== undefined) refuse('--grep looks at all of it: leave --tail out');
  if (grep === undefined && (ignoreCase || context !== undefined)) refuse('-i and -C are for what --grep finds');
  if (follow && context !== undefined) refuse('with -f only lines that match are printed: leave -C out');
}

const withPatience = (context: Context, options: SessionOptions, body: (client: Client) => Promise<number>) =>
  withSession(context, options, ({ client }, interrupts) => interrupts.unlessInterrupted(body(client)));

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

async function logOne(options: OneLogOptions, task: NamedTask, isFollowing: boolean): Promise<number> {
  const log = new OneLog(options);
  await (isFollowing ? log.follow(task) : log.print(task));
  return log.isMissing ? exitCodes.tasksFailed : exitCodes.ok;
}
