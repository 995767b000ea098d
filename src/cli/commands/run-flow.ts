/** `drover run` of a definition. Loaded only then: it takes a parser, and a compiler. */
import { submitFlow } from '../../sdk/flow-submission.ts';
import type { Context } from '../context.ts';
import { execute } from '../execution.ts';
import { dryRunFlow } from '../flow-dry-run.ts';
import { flowNotes } from '../flow-notes.ts';
import { readFlow } from '../inputs/flow.ts';
import { requestsIn, withLearned } from '../inputs/requests.ts';
import { type RunOptions, sessionOf } from './run.ts';

/** The same definition again goes on with what is there. */
export async function runFlow(context: Context, words: readonly string[], options: RunOptions): Promise<number> {
  const { compile, source, replaces } = await readFlow(context.env, words, options);
  const given = await requestsIn(context.env, options);
  const flow = compile(undefined, given);
  if (options.dryRun) return dryRunFlow(context.env, flow, options);
  return execute(context, options, sessionOf(options), async ({ client }, reporter, signal) => {
    const onProgress = (tasks: number): void => reporter.registering(tasks);
    const requests = await withLearned(client, flow.spec.name, given, options, (text) => reporter.note(text));
    const asking = requests === given ? flow : compile(undefined, requests);
    const submission = await submitFlow(client, asking, { source, replaces, signal, onProgress });
    for (const note of flowNotes(submission, options.update)) reporter.note(note);
    const { view, outcome } = submission;
    return { view, doneBefore: outcome === 'new' ? 0 : view.counts.done };
  });
}
