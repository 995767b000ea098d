/** What definitions of commands share: what they are given, options, and how the words of options are read. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  attemptsPerTaskMax,
  budgetDefaults,
  cpusMin,
  customResourcesMax,
  logLevels,
  resourceRetriesMax,
  shardBytesMax,
  slotsMax,
  tagNameBytesMax,
  terminationMsDefault,
  terminationMsMax,
  workflowTasksMax,
} from '../model/limits.ts';
import { lossPolicies } from '../model/states.ts';
import { durationExamples, parseBytes, parseDurationMs, printDurationMs } from '../model/units.ts';
import type { Context } from './context.ts';
import type { CliEnv } from './environment.ts';

export type Perform = (action: (context: Context) => Promise<number>) => Promise<void>;

export interface Given {
  readonly env: CliEnv;
  /** What follows the first `:::`, itself included. */
  readonly sources: readonly string[];
  /** All words together, as they are kept with what they submit. */
  readonly commandLine: string;
}

/** What says which tasks there are and how each of them runs: the same wherever tasks are submitted. */
export function addInputs(command: Command): Command {
  const name = `drover ${command.name()} [options]`;
  return command
    .usage(
      `[options] FILE|-\n       ${name} FLOW.yaml [--arg NAME=VALUE…]\n       ${name} 'cmd {}' ::: VALUE… [::: VALUE…]\n       ${name} 'cmd {}' --array 1-100`,
    )
    .argument('[input...]', "FILE, '-', a definition (.yaml, .yml, .json) or a command")
    .option('--flow', 'FILE or stdin is a definition, whatever its name')
    .option('--arg <name=value>', 'an argument of a definition; may be repeated', collect)
    .option('--fresh', 'a new workflow, even if the same definition was submitted before')
    .option('--max-tasks <n>', 'of a definition: so many tasks are meant', integer(1, workflowTasksMax))
    .option('--cpus <n>', 'processors that each task needs, also a part of one (default: 1)', number(cpusMin, slotsMax))
    .option('--memory <size>', 'memory that each task needs, and may take: 2GB, 512MiB', size)
    .option('--gpus <n>', 'GPUs that each task needs', integer(0))
    .option('--walltime <time>', 'how long an attempt takes at most: 1h30m; the next one gets more', duration(1))
    .option('--resources <file>', "what tasks ask for, from 'drover resources ID --write-yaml FILE'", filled)
    .option('--learn', 'tasks ask for what they used in earlier workflows of the same name')
    .option('--queue <name>', 'workers of this queue run the tasks', filled)
    .option('--retries <n>', 'try a failed task again up to so often (default: 0)', integer(0, attemptsPerTaskMax - 1))
    .option(
      '--resource-retries <n>',
      `raise what an attempt ran out of up to so often (default: ${budgetDefaults.resources})`,
      integer(0, resourceRetriesMax),
    )
    .option('--timeout <time>', `kill an attempt that takes longer: ${durationExamples}`, duration(1))
    .option('--fail-fast', 'cancel what is left when a task has failed for good')
    .addOption(onLostOption())
    .option('--name <text>', 'a label for the workflow')
    .option(
      '--update <id|name>',
      'skip what is done, unchanged, in an earlier workflow; by name: in the newest',
      filled,
    )
    .option('--skip-if-exists <path>', 'skip a task when that file is there; {}, {1} and {#} as in the command', filled)
    .option('--array <range>', 'a task for each number, as {} and $DROVER_INDEX: 1-100, 1-10:2, 1,3,5-7')
    .option('--cwd <dir>', 'where tasks run (default: here)', filled)
    .option('--env <name[=value]>', 'set a variable, or take it from here; may be repeated', collect)
    .option('--output <dir>', "write each task's output into plain files there, too", filled)
    .option('--stdin <file>', 'what tasks read (default: nothing)', filled)
    .option('--shell <name|path>', 'the shell that lines are written for (default: bash, else sh)', filled)
    .option(
      '--term-grace <time>',
      `between TERM and KILL (default: ${printDurationMs(terminationMsDefault)})`,
      duration(0, terminationMsMax),
    )
    .option('--dry-run', 'print the tasks and run nothing');
}

const onLostOption = () =>
  new Option('--on-lost <what>', 'what becomes of a task whose worker is lost (default: requeue)').choices(
    lossPolicies,
  );

export function slotsOption({ cores }: CliEnv): Option {
  return new Option('-j, --slots <n>', `tasks at a time (default: the cores here, ${cores})`).argParser(
    integer(1, slotsMax),
  );
}

