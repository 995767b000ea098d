/**
 * The history as readers see it: every change, in the order in which they were made. Which fields an event has is its
 * change's business; ids are printed as everywhere, and what belongs to a task also names its workflow.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Change, Range } from '../../core/change.ts';
import type { Cluster } from '../../core/cluster.ts';
import { DroverError } from '../../model/errors.ts';
import { type AttemptId, printAttempt, printTask, printWorker, printWorkflow, type TaskId } from '../../model/ids.ts';
import { pageRowsDefault, queryLimits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';
import type { EventList, EventView } from '../../protocol/views.ts';
import type { HistoryEntry } from '../../store/store.ts';
import { breath } from './breath.ts';
import { testOf } from './test.ts';

const eventVersion = 1;

export interface EventQuery {
  readonly limit?: number;
  /** The number of the last event that is known, or `now` for none but those to come. */
  readonly cursor?: string;
  readonly waitMs?: number;
}

/** Answers when there is an event that passes, or the time is over, or so much was looked at. */
export async function eventPage(shell: ControllerShell, filter: Filter, query: EventQuery): Promise<EventList> {
  const until = shell.now() + (query.waitMs ?? 0);
  const limit = query.limit ?? pageRowsDefault;
  const last = await lastChange(shell);
  let after = query.cursor === undefined ? 0 : query.cursor === 'now' ? last : cursorOf(query.cursor, last);
  for (;;) {
    const page = await read(shell, filter, after, limit);
    after = page.reached;
    const isAtEnd = after >= (await lastChange(shell));
    if (page.events.length > 0 || !isAtEnd || shell.now() >= until) {
      return { events: page.events, next: String(after) };
    }
    await shell.changed(until);
  }
}

/** What is not durable is not shown: a reader sees only what is. */
const lastChange = (shell: ControllerShell): Promise<number> => shell.read(() => shell.controller.sessions.version);

function cursorOf(text: string, last: number): number {
  const seq = Number(text);
  if (!/^\d{1,15}$/.test(text)) {
    throw new DroverError('bad-cursor', `'${text}' is not the number of an event`, { hint: "a number, or 'now'" });
  }
  if (seq <= last) return seq;
  throw new DroverError('bad-cursor', `there is no event ${seq}: the last one is ${last}`, { details: { last } });
}

async function read(
  shell: ControllerShell,
  filter: Filter,
  from: number,
  limit: number,
): Promise<{ readonly events: EventView[]; readonly reached: number }> {
  const tests = filter.map((clause) => [testOf(clause), clause.field.name] as const);
  const events: EventView[] = [];
  let reached = from;
  for (let looks = 0; looks < queryLimits.changesMax && events.length < limit; ) {
    const entries = await shell.store.history(reached, queryLimits.changesAtOnce);
    const rows = await attemptsOf(shell, entries);
    const rendered = await shell.read((cluster) => entries.map((entry) => renderEvent(cluster, entry, rows)));
    for (const event of rendered) {
      if (events.length >= limit) break;
      reached = event.seq;
      if (tests.every(([test, name]) => test(filterValue(event, name)))) events.push(event);
    }
    looks += entries.length;
    if (entries.length < queryLimits.changesAtOnce) break;
    await breath();
  }
  return { events, reached };
}

function filterValue(event: EventView, name: string): FilterValue | undefined {
  const value = event[name];
  if (typeof value !== 'string') return undefined;
  return name === 'workflow' || name === 'worker' ? Number(value.slice(1)) : value;
}

/** A change names an attempt by its id alone; readers know it by its task and number. */
async function attemptsOf(
  shell: ControllerShell,
  entries: readonly HistoryEntry[],
): Promise<ReadonlyMap<number, AttemptRow>> {
  const ids = new Set<AttemptId>();
  for (const { change } of entries) {
    if ('attempt' in change) ids.add(change.attempt);
    if (change.type === 'task-changed' && change.event.type === 'moved' && 'attempt' in change.event.move) {
      ids.add(change.event.move.attempt);
    }
  }
  const rows = await shell.store.attempts([...ids]);
  return new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])));
}

function renderEvent(
  cluster: Cluster,
  { seq, at, change }: HistoryEntry,
  rows: ReadonlyMap<number, AttemptRow>,
): EventView {
  const about = fieldsOf(cluster, change, rows);
  return { seq, v: eventVersion, at: new Date(at).toISOString(), type: change.type, ...about };
}

type Fields = Record<string, unknown>;

function fieldsOf(cluster: Cluster, change: Change, rows: ReadonlyMap<number, AttemptRow>): Fields {
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
      return plainFields(cluster, { task: change.task, ...what, type: undefined, change: event.type }, rows);
    }
    default:
      return plainFields(cluster, { ...change, type: undefined }, rows);
  }
}

const printed = ({ tasks }: Cluster, task: TaskId): string => printTask(tasks.workflow(task), tasks.index(task));

/** Ids by the names of their fields; everything else as it is. */
function plainFields(cluster: Cluster, fields: object, rows: ReadonlyMap<number, AttemptRow>): Fields {
  const shown: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (name === 'workflow') shown.workflow = printWorkflow(value);
    else if (name === 'worker') shown.worker = printWorker(value);
    else if (name === 'task' || name === 'parent' || name === 'child') showTask(cluster, shown, name, value);
    else if (name === 'attempt') showAttempt(cluster, shown, rows.get(value));
    else shown[name] = value;
  }
  return shown;
}

function showTask(cluster: Cluster, shown: Fields, name: string, task: TaskId): void {
  shown.workflow = printWorkflow(cluster.tasks.workflow(task));
  shown[name] = printed(cluster, task);
}

function showAttempt(cluster: Cluster, shown: Fields, row: AttemptRow | undefined): void {
  if (row === undefined) return;
  const { tasks } = cluster;
  showTask(cluster, shown, 'task', row.task);
  shown.attempt = printAttempt(tasks.workflow(row.task), tasks.index(row.task), row.number);
}
