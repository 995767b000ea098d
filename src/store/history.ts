/**
 * History as text: pages of consecutive changes, each change a small JSON array that opens with the code of its type.
 * A page is one row of the store: a row per change would be more than half of what a commit costs.
 *
 * 1. A change is known by its sequence number, counted from 1 without gaps; a page by the number of its last change.
 * 2. Seeds are left out: they are kept with the definitions, and put back by whoever reads.
 * 3. What was written once can be read for good: codes are appended, shapes are added to, nothing changes meaning.
 */
import type { Change, Edges, TaskSeed, Usage } from '../core/change.ts';
import type { TaskEvent, TaskMove } from '../core/task/view.ts';
import { assert } from '../model/errors.ts';
import type { AttemptId, TaskId, WorkerId } from '../model/ids.ts';
import type { Cause } from '../model/states.ts';
import type { HistoryEntry } from './store.ts';

/** The order is the encoding: append at the end, never reorder. */
export const changeTypes = [
  'workflow-registered',
  'tasks-added',
  'edges-added',
  'edge-removed',
  'tasks-activated',
  'tasks-aborted',
  'workflow-moved',
  'workflow-closed',
  'workflow-stopping',
  'workflow-halt-mode',
  'task-changed',
  'attempt-recorded',
  'attempt-started',
  'attempt-ended',
  'worker-joined',
  'worker-gone',
  'worker-barred',
  'worker-patience',
  'worker-resized',
  'worker-refitted',
  'need-adjusted',
  'need-refused',
  'tasks-grouped',
  'workflow-concurrency',
  'limit-set',
] as const satisfies readonly Change['type'][];

/** Does not compile when a type of change is missing above. */
const codes: Readonly<Record<Change['type'], number>> = Object.fromEntries(
  changeTypes.map((type, code) => [type, code]),
) as Record<(typeof changeTypes)[number], number>;

/** A reader of a few changes decodes a whole page: small enough for that, large enough for the writer. */
const pageChangesMax = 256;

export interface HistoryPage {
  /** The number of its last change. */
  readonly last: number;
  readonly at: number;
  readonly count: number;
  readonly data: string;
}

type Of<T extends Change['type']> = Extract<Change, { readonly type: T }>;
type EncodedEvent =
  | { held: boolean }
  | { priority: number }
  | { refunded: Cause }
  | (TaskMove & { charge?: Cause; fresh?: true });

export function* pagesOf(changes: readonly Change[], at: number, after: number): Generator<HistoryPage> {
  for (let start = 0; start < changes.length; start += pageChangesMax) {
    const end = Math.min(start + pageChangesMax, changes.length);
    let data = '';
    for (let next = start; next < end; next++) data += (next === start ? '[' : ',') + encode(changes[next] as Change);
    yield { last: after + end, at, count: end - start, data: `${data}]` };
  }
}

/** `seedsOf` gives the seeds of the tasks that were added together, by the first of them. */
export function entriesOf(page: HistoryPage, seedsOf: (first: TaskId) => readonly TaskSeed[]): HistoryEntry[] {
  const encoded = JSON.parse(page.data) as unknown[][];
  const first = page.last - page.count + 1;
  return encoded.map((parts, offset) => ({ seq: first + offset, at: page.at, change: decode(parts, seedsOf) }));
}

/** As JSON: the frequent ones by position and put together by hand, the others by name. */
function encode(change: Change): string {
  const code = codes[change.type];
  switch (change.type) {
    case 'task-changed':
      return `[${code},${change.task},${encodeEvent(change.event)}]`;
    case 'attempt-recorded':
      return `[${code},${change.attempt},${change.task},${change.number},${change.worker}]`;
    case 'attempt-started':
      return `[${code},${change.attempt},${change.startedAt}]`;
    case 'tasks-added': {
      const { type: _, seeds, ...rest } = change;
      return JSON.stringify([code, rest, seeds.length]);
    }
    case 'attempt-ended':
      return `[${code},${encodeEnd(change)}]`;
    case 'edges-added':
      return `[${code},${encodeEdges(change.edges)}]`;
    default: {
      const { type: _, ...rest } = change;
      return JSON.stringify([code, rest]);
    }
  }
}

