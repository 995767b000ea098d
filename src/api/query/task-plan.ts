/**
 * How a filter on tasks is carried out: which ids can match at all, what is tested in memory, and what needs rows of the
 * store. Cheap tests come first; what memory alone decides never reaches the store.
 */
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Range } from '../../core/change.ts';
import type { Cluster } from '../../core/cluster.ts';
import { maskOf } from '../../core/task/columns.ts';
import { allStates, type Mark, type StateMask } from '../../core/task/state-blocks.ts';
import { parseReference, type TaskId, taskId, type WorkflowId } from '../../model/ids.ts';
import type { TaskState } from '../../model/states.ts';
import type { Clause, Filter } from '../../protocol/filter/language.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';
import type { TaskSpec } from '../../protocol/spec.ts';
import { type AttemptValue, endValues } from './attempt-values.ts';
import { type FailureValues, statesWithFailure } from './failure-values.ts';
import { definitionValues, memoryValues } from './task-values.ts';
import { testOf } from './test.ts';

export interface TaskPlan {
  readonly filter: Filter;
  /** The states that can match. */
  readonly mask: StateMask;
  /** What a task that matches has; blocks without it are passed over. */
  readonly marks: readonly Mark[];
  readonly inMemory: readonly ((cluster: Cluster, task: TaskId) => boolean)[];
  readonly byDefinition: readonly ((spec: TaskSpec) => boolean)[];
  readonly byAttempt: readonly ((last: AttemptRow | undefined, cluster: Cluster) => boolean)[];
}

/** What needs `failures` is answered by what they know now. */
export function planTasks(filter: Filter, failures: FailureValues): TaskPlan {
  const parts = filter.map((clause) => planClause(clause, failures));
  return {
    filter,
    mask: parts.reduce((mask, part) => mask & (part.mask ?? allStates), allStates),
    marks: parts.flatMap(({ mark }) => mark ?? []),
    inMemory: parts.flatMap(({ inMemory }) => inMemory ?? []),
    byDefinition: parts.flatMap(({ byDefinition }) => byDefinition ?? []),
    byAttempt: parts.flatMap(({ byAttempt }) => byAttempt ?? []),
  };
}

interface Part {
  readonly mask?: StateMask;
  readonly mark?: Mark;
  readonly inMemory?: TaskPlan['inMemory'][number];
  readonly byDefinition?: TaskPlan['byDefinition'][number];
  readonly byAttempt?: TaskPlan['byAttempt'][number];
}

function planClause(clause: Clause, failures: FailureValues): Part {
  const { name } = clause.field;
  const test = testOf(clause);
  if (name === 'state') {
    const named = maskOf(clause.values as TaskState[]);
    return { mask: clause.operator === '=' ? named : allStates & ~named };
  }
  const inMemory = memoryValues[name];
  if (inMemory !== undefined) {
    const part: Part = { inMemory: (cluster, task) => test(inMemory(cluster, task)) };
    if (name === 'held' && !test(false)) return { ...part, mark: 'held' };
    return name === 'attempts' && !test(0) ? { ...part, mark: 'attempted' } : part;
  }
  if (name === 'cause' || name === 'fingerprint') {
    const value = failures[name];
    const part: Part = { inMemory: (cluster, task) => test(value(cluster, task)) };
    return test(undefined) ? part : { ...part, mask: statesWithFailure };
  }
  const inDefinition = definitionValues[name];
  if (inDefinition !== undefined) return { byDefinition: (spec) => test(inDefinition(spec, clause.member)) };
  return planEnd(name, test);
}

/** A task that is done has succeeded: of most tasks memory knows how they ended. */
const endOfDone: Readonly<Record<string, FilterValue | undefined>> = {
  exit: 0,
  outcome: 'succeeded',
  signal: undefined,
};

