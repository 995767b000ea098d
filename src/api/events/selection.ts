/** Which changes pass a filter. Decided on the changes themselves: what does not pass is never rendered. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { Change } from '../../core/change.ts';
import type { Cluster } from '../../core/cluster.ts';
import { type AttemptId, printAttempt, printTask, type TaskId, type WorkerId } from '../../model/ids.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';
import type { HistoryEntry } from '../../store/store.ts';
import { exitOf } from '../query/attempt-values.ts';
import { type Test, testOf } from '../query/test.ts';
import type { AttemptsById } from './view.ts';

/** By field. */
export type EventTests = readonly (readonly [test: Test, field: string])[];

export const eventTests = (filter: Filter): EventTests =>
  filter.map((clause) => [testOf(clause), clause.field.name] as const);

export interface Selected {
  readonly passing: readonly HistoryEntry[];
  /** Of those that pass. */
  readonly attempts: AttemptsById;
}

/**
 * The cheap test first: most filters name a type, and then nothing is looked up for the others. What is looked at of the
 * cluster never changes, so nobody waits for a turn to end. `known`: attempts that others have looked up, or will once.
 */
export async function select(
  shell: ControllerShell,
  tests: EventTests,
  entries: readonly HistoryEntry[],
  known?: () => Promise<AttemptsById>,
): Promise<Selected> {
  const { cluster } = shell.controller;
  const ofType = tests.filter(([, field]) => field === 'type');
  const others = tests.filter(([, field]) => field !== 'type');
  const candidates =
    ofType.length === 0 ? entries : entries.filter(({ change }) => ofType.every(([test]) => test(change.type)));
  const attempts = await attemptsOf(shell, candidates, candidates.length === 0 ? undefined : await known?.());
  if (others.length === 0) return { passing: candidates, attempts };
  const passes = (entry: HistoryEntry): boolean =>
    others.every(([test, field]) => test(fieldOf(cluster, entry, attempts, field)));
  return { passing: candidates.filter(passes), attempts };
}

/** From memory as far as they are there, else from the store. */
export async function attemptsOf(
  shell: ControllerShell,
  entries: readonly HistoryEntry[],
  known: AttemptsById | undefined,
): Promise<AttemptsById> {
  const { attempts: live } = shell.controller.cluster;
  const others = new Set<AttemptId>();
  for (const { change } of entries) {
    const id = attemptIn(change);
    if (id !== undefined && known?.get(id) === undefined && !live.has(id)) others.add(id);
  }
  const rows = others.size === 0 ? [] : await shell.store.attempts([...others]);
  const stored = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])));
  return { get: (id) => known?.get(id) ?? stored.get(id) ?? live.get(id) };
}

function attemptIn(change: Change): AttemptId | undefined {
  if ('attempt' in change) return change.attempt;
  if (change.type !== 'task-changed' || change.event.type !== 'moved') return undefined;
  return 'attempt' in change.event.move ? change.event.move.attempt : undefined;
}

function fieldOf(
  cluster: Cluster,
  { at, change }: HistoryEntry,
  attempts: AttemptsById,
  field: string,
): FilterValue | undefined {
  const id = attemptIn(change);
  const attempt = id && attempts.get(id);
  const task = 'task' in change ? change.task : attempt?.task;
  switch (field) {
    case 'at':
      return at;
    case 'workflow':
      return workflowOf(cluster, change, task);
    case 'task':
      return task && printTask(cluster.tasks.workflow(task), cluster.tasks.index(task));
    case 'attempt':
      return (
        attempt && printAttempt(cluster.tasks.workflow(attempt.task), cluster.tasks.index(attempt.task), attempt.number)
      );
    case 'worker':
      return workerOf(change, attempt?.worker);
    case 'host': {
      const worker = workerOf(change, attempt?.worker);
      return worker && cluster.workers.get(worker)?.host;
    }
    default:
      return endValue(change, field);
  }
}

const workerOf = (change: Change, ofAttempt: WorkerId | undefined): WorkerId | undefined =>
  'worker' in change ? change.worker : ofAttempt;

function workflowOf({ tasks }: Cluster, change: Change, task: TaskId | undefined): number | undefined {
  if ('workflow' in change) return change.workflow;
  if (change.type === 'edges-added') return tasks.workflow(change.edges.children.from);
  if (change.type === 'edge-removed') return tasks.workflow(change.child);
  if (change.type === 'tasks-grouped') return change.tasks[0] && tasks.workflow(change.tasks[0].from);
  return task && tasks.workflow(task);
}

/** Where it leads to, or how it ended. */
function endValue(change: Change, field: string): FilterValue | undefined {
  if (field === 'state') {
    if (change.type === 'workflow-moved') return change.to;
    return change.type === 'task-changed' && change.event.type === 'moved' ? change.event.move.to : undefined;
  }
  if (change.type !== 'attempt-ended') return undefined;
  const { outcome } = change;
  if (field === 'outcome') return outcome.kind;
  return field === 'exit' ? exitOf(outcome) : undefined;
}
