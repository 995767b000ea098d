/** For commands that take tasks by name or, with `--where`, all that a filter lets through. */
import { DroverError, exitCodes } from '../model/errors.ts';
import { showCount } from '../model/units.ts';
import type { BulkResult } from '../protocol/views.ts';
import type { BulkVerb, Client } from '../sdk/client.ts';
import { type CommonOptions, type Context, printJson } from './context.ts';
import { amount } from './display/text.ts';

export interface ManyOptions extends CommonOptions {
  readonly where?: string;
  readonly dryRun?: boolean;
}

/** Either names or a filter, and a dry run only of a filter: what it would count is else there to see. */
export function checkMany(command: string, names: readonly string[], { where, dryRun }: ManyOptions): void {
  const hint = `drover ${command} w3.7, or drover ${command} --where 'state=queued'`;
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