function planEnd(name: string, test: (value: FilterValue | undefined) => boolean): Part {
  const value = (endValues as Readonly<Record<string, AttemptValue>>)[name] as AttemptValue;
  const isKnown = Object.hasOwn(endOfDone, name);
  const ofDone = isKnown && test(endOfDone[name]);
  const ofNone = test(undefined);
  return {
    ...(ofNone ? {} : { mark: 'attempted' }),
    ...(isKnown && !ofDone && !ofNone ? { mask: allStates & ~maskOf(['done']) } : {}),
    inMemory: ({ tasks }, task) => {
      if (tasks.lastAttempt(task) === undefined) return ofNone;
      return !isKnown || ofDone || tasks.state(task) !== 'done';
    },
    byAttempt: (last, cluster) => test(last === undefined ? undefined : value(last, cluster)),
  };
}

/** Whether a task of that task's block can match. */
export const mayBeInBlockOf = ({ mask, marks }: TaskPlan, { tasks }: Cluster, task: TaskId): boolean =>
  tasks.blocks.inBlockOf(task, mask) > 0 && marks.every((mark) => tasks.blocks.marksInBlockOf(task, mark) > 0);

export const needsRows = ({ byDefinition, byAttempt }: TaskPlan): boolean =>
  byDefinition.length > 0 || byAttempt.length > 0;

/** Called for every task that a request looks at: hundreds of thousands. */
export function passesInMemory({ mask, inMemory }: TaskPlan, cluster: Cluster, task: TaskId): boolean {
  if (!cluster.tasks.isIn(task, mask)) return false;
  for (const test of inMemory) if (!test(cluster, task)) return false;
  return true;
}

/** Where tasks that match can be: of the named tasks, else of the named workflows, else anywhere. In ascending order. */
export function rangesOf({ filter }: TaskPlan, cluster: Cluster): Range[] {
  const named = (name: string): Clause | undefined =>
    filter.find(({ field, operator }) => field.name === name && operator === '=');
  const [ids, workflows] = [named('id'), named('workflow')];
  if (ids !== undefined) return inOrder((ids.values as string[]).flatMap((id) => rangeOfTask(cluster, id)));
  if (workflows === undefined) return [{ from: taskId(1), to: taskId(cluster.tasks.size) }];
  const [from, to] = indicesOf(filter);
  return inOrder(
    [...new Set(workflows.values as WorkflowId[])].flatMap((id) => cluster.workflows.get(id)?.ranges(from, to) ?? []),
  );
}

const inOrder = (ranges: Range[]): Range[] => ranges.sort((a, b) => a.from - b.from);

function rangeOfTask(cluster: Cluster, id: string): Range[] {
  const reference = parseReference(id);
  if (reference?.index === undefined) return [];
  const task = cluster.workflows.get(reference.workflow)?.task(reference.index);
  return task === undefined ? [] : [{ from: task, to: task }];
}

/** The least and the greatest index that the filter allows. */
function indicesOf(filter: Filter): [number, number] {
  let [from, to] = [1, Number.MAX_SAFE_INTEGER];
  for (const { field, operator, values } of filter) {
    if (field.name !== 'index' || operator === '!=') continue;
    const numbers = values as number[];
    const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
    if (operator === '=' || operator === '>=') from = Math.max(from, least);
    if (operator === '>') from = Math.max(from, least + 1);
    if (operator === '=' || operator === '<=') to = Math.min(to, greatest);
    if (operator === '<') to = Math.min(to, greatest - 1);
  }
  return [from, to];
}

/** How many match, where the counts that are kept anyway tell. */
export function countAtHand({ filter, mask }: TaskPlan, cluster: Cluster): number | undefined {
  const others = filter.filter(({ field }) => field.name !== 'state');
  if (others.length === 0) return cluster.tasks.blocks.total(mask);
  const [only, ...more] = others;
  if (only?.field.name !== 'workflow' || only.operator !== '=' || more.length > 0) return undefined;
  let count = 0;
  for (const id of new Set(only.values as WorkflowId[])) count += cluster.workflows.get(id)?.countIn(mask) ?? 0;
  return count;
}
