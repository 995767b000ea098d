/** `drover export`: a workflow and how it ran, in a format that others read. */
import { resolve } from 'node:path';
import { DroverError, exitCodes } from '../../model/errors.ts';
import { pageRowsMax } from '../../model/limits.ts';
import type { Client } from '../../sdk/client.ts';
import { fromRun, type RecordedRun } from '../../wfformat/from-run.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { amount } from '../display/text.ts';
import type { CliEnv } from '../environment.ts';
import { workflowNamed } from '../reference.ts';

export interface ExportOptions extends CommonOptions {
  readonly output?: string;
}

export function exportWorkflow(context: Context, name: string, options: ExportOptions): Promise<number> {
  const { env } = context;
  const id = workflowNamed(name);
  return withClient(context, options, async (client) => {
    const instance = fromRun(await recorded(env, client, id));
    const { specification, execution } = instance.workflow;
    if (specification.tasks.length === 0) {
      throw new DroverError('bad-input', `${id} has no task`, { hint: 'WfFormat has no workflow without one' });
    }
    const text = `${JSON.stringify(instance, null, 4)}\n`;
    if (options.output === undefined) {
      await env.stdout.write(text);
      return exitCodes.ok;
    }
    await env.writeFile(resolve(env.cwd, options.output), [text]);
    const [tasks, ran] = [specification.tasks.length, execution?.tasks.length ?? 0];
    if (options.json) await printJson(env, { id, output: options.output, tasks, ran });
    else await env.stderr.write(`drover: ${options.output} has ${amount(tasks, 'task')}, ${ran} of which ran\n`);
    return exitCodes.ok;
  });
}

/** One that still goes on is written as far as it has come. */
async function recorded(env: CliEnv, client: Client, id: string): Promise<RecordedRun> {
  const workflow = await client.workflow(id);
  const where = `workflow=${id}`;
  const limit = pageRowsMax;
  const fields = ['id', 'index', 'name', 'command', 'state', 'requestedResources', 'attributes'];
  return {
    workflow,
    tasks: await Array.fromAsync(client.eachTask({ where, limit, fields })),
    edges: await Array.fromAsync(client.eachEdge(id, { limit })),
    attempts: await Array.fromAsync(client.eachAttempt({ where, limit })),
    workers: await Array.fromAsync(client.eachWorker({ all: true, limit })),
    version: env.version,
  };
}
