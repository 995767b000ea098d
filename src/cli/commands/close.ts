/** `drover close`: an open workflow gets no more tasks, and ends when those it has have. */
import { answerEach } from '../answers.ts';
import { type CommonOptions, type Context, withClient } from '../context.ts';
import { workflowNamed } from '../reference.ts';

export function close(context: Context, names: readonly string[], options: CommonOptions): Promise<number> {
  const workflows = names.map((name) => ({ workflow: workflowNamed(name) }));
  return withClient(context, options, (client) =>
    answerEach(context.env, options, workflows, async ({ workflow }) => {
      const { id, state } = await client.close(workflow);
      return { id, state, text: `${id} is ${state}, and closed` };
    }),
  );
}
