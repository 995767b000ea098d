/** `drover submit`: registers tasks at a live controller and leaves them to it. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import { type Submission, submit } from '../../sdk/submission.ts';
import { type CommonOptions, type Context, inFolder, printJson, withSession } from '../context.ts';
import { amount } from '../display/text.ts';
import { dryRun } from '../dry-run.ts';
import { type InputOptions, inputsOf } from '../inputs/inputs.ts';
import { Interrupted } from '../interrupts.ts';
import { notesOf } from '../submission-notes.ts';
import { askingFor } from './run.ts';

export interface SubmitOptions extends CommonOptions, InputOptions {
  /** An open workflow that gets the tasks of a definition. */
  readonly to?: string;
}

export async function submitTasks(context: Context, words: readonly string[], options: SubmitOptions): Promise<number> {
  const { env } = context;
  if (options.to !== undefined)
    throw new DroverError('bad-input', '--to takes a definition', { hint: 'add --flow to read one from stdin' });
  const { items, spec, note, remarks } = inputsOf(env, 'submit', words, options);
  if (options.dryRun) return dryRun(env, items, remarks, options);
  env.staySmall();
  const sessionOptions = { ...inFolder(options.dir), joinsOnly: true, submits: true };
  return withSession(context, sessionOptions, async ({ client }, { signal }) => {
    if (note !== undefined) await env.stderr.write(`${note}\n`);
    try {
      const onProgress = (tasks: number): void =>
        void (env.stderr.isTerminal && env.stderr.write(`\r${amount(tasks, 'task')}`));
      const notes: string[] = [];
      const onSubmitted = (submission: Submission): void => {
        notes.push(...remarks(submission.tasks), ...notesOf(submission, options.update));
      };
      const asking = await askingFor(context, client, spec, options, (text) => notes.push(text));
      const view = await submit(client, { spec: asking, items, signal, onProgress, onSubmitted });
      if (env.stderr.isTerminal) await env.stderr.write('\r\x1b[K');
      for (const remark of notes) await env.stderr.write(`${remark}\n`);
      if (options.json) await printJson(env, view);
      else await env.stdout.write(`${view.id}\n`);
      return exitCodes.ok;
    } catch (error) {
      if (error instanceof Interrupted) await env.stderr.write('drover: interrupted, nothing was submitted\n');
      throw error;
    }
  });
}
