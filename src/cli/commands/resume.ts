/** `drover resume`: goes on with what an interruption left, and repeats what failed. What is done stays done. */
import { DroverError } from '../../model/errors.ts';
import type { WorkflowView } from '../../protocol/views.ts';
import { type Context, inFolder } from '../context.ts';
import { type Begun, type ExecutionOptions, execute } from '../execution.ts';
import { workflowNamed } from '../reference.ts';
import type { Session } from '../session.ts';

export async function resume(context: Context, name: string | undefined, options: ExecutionOptions): Promise<number> {
  const wanted = name === undefined ? undefined : workflowNamed(name);
  return execute(context, options, inFolder(options.dir), async (session) => {
    const target = wanted === undefined ? await newestResumable(session) : await session.client.workflow(wanted);
    return begin(session, target);
  });
}

/** Hot: what a host that died had left running, and a worker still runs, is taken over by the new run. */
async function begin({ client }: Session, target: WorkflowView): Promise<Begun> {
  const doneBefore = target.counts.done;
  const view = target.state === 'done' ? target : await client.resume(target.id, 'hot');
  return { view, doneBefore };
}

const resumable: readonly WorkflowView['state'][] = ['halting', 'halted', 'failed'];

async function newestResumable({ client }: Session): Promise<WorkflowView> {
  for await (const view of client.eachWorkflow({ where: `state=${resumable.join(',')}`, limit: 1 })) return view;
  throw new DroverError('nothing-to-resume', 'no workflow here is halted or has failed');
}
