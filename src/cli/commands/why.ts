/** `drover why` */
import { DroverError, exitCodes } from '../../model/errors.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderTaskWhy, renderWorkflowWhy } from '../display/why.ts';
import { named } from '../reference.ts';

export function why(context: Context, id: string, options: CommonOptions): Promise<number> {
  const { env } = context;
  const { workflow, task, attempt } = named(id);
  if (task !== undefined && attempt !== undefined) {
    throw new DroverError('bad-reference', `${id} is an attempt`, { hint: `name its task: ${task}` });
  }
  return withClient(context, options, async (client) => {
    if (task !== undefined) {
      const view = await client.why(task);
      if (options.json) await printJson(env, view);
      else await env.stdout.write(renderTaskWhy(view));
      return exitCodes.ok;
    }
    const view = await client.whyOf(workflow);
    if (options.json) await printJson(env, view);
    else await env.stdout.write(renderWorkflowWhy(view));
    return exitCodes.ok;
  });
}
