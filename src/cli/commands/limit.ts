/** `drover limit` and `drover concurrency`: how much runs at a time. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { ConcurrencyView, LimitView } from '../../protocol/views/limits.ts';
import type { ConcurrencyPatch } from '../../sdk/bulk.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderTable } from '../display/table.ts';
import { amount, printable } from '../display/text.ts';
import type { CliEnv } from '../environment.ts';
import { named } from '../reference.ts';

/** `max`: a number, or `none`. */
export function limit(
  context: Context,
  name: string | undefined,
  max: string | undefined,
  options: CommonOptions,
): Promise<number> {
  const { env } = context;
  const value = max === undefined ? undefined : parseMax(max, 'the limit', isAmount);
  return withClient(context, options, async (client) => {
    if (name === undefined) {
      await showLimits(env, (await client.limits()).limits, options);
      return exitCodes.ok;
    }
    const view =
      value === undefined
        ? await client.limit(name)
        : value === null
          ? await client.liftLimit(name)
          : await client.setLimit(name, value);
    await showLimits(env, [view], options);
    return exitCodes.ok;
  });
}

async function showLimits(env: CliEnv, limits: readonly LimitView[], { json }: CommonOptions): Promise<void> {
  if (json) for (const view of limits) await printJson(env, view);
  else if (limits.length === 0) await env.stderr.write("drover: no limit is set; set one with 'drover limit NAME N'\n");
  else {
    const rows = limits.map(({ name, max, used, waiting }) => [
      ...[name, max === undefined ? 'none' : String(max), String(used)],
      waiting === 0 ? '' : amount(waiting, 'workflow'),
    ]);
    const titles = [{ title: 'LIMIT' }, { title: 'MAX' }, { title: 'IN USE' }, { title: 'WAITING' }];
    await env.stdout.write(renderTable(titles, rows));
  }
}

export interface ConcurrencyOptions extends CommonOptions {
  readonly template?: readonly string[];
  readonly tag?: readonly string[];
}

export function concurrency(
  context: Context,
  id: string,
  max: string | undefined,
  options: ConcurrencyOptions,
): Promise<number> {
  const { env } = context;
  const { workflow, task } = named(id);
  if (task !== undefined) throw new DroverError('bad-reference', `${id} is a task`, { hint: 'name its workflow' });
  const patch: ConcurrencyPatch = {
    ...(max === undefined ? {} : { workflow: parseMax(max, 'the limit', isCount) }),
    ...(options.template === undefined ? {} : { templates: parsePairs(options.template, '--template') }),
    ...(options.tag === undefined ? {} : { tags: parsePairs(options.tag, '--tag') }),
  };
  return withClient(context, options, async (client) => {
    const isQuestion = Object.keys(patch).length === 0;
    const view = isQuestion
      ? ((await client.workflow(workflow)).concurrency ?? {})
      : await client.setConcurrency(workflow, patch);
    if (options.json) await printJson(env, { id: workflow, ...view });
    else await env.stdout.write(describe(workflow, view));
    return exitCodes.ok;
  });
}

function describe(workflow: string, { workflow: all, templates = {}, tags = {} }: Partial<ConcurrencyView>): string {
  const of = (max: number | undefined): string =>
    max === undefined ? 'no limit' : max === 0 ? 'paused' : `${max} at a time`;
  const lines = [
    `${workflow}: ${of(all)}`,
    ...Object.entries(templates).map(([name, max]) => `template ${printable(name)}: ${of(max)}`),
    ...Object.entries(tags).map(([tag, max]) => `tag ${printable(tag)}: ${of(max)}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** `NAME=N`; the name itself may have an `=`. */
function parsePairs(texts: readonly string[], option: string): Record<string, number | null> {
  const pairs = texts.map((text): [string, number | null] => {
    const at = text.lastIndexOf('=');
    const name = text.slice(0, Math.max(0, at));
    if (name === '' || (option === '--tag' && !name.includes('='))) {
      const shape = option === '--tag' ? 'NAME=VALUE=N, for example model=x=5' : 'NAME=N, for example fit=10';
      throw new DroverError('bad-input', `${option} '${text}' names no limit`, { hint: `it is ${shape}` });
    }
    return [name, parseMax(text.slice(at + 1), option, isCount)];
  });
  return Object.fromEntries(pairs);
}

const isCount = (text: string): boolean => /^\d+$/.test(text);
const isAmount = (text: string): boolean => /^\d+(\.\d+)?$/.test(text);

/** null: there is none. */
function parseMax(text: string, what: string, isNumber: (text: string) => boolean): number | null {
  if (text === 'none') return null;
  const value = Number(text);
  if (isNumber(text) && Number.isSafeInteger(Math.ceil(value))) return value;
  const kind = isNumber === isCount ? 'a whole number' : 'a number';
  throw new DroverError('bad-input', `${what} is ${kind} from 0 on, or none; not '${text}'`);
}