function decode([code, ...parts]: unknown[], seedsOf: (first: TaskId) => readonly TaskSeed[]): Change {
  const type = changeTypes[code as number];
  assert(type !== undefined, `history has a change of an unknown type ${code}`);
  switch (type) {
    case 'task-changed': {
      const [task, event] = parts as [TaskId, EncodedEvent];
      return { type, task, event: decodeEvent(event) };
    }
    case 'attempt-recorded': {
      const [attempt, task, number, worker] = parts as [AttemptId, TaskId, number, WorkerId];
      return { type, attempt, task, number, worker };
    }
    case 'attempt-started': {
      const [attempt, startedAt] = parts as [AttemptId, number];
      return { type, attempt, startedAt };
    }
    case 'attempt-ended':
      return decodeEnd(parts);
    case 'edges-added':
      return { type, edges: decodeEdges(parts) };
    case 'tasks-added': {
      const [rest, count] = parts as [Omit<Of<'tasks-added'>, 'type' | 'seeds'>, number];
      return { type, ...rest, seeds: count === 0 ? [] : seedsOf(rest.first) };
    }
    default:
      return { type, ...(parts[0] as object) } as Change;
  }
}

/** One that succeeded by position, any other by name. */
function encodeEnd({ attempt, outcome, startedAt, endedAt, usage, signalledFor }: Of<'attempt-ended'>): string {
  const isPlain = outcome.kind === 'succeeded' && endedAt === undefined && signalledFor === undefined;
  if (!isPlain || startedAt === undefined || usage === undefined) {
    return JSON.stringify({ attempt, outcome, startedAt, endedAt, usage, signalledFor });
  }
  const peak = usage.peakBytes === undefined ? '' : `,${usage.peakBytes}`;
  return `${attempt},${startedAt},${usage.wallMs},${usage.cpuMs}${peak}`;
}

function decodeEnd(parts: unknown[]): Change {
  const type = 'attempt-ended';
  if (typeof parts[0] === 'object') return { type, ...(parts[0] as Omit<Of<'attempt-ended'>, 'type'>) };
  const [attempt, startedAt, wallMs, cpuMs, peakBytes] = parts as [AttemptId, number, number, number, number?];
  const usage: Usage = peakBytes === undefined ? { wallMs, cpuMs } : { wallMs, cpuMs, peakBytes };
  return { type, attempt, outcome: { kind: 'succeeded' }, startedAt, usage };
}

const encodeEdges = ({ parents, children, after }: Edges): string =>
  `${parents.from},${parents.to},${children.from},${children.to},"${after}"`;

function decodeEdges(parts: unknown[]): Edges {
  if (typeof parts[0] === 'object') return (parts[0] as Of<'edges-added'>).edges;
  const [parentFrom, parentTo, from, to, after] = parts as [TaskId, TaskId, TaskId, TaskId, Edges['after']];
  return { parents: { from: parentFrom, to: parentTo }, children: { from, to }, after };
}

function encodeEvent(event: TaskEvent): string {
  const encoded = plainEvent(event);
  if ('to' in encoded && !('charge' in encoded) && !('fresh' in encoded)) {
    const { to } = encoded;
    if (to === 'launched' || to === 'running') {
      return `{"to":"${to}","attempt":${encoded.attempt},"number":${encoded.number}}`;
    }
    if (to === 'done') return '{"to":"done"}';
  }
  return JSON.stringify(encoded);
}

function plainEvent(event: TaskEvent): EncodedEvent {
  if (event.type === 'held') return { held: event.held };
  if (event.type === 'prioritised') return { priority: event.priority };
  if (event.type === 'refunded') return { refunded: event.cause };
  const { move, charge, fresh } = event;
  if (charge === undefined && fresh === undefined) return move;
  return { ...move, ...(charge === undefined ? {} : { charge }), ...(fresh === undefined ? {} : { fresh }) };
}

function decodeEvent(encoded: EncodedEvent): TaskEvent {
  if ('held' in encoded) return { type: 'held', held: encoded.held };
  if ('priority' in encoded) return { type: 'prioritised', priority: encoded.priority };
  if ('refunded' in encoded) return { type: 'refunded', cause: encoded.refunded };
  const { charge, fresh, ...move } = encoded;
  const moved: TaskEvent = { type: 'moved', move };
  return { ...moved, ...(charge === undefined ? {} : { charge }), ...(fresh === undefined ? {} : { fresh }) };
}
