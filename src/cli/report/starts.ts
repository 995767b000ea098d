/** Tasks by whether an attempt of them was ever started; those without one by what became of them. */
import { pageRowsMax, queryLimits } from '../../model/limits.ts';
import type { TaskState } from '../../model/states.ts';
import type { ReportStarts } from '../../protocol/report.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import type { Client } from '../../sdk/client.ts';
import type { AttemptTally } from './tally.ts';

type Source = Pick<Client, 'tasks'>;

/** As counts of workflows have them. */
const ends = { cancelled: ['cancelled', 'aborted'], failed: ['failed'] } as const;

/**
 * What was never sent to a worker is counted there; of what was sent and not started the states are asked for. All of it adds up
 * to the total: where the workflow goes on while one asks, what is left over is yet to start.
 */
export async function startsOf(
  source: Source,
  { id, counts }: Pick<WorkflowView, 'id' | 'counts'>,
  tally: Pick<AttemptTally, 'startedTasks' | 'unstarted'>,
): Promise<ReportStarts> {
  const started = Math.min(counts.total, tally.startedTasks);
  let left = counts.total - started;
  const sent = left === 0 ? [] : await statesOf(source, tally.unstarted);
  const without = async (end: keyof typeof ends): Promise<number> => {
    if (left === 0 || counts[end] === 0) return 0;
    const states: readonly TaskState[] = ends[end];
    const neverSent = counts[end] - (await sentIn(source, id, states));
    const count = Math.max(0, Math.min(left, neverSent + sent.filter((state) => states.includes(state)).length));
    left -= count;
    return count;
  };
  const [cancelled, failed] = [await without('cancelled'), await without('failed')];
  return { started, waiting: left, cancelled, failed };
}

/** Barriers are never sent to a worker: so these are tasks as counts have them. */
async function sentIn(source: Source, id: string, states: readonly TaskState[]): Promise<number> {
  const where = `workflow=${id}&state=${states.join(',')}&attempts>0`;
  return (await source.tasks({ where, limit: 1, fields: ['id'], count: true })).count?.matched ?? 0;
}

async function statesOf(source: Source, ids: ReadonlySet<string>): Promise<TaskState[]> {
  const states: TaskState[] = [];
  for await (const { state } of tasksOf(source, [...ids], ['id', 'state'])) states.push(state);
  return states;
}

/** Tasks by their ids, as many at a time as can be asked for. */
export async function* tasksOf(
  source: Source,
  ids: readonly string[],
  fields: readonly (keyof TaskView)[],
): AsyncGenerator<TaskView, void> {
  for (let at = 0; at < ids.length; at += queryLimits.valuesMax) {
    const where = `id=${ids.slice(at, at + queryLimits.valuesMax).join(',')}`;
    for (let cursor: string | undefined; ; ) {
      const page = { where, limit: pageRowsMax, fields, ...(cursor === undefined ? {} : { cursor }) };
      const { tasks, next } = await source.tasks(page);
      yield* tasks;
      if (next === undefined) break;
      cursor = next;
    }
  }
}
