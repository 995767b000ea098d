/** `drover why` */
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { ReasonView, TaskWhyView, WorkflowWhyView } from '../../protocol/views/why.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderTaskWhy, renderWorkflowWhy } from '../display/why.ts';
import { pastingInto } from '../pasting.ts';
import { named } from '../reference.ts';

export function why(context: Context, id: string, options: CommonOptions): Promise<number> {
  const { env } = context;
  const { workflow, task, attempt } = named(id);
  if (task !== undefined && attempt !== undefined) {
    throw new DroverError('bad-reference', `${id} is an attempt`, { hint: `name its task: ${task}` });
  }
  const pasted = pastingInto(env, options.dir);
  return withClient(context, options, async (client) => {
    if (task !== undefined) {
      const view = ofTask(await client.why(task), pasted);
      if (options.json) await printJson(env, view);
      else await env.stdout.write(renderTaskWhy(view));
      return exitCodes.ok;
    }
    const view = ofWorkflow(await client.whyOf(workflow), pasted);
    if (options.json) await printJson(env, view);
    else await env.stdout.write(renderWorkflowWhy(view));
    return exitCodes.ok;
  });
}

type Pasted = (command: string) => string;

const ofReasons = <Told extends { readonly reasons: readonly ReasonView[] }>(told: Told, pasted: Pasted): Told => ({
  ...told,
  reasons: told.reasons.map((reason) => ({ ...reason, advice: reason.advice.map(pasted) })),
});

function ofTask(view: TaskWhyView, pasted: Pasted): TaskWhyView {
  const { root } = view;
  return { ...ofReasons(view, pasted), ...(root === undefined ? {} : { root: ofReasons(root, pasted) }) };
}

const ofWorkflow = (view: WorkflowWhyView, pasted: Pasted): WorkflowWhyView => ({
  ...ofReasons(view, pasted),
  groups: view.groups.map((group) => ({ ...group, example: ofTask(group.example, pasted) })),
});
