/** `drover retry`: tries failed tasks again, at a live controller that then runs them; where there is none, here. */
import { DroverError } from '../../model/errors.ts';
import type { Client } from '../../sdk/client.ts';
import { type Answer, answerEach } from '../answers.ts';
import { type Context, inFolder, withClient, withLiveClient } from '../context.ts';
import { amount } from '../display/text.ts';
import { type ExecutionOptions, execute } from '../execution.ts';
import { byFailure, checkMany, type FailureOptions, type ManyOptions, steerMany } from '../many.ts';
import { type Named, named } from '../reference.ts';
import { hasEnded } from '../watch.ts';

export interface RetryOptions extends ManyOptions, FailureOptions, ExecutionOptions {
  readonly failed?: boolean;
}

export async function retry(context: Context, words: readonly string[], given: RetryOptions): Promise<number> {
  const { names, options } = byFailure(words, given, 'state=failed');
  checkMany('retry', names, options);
  const targets = names.map((name) => checked(named(name), options));
  const ask = (client: Client): Promise<number> =>
    options.where === undefined
      ? answerEach(context.env, options, targets, ({ workflow, task }) =>
          task === undefined ? retryFailed(client, workflow) : retryTask(client, task),
        )
      : steerMany(context, client, 'retry', options);
  try {
    return await withLiveClient(context, options, ask);
  } catch (error) {
    const [workflow, ...others] = new Set(words.map((name) => named(name).workflow));
    const isAlone = error instanceof DroverError && error.code === 'controller-unreachable';
    if (!isAlone || workflow === undefined || others.length > 0) throw error;
    return options.dryRun ? withClient(context, options, ask) : runHere(context, workflow, options, ask);
  }
}

/** Nobody else would run them: this does, as `resume` does with all that failed. */
function runHere(
  context: Context,
  workflow: string,
  options: RetryOptions,
  ask: (client: Client) => Promise<number>,
): Promise<number> {
  return execute(context, options, { ...inFolder(options.dir), goesOn: true }, async ({ client }) => {
    const { counts, version } = await client.workflow(workflow);
    const exitCode = await ask(client);
    const view = await client.workflow(workflow);
    return view.version === version && hasEnded(view) ? { exitCode } : { view, doneBefore: counts.done };
  });
}

function checked(target: Named, { failed = false }: RetryOptions): Named {
  const { workflow, task } = target;
  if (task === undefined && !failed) {
    throw new DroverError('bad-input', `${workflow} is a workflow: say which of its tasks to try again`, {
      hint: `drover retry ${workflow} --failed, or drover retry ${workflow}.1`,
    });
  }
  if (task !== undefined && failed) {
    throw new DroverError('bad-input', `--failed is for workflows, and ${task} is a task`, {
      hint: `drover retry ${workflow} --failed, or drover retry ${task}`,
    });
  }
  return target;
}

async function retryFailed(client: Client, id: string): Promise<Answer & { readonly retried: number }> {
  const { retried, workflow } = await client.retryFailed(id);
  const text =
    retried === 0 ? `${id} has no failed task` : `${id}: ${amount(retried, 'failed task')} will be tried again`;
  return { id, state: workflow.state, retried, text };
}

async function retryTask(client: Client, id: string): Promise<Answer & { readonly retried: number }> {
  const before = await client.task(id);
  const { state } = await client.retryTask(id);
  // A task that is done, or on its way, is left as it is; one that is held was not on its way.
  const isRetried = before.state === 'failed' || before.state === 'cancelled' || before.held === true;
  return {
    id,
    state,
    retried: isRetried ? 1 : 0,
    text: isRetried ? `${id} will be tried again` : `${id} is left as it is: ${state}`,
  };
}
