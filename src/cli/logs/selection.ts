/** Whose output is meant: tasks by name, all of workflows, or all that match. */
import { DroverError } from '../../model/errors.ts';
import type { Client } from '../../sdk/client.ts';
import { named } from '../reference.ts';

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
  for (const { task, attempt } of tasks) {
    const { attempts } = await client.task(task);
    if (attempt !== undefined && attempt > attempts) {
      throw new DroverError('attempt-unknown', `${task} has no attempt ${attempt}`);
    }
  }
}
