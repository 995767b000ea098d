/** `drover submit`: registers tasks at a live controller and leaves them to it. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { Client } from '../../sdk/client.ts';
import { addFlow, type FlowSubmission, submitFlow } from '../../sdk/flow-submission.ts';
import { type Submission, submit } from '../../sdk/submission.ts';
import { sizeOf } from '../../sdk/workflow.ts';
import { type CommonOptions, type Context, inFolder, printJson, withSession } from '../context.ts';
import { amount } from '../display/text.ts';
import { dryRun } from '../dry-run.ts';
import { dryRunFlow } from '../flow-dry-run.ts';
import { flowNotes } from '../flow-notes.ts';
import { type FlowInput, isFlow, readFlow } from '../inputs/flow.ts';
import { type InputOptions, inputsOf } from '../inputs/inputs.ts';
import { Interrupted } from '../interrupts.ts';
import { workflowNamed } from '../reference.ts';
import { notesOf } from '../submission-notes.ts';

export interface SubmitOptions extends CommonOptions, InputOptions {
  /** An open workflow that gets the tasks of a definition. */
  readonly to?: string;
}

export async function submitTasks(context: Context, words: readonly string[], options: SubmitOptions): Promise<number> {
  const { env } = context;
  if (isFlow(words, options)) return submitDefinition(context, words, options);
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
      const view = await submit(client, { spec, items, signal, onProgress, onSubmitted });
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

async function submitDefinition(context: Context, words: readonly string[], options: SubmitOptions): Promise<number> {
  const { env } = context;
  const input = await readFlow(env, words, options);
  const to = options.to === undefined ? undefined : workflowNamed(options.to);
  // All that is wrong with it is told before anybody is asked for anything.
  const flow = input.compile(to === undefined ? undefined : { workflow: to, size: 0 });
  if (options.dryRun) return dryRunFlow(env, flow, options);
  const sessionOptions = { ...inFolder(options.dir), joinsOnly: true, submits: true };
  return withSession(context, sessionOptions, async ({ client }, { signal }) => {
    const { source, replaces } = input;
    const submission =
      to === undefined
        ? await submitFlow(client, flow, { source, replaces, signal })
        : await growTo(client, to, input, signal);
    for (const note of flowNotes(submission, options.update)) await env.stderr.write(`${note}\n`);
    if (options.json) await printJson(env, { ...submission.view, outcome: submission.outcome });
    else await env.stdout.write(`${submission.view.id}\n`);
    return exitCodes.ok;
  });
}

async function growTo(client: Client, to: string, input: FlowInput, signal: AbortSignal): Promise<FlowSubmission> {
  const flow = input.compile({ workflow: to, size: await sizeOf(client, to) });
  await addFlow(client, to, flow, { signal });
  return { view: await client.workflow(to), outcome: 'new' };
}
