/** `drover failures` */
import { exitCodes } from '../../model/errors.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderFailures } from '../display/failures.ts';
import { pastingInto } from '../pasting.ts';
import { workflowNamed } from '../reference.ts';

export interface FailuresOptions extends CommonOptions {
  readonly by?: 'host';
}

export function failures(context: Context, name: string | undefined, options: FailuresOptions): Promise<number> {
  const { env } = context;
  const { by, json, dir } = options;
  const named = name === undefined ? undefined : workflowNamed(name);
  return withClient(context, options, async (client) => {
    const workflow = named ?? (await newestWithFailures(client));
    const found =
      workflow === undefined ? { groups: [] } : await client.failures(workflow, by === undefined ? {} : { by });
    const pasted = pastingInto(env, dir);
    const list = {
      ...found,
      groups: found.groups.map(({ rerun, ...group }) =>
        rerun === undefined ? group : { ...group, rerun: pasted(rerun) },
      ),
    };
    const id = workflow === undefined ? {} : { workflow };
    if (json) await printJson(env, { ...id, ...list });
    else if (list.groups.length > 0) {
      await env.stdout.write(renderFailures(list, env.stdout.isTerminal ? env.stdout.columns : undefined));
    } else {
      await env.stderr.write(
        `drover: ${workflow === undefined ? 'nothing has failed here' : `nothing failed in ${workflow}`}\n`,
      );
    }
    return exitCodes.ok;
  });
}

async function newestWithFailures(client: Client): Promise<string | undefined> {
  for await (const { id } of client.eachWorkflow({ where: 'failed>0', limit: 1 })) return id;
  return undefined;
}
