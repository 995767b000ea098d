/** Whose output is meant: tasks by name, all of workflows, or all that match. */
import { DroverError } from '../../model/errors.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import type { Client } from '../../sdk/client.ts';
import { named } from '../reference.ts';

/** Names of one filter, so that an address does not become too long. */
export const namesMax = 100;

export interface SelectionOptions {
  readonly where?: string;
  readonly failed?: boolean;
  readonly attempt?: number;
}

export interface NamedTask {
  readonly task: string;
  readonly attempt: number | undefined;
}

export interface Selection {
  readonly tasks: readonly NamedTask[];
  /** Those that are named; filters select their tasks. */
  readonly workflows: readonly string[];
  /** Each selects tasks, in the order of their ids. */
  readonly filters: readonly string[];
}

export function selectionOf(names: readonly string[], { where, failed, attempt }: SelectionOptions): Selection {
  const hint = "drover logs w3.7, drover logs w3, or drover logs --where 'workflow=w3&exit=137'";
  const more = [where, failed ? 'state=failed' : undefined].filter((part) => part !== undefined);
  if (names.length === 0 && more.length === 0) throw new DroverError('bad-input', 'no task is named', { hint });
  const references = names.map(named);
  const tasks = references.flatMap(({ task, attempt: number = attempt }) =>
    task === undefined ? [] : [{ task, attempt: number }],
  );
  const workflows = references.flatMap(({ workflow, task }) => (task === undefined ? [workflow] : []));
  if (tasks.length > 0 && more.length > 0) {
    throw new DroverError('bad-input', '--where and --failed choose among tasks: name none beside them', { hint });
  }
  const own = workflows.map((workflow) => `workflow=${workflow}`);
  const isMany = tasks.length !== 1 || own.length > 0;
  if (attempt !== undefined && isMany) throw new DroverError('bad-input', '--attempt is for a single task', { hint });
  const filters = own.length === 0 && more.length > 0 ? [''] : own;
  return { tasks, workflows, filters: filters.map((filter) => [filter, ...more].filter(Boolean).join('&')) };
}

/** A filter finds nothing where there is nothing: a name that is wrong must not look like silence. */
export async function mustExist(client: Client, { workflows, tasks }: Selection): Promise<void> {
  for (const workflow of workflows) await client.workflow(workflow);
  for await (const { task, attempt, attempts } of lookedAt(client, tasks)) {
    if (attempt !== undefined && attempt > attempts) {
      throw new DroverError('attempt-unknown', `${task} has no attempt ${attempt}`);
    }
  }
}

/** They as they stand, in their order; many are asked for at once. */
export async function* lookedAt(
  client: Client,
  tasks: readonly NamedTask[],
): AsyncGenerator<NamedTask & Pick<TaskView, 'attempts' | 'state'>> {
  for (let from = 0; from < tasks.length; from += namesMax) {
    const some = tasks.slice(from, from + namesMax);
    const where = `id=${some.map(({ task }) => task).join(',')}`;
    const found = new Map<string, TaskView>();
    for await (const view of client.eachTask({ where, fields: ['id', 'attempts', 'state'] })) found.set(view.id, view);
    for (const { task, attempt } of some) {
      // One that is not there is asked for by itself: that is refused with what is wrong.
      const { attempts, state } = found.get(task) ?? (await client.task(task));
      yield { task, attempt, attempts, state };
    }
  }
}