export function dirOption({ cwd, variables }: CliEnv): Option {
  const absolute = (dir: string) => resolve(cwd, filled(dir));
  const option = new Option('--dir <dir>', 'the .drover folder; also $DROVER_DIR (default: found upward, like .git)');
  option.argParser(absolute);
  return variables.DROVER_DIR ? option.default(absolute(variables.DROVER_DIR)) : option;
}

export const logLevelOption = () =>
  new Option('--log-level <level>', 'how much its log tells (default: info)')
    .choices(logLevels)
    .env('DROVER_LOG_LEVEL');

/** What can be done with a worker that runs. */
export const workerActions = ['drain', 'stop', 'release', 'slots'] as const;
export type WorkerAction = (typeof workerActions)[number];

export const quietOption = () => new Option('-q, --quiet', 'no progress and no result; a summary only of failures');
export const jsonOption = (text: string) => new Option('--json', text);

export const bellOption = () =>
  new Option('--bell', 'ring the bell of the terminal, and notify the desktop, at the end');

export const whereOption = (text: string) =>
  new Option('--where <filter>', `${text}, for example 'state=failed&exit=137'`).argParser(filled);
export const bulkDryRunOption = () => new Option('--dry-run', 'with --where: only say how many');

/** For tasks of a workflow that failed alike. */
export const addFailureOptions = (command: Command): Command =>
  command
    .option(
      '--cause <cause>',
      'of a workflow: only what failed so, for example exit:137, signal:9, memory, lost',
      filled,
    )
    .option('--fingerprint <f>', "of a workflow: only what wrote that, as 'drover failures' tells it", filled)
    .option('--host <name>', 'of a workflow: only what last ran there', filled);

/** Here '' would mean the current directory, and comes from a variable that is not set. */
export function filled(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It is empty: is a variable not set?');
}

export function shard(text: string): string {
  if (text !== '' && Buffer.byteLength(text) <= shardBytesMax) return text;
  throw new InvalidArgumentError(`It has 1 to ${shardBytesMax} bytes.`);
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
    throw new InvalidArgumentError(`It is a whole number, ${range}.`);
  };
}

export function signedInteger(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[+-]?\d+$/.test(text) && Math.abs(value) <= most) return value;
    throw new InvalidArgumentError(`It is a whole number, -${most} to ${most}.`);
  };
}

/** Zero is fine, and a million is more than anyone means. */
export function factor(text: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+(?:e[+-]?\d+)?$/i.test(text) && value <= 1_000_000) return value;
  throw new InvalidArgumentError('It is a number, 0 or more, such as 0.01.');
}

export function number(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d*\.?\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It is a number, ${min} to ${max}.`);
  };
}

export function duration(minMs: number, maxMs = 10 * 366 * 86_400_000): (text: string) => number {
  return (text) => {
    const value = parseDurationMs(text);
    if (value !== undefined && value >= minMs && value <= maxMs) return value;
    throw new InvalidArgumentError(`It is a time like ${durationExamples}; at most ${printDurationMs(maxMs)}.`);
  };
}

export function size(text: string): number {
  const value = parseBytes(text);
  if (value !== undefined && value > 0) return value;
  throw new InvalidArgumentError('It is a size like 512MB, 8GB or 16GiB.');
}

export function queueName(text: string): string {
  if (text !== '' && Buffer.byteLength(text) <= tagNameBytesMax) return text;
  throw new InvalidArgumentError(`It has 1 to ${tagNameBytesMax} bytes.`);
}

/** `NAME=AMOUNT`, as often as there are pools. */
export function pool(text: string, before: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, name = '', amount = ''] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (name === '' || Buffer.byteLength(name) > tagNameBytesMax) {
    throw new InvalidArgumentError(
      `It is NAME=AMOUNT, for example scratch=100; a name has at most ${tagNameBytesMax} bytes.`,
    );
  }
  const pools = { ...before, [name]: Number(amount) };
  if (Object.keys(pools).length <= customResourcesMax) return pools;
  throw new InvalidArgumentError(`There are at most ${customResourcesMax} pools.`);
}

export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text];
/** Of events: the number of one, with its time or without, or the word for none but those to come. */
export function cursor(text: string): string {
  if (text === 'now' || /^\d{1,15}(?:@\d{1,15})?$/.test(text)) return text;
  throw new InvalidArgumentError("It is the number of an event, or 'now'.");
}
