/** `drover reset`: lets the tasks of a workflow begin anew; a resume then runs them. */
import { exitCodes } from '../../model/errors.ts';
import type { ResetResult } from '../../protocol/views/workflows.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { amount } from '../display/text.ts';
import { workflowNamed } from '../reference.ts';

export interface ResetOptions extends CommonOptions {
  /** With what is done. */
  readonly all?: boolean;
}

export function reset(context: Context, name: string, options: ResetOptions): Promise<number> {
  const id = workflowNamed(name);
  const { all = false } = options;
  return withClient(context, options, async (client) => {
    const result = await client.reset(id, all);
    if (options.json) await printJson(context.env, { ...result.workflow, reset: result.reset });
    else await context.env.stdout.write(`${describe(id, result, all)}\n`);
    return exitCodes.ok;
  });
}

function describe(id: string, { reset: count, workflow: { state } }: ResetResult, all: boolean): string {
  if (state === 'done') return `${id} is left as it is: all of it is done; --all repeats that, too`;
  if (count === 0) return `${id} has nothing to reset: no task of it was tried`;
  return `${id}: ${amount(count, 'task')} will begin anew${all ? ', done ones included' : ''}; 'drover resume ${id}' runs ${count === 1 ? 'it' : 'them'}`;
}
