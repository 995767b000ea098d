/** `drover halt`: stops a workflow for now, and shows how it comes to rest. Whoever stops looking changes nothing. */
import { exitCodes } from '../../model/errors.ts';
import { isEndedWorkflow } from '../../model/states.ts';
import { showCount } from '../../model/units.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import { type CommonOptions, type Context, inFolder, printJson, withSession } from '../context.ts';
import { amount } from '../display/text.ts';
import { Interrupted } from '../interrupts.ts';
import { workflowNamed } from '../reference.ts';
import { watch } from '../watch.ts';

export interface HaltOptions extends CommonOptions {
  readonly kill?: boolean;
  /** False for `--no-wait`. */
  readonly wait: boolean;
}

export function halt(context: Context, name: string, options: HaltOptions): Promise<number> {
  const { env } = context;
  const id = workflowNamed(name);
  const mode = options.kill ? 'kill' : 'drain';
  return withSession(context, { ...inFolder(options.dir), joinsOnly: true }, async ({ client }, interrupts) => {
    const before = await interrupts.unlessInterrupted(client.workflow(id));
    const first = await interrupts.unlessInterrupted(client.halt(id, mode));
    const isAsked = !isEndedWorkflow(before.state);
    const isWaiting = options.wait && !isEndedWorkflow(first.state);
    if (isWaiting && first.counts.running > 0) await env.stderr.write(`drover: ${waitingFor(first, options)}\n`);
    try {
      const last = isWaiting ? await interrupts.unlessInterrupted(watch(client, first, () => undefined)) : first;
      if (options.json) await printJson(env, last);
      else await env.stdout.write(`${isAsked ? describe(last) : alreadyEnded(last)}\n`);
      return exitCodes.ok;
    } catch (error) {
      if (error instanceof Interrupted)
        await env.stderr.write(
          `drover: no longer watching; ${id} goes on to halt; 'drover wait ${id}' watches again\n`,
        );
      throw error;
    }
  });
}

const waitingFor = ({ id, counts }: WorkflowView, { kill = false }: HaltOptions): string =>
  kill
    ? `${id} launches nothing more; killing ${amount(counts.running, 'running task')}`
    : `${id} launches nothing more; waiting for ${amount(counts.running, 'running task')}; --kill ends what runs`;

const alreadyEnded = ({ id, state }: WorkflowView): string =>
  state === 'halted' ? `${id} was halted already` : `${id} had ended already: ${state}`;

function describe({ id, state, counts }: WorkflowView): string {
  const done = `${showCount(counts.done)} of ${amount(counts.total, 'task')} done`;
  if (state === 'halted') return `${id} is halted: ${done}; 'drover resume ${id}' goes on with it`;
  if (isEndedWorkflow(state)) return `${id} ended before it was halted: ${state}, ${done}`;
  return `${id} is halting, with ${amount(counts.running, 'running task')}: ${done}`;
}
