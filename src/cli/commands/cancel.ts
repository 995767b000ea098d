/** `drover cancel`: ends workflows and tasks for good. What has ended already is left as it is, and that is no error. */
import { endedTaskStates, isEndedTask, type WorkflowState } from '../../model/states.ts';
import type { Client } from '../../sdk/client.ts';
import { type Answer, answerEach } from '../answers.ts';
import { type Context, withClient } from '../context.ts';
import { amount } from '../display/text.ts';
import { byFailure, checkMany, type FailureOptions, type ManyOptions, steerMany } from '../many.ts';
import { type Named, named } from '../reference.ts';

export type CancelOptions = ManyOptions & FailureOptions;

export async function cancel(context: Context, words: readonly string[], given: CancelOptions): Promise<number> {
  const { names, options } = byFailure(words, given, `state!=${endedTaskStates.join(',')}`);
  checkMany('cancel', names, options);
  const targets = names.map(named);
  return withClient(context, options, (client) =>
    options.where === undefined
      ? answerEach(context.env, options, targets, (target) => cancelOne(client, target))
      : steerMany(context, client, 'cancel', options),
  );
}

function cancelOne(client: Client, { workflow, task }: Named): Promise<Answer> {
  return task === undefined ? cancelWorkflow(client, workflow) : cancelTask(client, task);
}

/** A halted workflow can still be cancelled: it would else be resumable for ever. */
const uncancellable = ['done', 'failed', 'cancelled', 'aborted'] as const satisfies readonly WorkflowState[];

async function cancelWorkflow(client: Client, id: string): Promise<Answer> {
  const before = await client.workflow(id);
  if (uncancellable.some((state) => state === before.state)) return alreadyEnded(id, before.state);
  const { state, counts } = await client.cancel(id);
  const isOver = uncancellable.some((ended) => ended === state);
  return {
    id,
    state,
    text: isOver ? `${id} ${state}` : `${id} is being cancelled, with ${amount(counts.running, 'running task')}`,
  };
}

async function cancelTask(client: Client, id: string): Promise<Answer> {
  const before = await client.task(id);
  if (isEndedTask(before.state)) return alreadyEnded(id, before.state);
  const { state } = await client.cancelTask(id);
  return { id, state, text: isEndedTask(state) ? `${id} ${state}` : `${id} is being cancelled` };
}

const alreadyEnded = (id: string, state: string): Answer => ({ id, state, text: `${id} had ended already: ${state}` });
