/** `drover submit` of a definition: as a workflow, or to an open one. */
import type { Flow } from '../../definition/compile.ts';
import { exitCodes } from '../../model/errors.ts';
import type { Client } from '../../sdk/client.ts';
import { addFlow, type FlowSubmission, submitFlow } from '../../sdk/flow-submission.ts';
import { sizeOf } from '../../sdk/workflow.ts';
import { type Context, inFolder, printJson, withSession } from '../context.ts';
import { dryRunFlow } from '../flow-dry-run.ts';
import { flowNotes } from '../flow-notes.ts';
import { type FlowInput, readFlow } from '../inputs/flow.ts';
import { requestsIn, withLearned } from '../inputs/requests.ts';
import { workflowNamed } from '../reference.ts';
import type { SubmitOptions } from './submit.ts';

export async function submitDefinition(
  context: Context,
  words: readonly string[],
  options: SubmitOptions,
): Promise<number> {
  const { env } = context;
  const input = await readFlow(env, words, options);
  const to = options.to === undefined ? undefined : workflowNamed(options.to);
  // All that is wrong with it is told before anybody is asked for anything.
  const given = await requestsIn(env, options);
  const flow = input.compile(to === undefined ? undefined : { workflow: to, size: 0 }, given);
  if (options.dryRun) return dryRunFlow(env, flow, options);
  const sessionOptions = { ...inFolder(options.dir), joinsOnly: true, submits: true };
  return withSession(context, sessionOptions, async ({ client }, { signal }) => {
    const { source, replaces } = input;
    const notes: string[] = [];
    const requests = await withLearned(client, flow.spec.name, given, options, (text) => notes.push(text));
    const asking = (addedTo?: AddedTo): Flow => input.compile(addedTo, requests);
    const submission =
      to === undefined
        ? await submitFlow(client, requests === given ? flow : asking(), { source, replaces, signal })
        : await growTo(client, to, asking, signal);
    for (const note of notes) await env.stderr.write(`${note}\n`);
    for (const note of flowNotes(submission, options.update)) await env.stderr.write(`${note}\n`);
    if (options.json) await printJson(env, { ...submission.view, outcome: submission.outcome });
    else await env.stdout.write(`${submission.view.id}\n`);
    return exitCodes.ok;
  });
}

type AddedTo = NonNullable<Parameters<FlowInput['compile']>[0]>;

async function growTo(
  client: Client,
  to: string,
  compile: (addedTo: AddedTo) => Flow,
  signal: AbortSignal,
): Promise<FlowSubmission> {
  const flow = compile({ workflow: to, size: await sizeOf(client, to) });
  const noted = await addFlow(client, to, flow, { signal });
  return { view: await client.workflow(to), outcome: 'new', ...noted };
}
