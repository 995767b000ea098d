/**
 * A change as readers see it. Which fields an event has is its change's business; ids are printed as everywhere, what
 * belongs to a task also names its workflow, and what belongs to an attempt its worker and that one's machine.
 */
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Change, Range } from '../../core/change.ts';
import type { Cluster } from '../../core/cluster.ts';
import type { Capacity } from '../../model/capacity.ts';
import {
  type AttemptId,
  printAttempt,
  printTask,
  printWorker,
  printWorkflow,
  type TaskId,
  type WorkerId,
} from '../../model/ids.ts';
import type { EventView } from '../../protocol/views/events.ts';
import type { HistoryEntry } from '../../store/store.ts';
import { iso } from '../render.ts';

const eventVersion = 1;

/** A change names an attempt by its id alone; readers know it by its task and number. */
export interface AttemptsById {
  get(id: AttemptId): Pick<AttemptRow, 'task' | 'number' | 'worker'> | undefined;
}

export function renderEvent(cluster: Cluster, { seq, at, change }: HistoryEntry, attempts: AttemptsById): EventView {
  const about = fieldsOf(cluster, change, attempts);
  return { seq, v: eventVersion, at: iso(at), type: change.type, ...about };
}

type Fields = Record<string, unknown>;

function fieldsOf(cluster: Cluster, change: Change, attempts: AttemptsById): Fields {
  switch (change.type) {
    case 'tasks-added': {
      const { workflow, firstIndex, seeds } = change;
      return { workflow: printWorkflow(workflow), firstIndex, count: seeds.length };
    }
    case 'edges-added': {
      const { parents, children, after } = change.edges;
      const range = ({ from, to }: Range): string[] => [printed(cluster, from), printed(cluster, to)];
      const workflow = printWorkflow(cluster.tasks.workflow(children.from));
      return { workflow, parents: range(parents), children: range(children), after };
    }
    case 'tasks-grouped': {
      const tasks = change.tasks.map(({ from, to }) => [printed(cluster, from), printed(cluster, to)]);
      const [first] = change.tasks;
      const workflow = first === undefined ? {} : { workflow: printWorkflow(cluster.tasks.workflow(first.from)) };
      return { ...workflow, group: change.group, tasks };
    }
    case 'task-changed': {
      const { event } = change;
      const what = event.type === 'moved' ? { ...event, ...event.move, move: undefined } : event;
      return plainFields(cluster, { task: change.task, ...what, type: undefined, change: event.type }, attempts);
    }
    default:
      return plainFields(cluster, { ...change, type: undefined }, attempts);
  }
}

const printed = ({ tasks }: Cluster, task: TaskId): string => printTask(tasks.workflow(task), tasks.index(task));

/** Of changes, in ms since the epoch; 0 is none. */
const times = ['startedAt', 'endedAt', 'notBefore'];

/** Ids and times by the names of their fields; everything else as it is. */
function plainFields(cluster: Cluster, fields: object, attempts: AttemptsById): Fields {
  const shown: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (name === 'workflow') shown.workflow = printWorkflow(value);
    else if (name === 'worker') showWorker(cluster, shown, value);
    else if (name === 'task' || name === 'parent' || name === 'child') showTask(cluster, shown, name, value);
    else if (name === 'attempt') showAttempt(cluster, shown, attempts.get(value));
    else if (name === 'capacity') shown.capacity = capacityView(value);
    else if (!times.includes(name)) shown[name] = value;
    else if (value > 0) shown[name] = iso(value);
  }
  return shown;
}

const capacityView = ({ endsAt, ...capacity }: Capacity): Fields =>
  endsAt === undefined ? capacity : { ...capacity, endsAt: iso(endsAt) };

function showTask(cluster: Cluster, shown: Fields, name: string, task: TaskId): void {
  shown.workflow = printWorkflow(cluster.tasks.workflow(task));
  shown[name] = printed(cluster, task);
}

function showWorker(cluster: Cluster, shown: Fields, worker: WorkerId): void {
  shown.worker = printWorker(worker);
  const host = cluster.workers.get(worker)?.host;
  if (host !== undefined) shown.host = host;
}

function showAttempt(cluster: Cluster, shown: Fields, attempt: ReturnType<AttemptsById['get']>): void {
  if (attempt === undefined) return;
  const { tasks } = cluster;
  showTask(cluster, shown, 'task', attempt.task);
  shown.attempt = printAttempt(tasks.workflow(attempt.task), tasks.index(attempt.task), attempt.number);
  showWorker(cluster, shown, attempt.worker);
}
