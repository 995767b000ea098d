/** `drover run` */
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { Client } from '../../sdk/client.ts';
import { type Submission, submit } from '../../sdk/submission.ts';
import { type Context, inFolder } from '../context.ts';
import { dryRun } from '../dry-run.ts';
import { type ExecutionOptions, execute } from '../execution.ts';
import { type InputOptions, inputsOf } from '../inputs/inputs.ts';
import type { SessionOptions } from '../session.ts';
import { notesOf } from '../submission-notes.ts';

export interface RunOptions extends ExecutionOptions, InputOptions {
  /** Join only. */
  readonly server?: boolean;
}

export async function run(context: Context, words: readonly string[], options: RunOptions): Promise<number> {
  const { items, spec, note, remarks } = inputsOf(context.env, 'run', words, options);
  if (options.dryRun) return dryRun(context.env, items, remarks, options);
  return execute(context, options, sessionOf(options), async ({ client }, reporter, signal) => {
    if (note !== undefined) reporter.note(note);
    const onProgress = (tasks: number): void => reporter.registering(tasks);
    const onSubmitted = (submission: Submission): void => {
      for (const remark of remarks(submission.tasks)) reporter.note(remark);
      for (const text of notesOf(submission, options.update)) reporter.note(text);
    };
    const asking = await askingFor(context, client, spec, options, (text) => reporter.note(text));
    const view = await submit(client, { spec: asking, items, signal, onProgress, onSubmitted });
    return { view, doneBefore: 0 };
  });
}

/** Read only where they are wanted: they take a parser. */
export async function askingFor(
  { env }: Context,
  client: Client,
  spec: WorkflowSpec,
  options: InputOptions,
  note: (text: string) => void,
): Promise<WorkflowSpec> {
  if (options.resources === undefined && options.learn !== true) return spec;
  const { requestsIn, specWith, withLearned } = await import('../inputs/requests.ts');
  return specWith(spec, await withLearned(client, spec.name, await requestsIn(env, options), options, note));
}

export const sessionOf = ({ dir, server }: RunOptions): SessionOptions => ({
  ...inFolder(dir),
  ...(server ? { joinsOnly: true } : {}),
});
