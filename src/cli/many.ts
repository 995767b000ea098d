/** For commands that take tasks by name or, with `--where`, all that a filter lets through. */
import { DroverError, exitCodes } from '../model/errors.ts';
import { showCount } from '../model/units.ts';
import { escapeValue } from '../protocol/filter/language.ts';
import type { BulkResult } from '../protocol/views/tasks.ts';
import type { BulkVerb } from '../sdk/bulk.ts';
import type { Client } from '../sdk/client.ts';
import { type CommonOptions, type Context, printJson } from './context.ts';
import { amount } from './display/text.ts';
import { workflowNamed } from './reference.ts';

export interface ManyOptions extends CommonOptions {
  readonly where?: string;
  readonly dryRun?: boolean;
}

/** Tasks of workflows that failed alike: as `drover failures` names them. */
export interface FailureOptions {
  readonly cause?: string;
  readonly fingerprint?: string;
  readonly host?: string;
}

/** The same as a filter, where any of these is given; `states` are those of tasks that the command is for. */
export function byFailure<Options extends ManyOptions & FailureOptions>(
  names: readonly string[],
  options: Options,
  states: string,
): { readonly names: readonly string[]; readonly options: Options } {
  const { cause, fingerprint, host, where } = options;
  if (cause === undefined && fingerprint === undefined && host === undefined) return { names, options };
  if (names.length === 0) {
    throw new DroverError('bad-input', '--cause, --fingerprint and --host are for tasks of a workflow: name it', {
      hint: "for example drover retry w3 --cause exit:137; 'drover failures w3' has them all",
    });
  }
  const clauses = [
    ...[`workflow=${names.map(workflowNamed).join(',')}`, states],
    ...(cause === undefined ? [] : [`cause=${anyOf(cause)}`]),
    ...(fingerprint === undefined ? [] : [`fingerprint=${anyOf(fingerprint)}`]),
    ...(host === undefined ? [] : [`host=${escapeValue(host)}`]),
    ...(where === undefined ? [] : [where]),
  ];
  return { names: [], options: { ...options, where: clauses.join('&') } };
}

/** One or several, with commas between them. */
const anyOf = (values: string): string => values.split(',').map(escapeValue).join(',');

/** Either names or a filter, and a dry run only of a filter: what it would count is else there to see. */
export function checkMany(command: string, names: readonly string[], { where, dryRun }: ManyOptions): void {
  const hint = `drover ${command} w3.7, or drover ${command} --where 'state=${command === 'retry' ? 'failed' : 'queued'}'`;
  if (names.length === 0 && where === undefined) throw new DroverError('bad-input', 'no task is named', { hint });
  if (names.length > 0 && where !== undefined) {
    throw new DroverError('bad-input', '--where stands for tasks: name none beside it', { hint });
  }
  if (dryRun && where === undefined) throw new DroverError('bad-input', '--dry-run is for --where', { hint });
}

const participles: Readonly<Record<BulkVerb, string>> = {
  cancel: 'cancelled',
  retry: 'tried again',
  hold: 'held',
  release: 'released',
  priority: 'given that priority',
};

export async function steerMany(
  { env }: Context,
  client: Client,
  verb: BulkVerb,
  { where = '', dryRun = false, json }: ManyOptions,
  priority?: number,
): Promise<number> {
  const result = await client.steerTasks(verb, { where, dryRun, ...(priority === undefined ? {} : { priority }) });
  if (json) await printJson(env, { ...result, ...(dryRun ? { dryRun } : {}) });
  else await env.stdout.write(`${describe(verb, result, dryRun)}\n`);
  return exitCodes.ok;
}

function describe(verb: BulkVerb, { matched, changed, unchanged, refused }: BulkResult, dryRun: boolean): string {
  if (matched === 0) return 'no task matches';
  const done = `${amount(changed, 'task')} ${dryRun ? 'would be' : changed === 1 ? 'was' : 'were'} ${participles[verb]}`;
  const left = unchanged === 0 ? '' : `; ${showCount(unchanged)} ${unchanged === 1 ? 'needs' : 'need'} no change`;
  const states = Object.entries(refused).map(([state, count]) => `${showCount(count)} ${state}`);
  return `${done}${left}${states.length === 0 ? '' : `; not possible for ${states.join(', ')}`}`;
}
