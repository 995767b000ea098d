/** `drover hold`, `drover release` and `drover priority`: which tasks may start, and which of them first. */
import { DroverError } from '../../model/errors.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import type { Client } from '../../sdk/client.ts';
import { type Answer, answerEach } from '../answers.ts';
import { type Context, withClient } from '../context.ts';
import { checkMany, type ManyOptions, steerMany } from '../many.ts';
import { type Named, named } from '../reference.ts';

type Act = (client: Client, task: string) => Promise<TaskView>;

export const hold = (context: Context, names: readonly string[], options: ManyOptions): Promise<number> =>
  steer(context, 'hold', names, options, (client, task) => client.holdTask(task));

export const release = (context: Context, names: readonly string[], options: ManyOptions): Promise<number> =>
  steer(context, 'release', names, options, (client, task) => client.releaseTask(task));

export const priority = (
  context: Context,
  value: number,
  names: readonly string[],
  options: ManyOptions,
): Promise<number> =>
  steer(context, 'priority', names, options, (client, task) => client.setPriority(task, value), value);

function steer(
  context: Context,
  verb: 'hold' | 'release' | 'priority',
  names: readonly string[],
  options: ManyOptions,
  act: Act,
  value?: number,
): Promise<number> {
  checkMany(verb === 'priority' ? `priority ${value}` : verb, names, options);
  const targets = names.map(taskNamed);
  return withClient(context, options, (client) =>
    options.where === undefined
      ? answerEach(context.env, options, targets, ({ task = '' }) => steerOne(client, task, act))
      : steerMany(context, client, verb, options, value),
  );
}

function taskNamed(name: string): Named {
  const target = named(name);
  if (target.task !== undefined) return target;
  throw new DroverError('bad-reference', `${name} is a workflow`, {
    hint: `name tasks, or say --where workflow=${name}`,
  });
}

async function steerOne(client: Client, task: string, act: Act): Promise<Answer> {
  const { id, state, held = false, priority: value } = await act(client, task);
  const facts = [...(held ? ['held'] : []), ...(value === 0 ? [] : [`priority ${value}`])];
  return { id, state, ...{ held, priority: value }, text: [`${id} is ${state}`, ...facts].join(', ') };
}
