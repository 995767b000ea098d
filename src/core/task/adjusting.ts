/** Raising what an attempt ran out of, before the task is queued again. */
import type { TaskId } from '../../model/ids.ts';
import { adjust } from '../resources/adjusting.ts';
import { capacitiesOf } from '../resources/capacities.ts';
import type { Turn } from '../turn.ts';

/** Each task has a need of its own: however many share it, what one ran out of is raised for that one. */
export function adjustTask(turn: Turn, task: TaskId): undefined {
  const { cluster, now } = turn;
  const view = cluster.taskView(task);
  if (view.state !== 'adjusting' || view.lastAttempt === undefined) return;
  const { resource, lastAttempt: attempt } = view;
  const { kind, need, why } = adjust(cluster.needOf(task), resource, capacitiesOf(cluster, now));
  const possible = kind === 'raised';
  const number = (cluster.adjustments.get(task) ?? 0) + 1;
  turn.emit({ type: possible ? 'need-adjusted' : 'need-refused', task, number, need, resource, why, attempt });
  turn.task(task, { type: 'adjust', now, possible }, 'controller');
}
