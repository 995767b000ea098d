/** `drover resume`: goes on with what an interruption left, and repeats what failed. What is done stays done. */
import { DroverError } from '../../model/errors.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import type { Client } from '../../sdk/client.ts';
import { type Context, inFolder } from '../context.ts';
import { amount } from '../display/text.ts';
import { type Begun, type ExecutionOptions, execute } from '../execution.ts';
import { workflowNamed } from '../reference.ts';
import type { Reporter } from '../reporter.ts';
import type { Session } from '../session.ts';
import { watch } from '../watch.ts';

export interface ResumeOptions extends ExecutionOptions {
  /** What still runs is taken over; so also without a word. */
  readonly hot?: boolean;
  /** What still runs has to end first. */
  readonly cold?: boolean;
  /** With `cold`: it is ended now. */
  readonly kill?: boolean;
}

export async function resume(context: Context, name: string | undefined, options: ResumeOptions): Promise<number> {
  const wanted = name === undefined ? undefined : workflowNamed(name);
  if (options.kill && !options.cold) {
    throw new DroverError('bad-input', '--kill is for --cold: a hot resume takes over what runs', {
      hint: 'drover resume --cold --kill, or drover resume --hot',
    });
  }
  return execute(context, options, { ...inFolder(options.dir), goesOn: true }, async (session, reporter, signal) => {
    const target = wanted === undefined ? await newestResumable(session) : await session.client.workflow(wanted);
    const ready = options.cold ? await atRest(session.client, target, options, reporter, signal) : target;
    return begin(session, ready, options.cold ? 'cold' : 'hot');
  });
}

/** Hot: what a host that died had left running, and a worker still runs, is taken over by the new run. */
async function begin({ client }: Session, target: WorkflowView, how: 'hot' | 'cold'): Promise<Begun> {
  const doneBefore = target.counts.done;
  const view = target.state === 'done' ? target : await client.resume(target.id, how);
  return { view, doneBefore };
}

/** Waits for the end of what still runs of a workflow that is halting. One that is not is left to the controller's answer. */
async function atRest(
  client: Client,
  target: WorkflowView,
  { kill }: ResumeOptions,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<WorkflowView> {
  if (target.state !== 'halting') return target;
  const halting = kill ? await client.halt(target.id, 'kill') : target;
  const running = amount(halting.counts.running, 'running task');
  reporter.note(`drover: waiting for ${running} of the last run to end${kill ? '' : '; --kill ends what runs'}`);
  return watch(client, halting, () => signal.throwIfAborted());
}

const resumable: readonly WorkflowView['state'][] = ['halting', 'halted', 'failed'];

async function newestResumable({ client }: Session): Promise<WorkflowView> {
  for await (const view of client.eachWorkflow({ where: `state=${resumable.join(',')}`, limit: 1 })) return view;
  throw new DroverError('nothing-to-resume', 'no workflow here is halted or has failed');
}
