/**
 * A cluster as plain data in one order, so that two can be compared: the live one, the one loaded from its rows, and
 * the one folded from history. Left out is what is not durable (when someone was last heard, how far a sweep came, what
 * was sent) and what is derived and may be stale (work lists, the count of edges of a task that no longer waits).
 */
import { attemptRow } from '../core/attempt/record.ts';
import type { Cluster } from '../core/cluster.ts';
import { keyOf } from '../core/resources/needs.ts';
import { type TaskId, taskId } from '../model/ids.ts';
import { taskStates } from '../model/states.ts';

/** Of a cluster whose changed rows were taken. */
export function normalForm(cluster: Cluster): unknown {
  return {
    lastAttempt: cluster.lastAttempt,
    limits: cluster.limits.list().map(({ name, max, used }) => ({ name, max, used })),
    counted: cluster.limits.counted(),
    active: [...cluster.active].sort(ascending),
    workflows: byId(cluster.workflows).map((workflow) => ({
      ...workflow.row(),
      counts: taskStates.map((state) => workflow.count(state)),
      attemptsEnded: workflow.attemptsEnded,
      tasks: [...workflow.tasks()],
    })),
    tasks: Array.from({ length: cluster.tasks.size }, (_, offset) => taskForm(cluster, taskId(offset + 1))),
    attempts: byId(cluster.attempts).map(attemptRow),
    workers: byId(cluster.workers).map((worker) => ({
      ...worker.row(),
      attempts: [...worker.attempts].sort(ascending),
    })),
  };
}

const ascending = (a: number, b: number): number => a - b;

const byId = <Value extends { readonly id: number }>(values: ReadonlyMap<number, Value>): Value[] =>
  [...values.values()].sort((a, b) => a.id - b.id);

function taskForm(cluster: Cluster, task: TaskId): unknown {
  const { pending, ...view } = cluster.taskView(task);
  const isCounted = view.state === 'registering' || view.state === 'waiting';
  const parents = [...cluster.graph.parents(task)].sort((a, b) => a.parent - b.parent);
  const need = { key: keyOf(cluster.needOf(task)), adjustments: cluster.adjustments.get(task) ?? 0 };
  return { ...view, ...cluster.tasks.row(task), ...need, pending: isCounted ? pending : undefined, parents };
}
