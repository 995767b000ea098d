/**
 * What tasks asked for, what that came to, and how it was raised: a row each, of which one is active. With each row what
 * the attempts used that ran with it.
 */
import type { ControllerShell } from '../controller/shell.ts';
import { needOfTask } from '../controller/task-need.ts';
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Cluster } from '../core/cluster.ts';
import { raisedNeed } from '../core/resources/adjusting.ts';
import { plain } from '../core/resources/needs.ts';
import { printAttempt, printTask, type TaskId } from '../model/ids.ts';
import type { Need } from '../model/need.ts';
import type { Resources } from '../protocol/spec.ts';
import type { ResourceRow, ResourceUse, TaskResources } from '../protocol/views/resources.ts';
import type { Shortfall } from '../protocol/views/tasks.ts';
import type { AdjustmentRow } from '../store/adjustment-row.ts';
import type { TaskDefinition } from '../store/store.ts';
import { iso, optional, renderOutcome } from './render.ts';

/** Groups are no resources. */
export function resourcesOf({ groups: _, ...resources }: Need): Resources {
  return resources as Resources;
}

/** Of its active need; absent where it is one slot and nothing else. */
export function activeResources(cluster: Cluster, task: TaskId): { resources?: Resources } {
  return cluster.tasks.need(task) === plain ? {} : plainOr(cluster.needOf(task));
}

/** As long as nothing was asked for there is nothing to say. */
function plainOr(need: Need): { resources?: Resources } {
  const resources = resourcesOf(need);
  const { queue, cpus, ...others } = resources;
  const isPlain = queue === 'default' && cpus === 1 && Object.keys(others).length === 0;
  return isPlain ? {} : { resources };
}

type Facts = Pick<TaskDefinition, 'id' | 'workflow' | 'spec'>;

/** As it was when the task was added. */
const validatedNeed = (cluster: Cluster, { workflow, spec }: Facts): Need => {
  const { rules } = cluster.workflow(workflow);
  return needOfTask(spec, rules.need, undefined) ?? rules.need ?? cluster.needs.get(plain);
};

/** What each attempt ran with, of tasks of which some were raised. */
export async function attemptResources(
  shell: ControllerShell,
  rows: readonly AttemptRow[],
): Promise<(cluster: Cluster, row: AttemptRow) => { resources?: Resources }> {
  const raised = await shell.read(({ adjustments }) => [
    ...new Set(rows.map(({ task }) => task).filter((task) => adjustments.has(task))),
  ]);
  const adjustments = await shell.store.adjustmentsOf(raised);
  const definitions = new Map((await shell.store.definitions(raised)).map((one) => [one.id, one]));
  return (cluster, row) => {
    const definition = definitions.get(row.task);
    if (definition === undefined) return activeResources(cluster, row.task);
    const active = adjustments.findLast((one) => one.task === row.task && !one.isRefused && one.attempt < row.id);
    return plainOr(active?.need ?? validatedNeed(cluster, definition));
  };
}

/** Why a task that ran out of resources failed for good, and what it would have needed. */
export async function shortfallsOf(
  shell: ControllerShell,
  failed: readonly { readonly task: TaskId; readonly last: AttemptRow | undefined }[],
): Promise<ReadonlyMap<TaskId, Shortfall>> {
  if (failed.length === 0) return new Map();
  const rows = await shell.store.adjustmentsOf(failed.map(({ task }) => task));
  const lastRow = new Map(rows.map((row) => [row.task, row]));
  return shell.read((cluster) => {
    const found = new Map<TaskId, Shortfall>();
    for (const { task, last } of failed) {
      const row = lastRow.get(task);
      const outcome = last?.outcome;
      if (row?.isRefused && row.attempt === last?.id) {
        found.set(task, { resource: row.resource, resources: resourcesOf(row.need), why: row.why });
      } else if (outcome?.kind === 'resource') {
        const { need, step } = raisedNeed(cluster.needOf(task), outcome.resource);
        const why = `${step}: it may not be raised any more`;
        found.set(task, { resource: outcome.resource, resources: resourcesOf(need), why });
      }
    }
    return found;
  });
}

/** Those that failed for want of a resource. */
export function shortOf(
  shell: ControllerShell,
  tasks: readonly TaskId[],
  last: readonly (AttemptRow | undefined)[],
): Promise<{ readonly task: TaskId; readonly last: AttemptRow | undefined }[]> {
  return shell.read((cluster) =>
    tasks.flatMap((task, at) => (cluster.tasks.reason(task) === 'resources' ? [{ task, last: last[at] }] : [])),
  );
}

/** Those of many tasks; each is looked for by its own id. */
export async function taskResources(shell: ControllerShell, tasks: readonly TaskId[]): Promise<TaskResources[]> {
  const definitions = await shell.store.definitions(tasks);
  const adjustments = await shell.store.adjustmentsOf(tasks);
  const last = await shell.read((cluster) => tasks.map((task) => cluster.tasks.lastAttempt(task)));
  const found: TaskResources[] = [];
  for (const [at, definition] of definitions.entries()) {
    const attempt = last[at];
    const attempts = attempt === undefined ? [] : await shell.store.attemptsBack(attempt);
    const addedAt = await shell.store.addedAt(definition.id);
    const own = adjustments.filter(({ task }) => task === definition.id);
    found.push(await shell.read((cluster) => resourcesOfTask(cluster, definition, own, attempts, addedAt)));
  }
  return found;
}

function resourcesOfTask(
  cluster: Cluster,
  definition: TaskDefinition,
  adjustments: readonly AdjustmentRow[],
  attempts: readonly AttemptRow[],
  addedAt: number,
): TaskResources {
  const { workflow, index, spec } = definition;
  const { rules, createdAt } = cluster.workflow(workflow);
  const raised = adjustments.filter(({ isRefused }) => !isRefused);
  const name = (number: number): string => printAttempt(workflow, index, number);
  /** Those after the attempt that led to it, up to the one that led to the next. */
  const usesBetween = (from: number, to: number): ResourceUse[] =>
    attempts.filter(({ id }) => id > from && id <= to).map((row) => useOf(row, name(row.number)));
  const endOf = (number: number): number => raised[number]?.attempt ?? Number.POSITIVE_INFINITY;
  const at = iso(addedAt === 0 ? createdAt : addedAt);
  const asked: ResourceRow[] = [
    { kind: 'requested', active: false, resources: spec.resources ?? {}, why: [], at, attempts: [] },
    {
      ...{ kind: 'validated', active: raised.length === 0, resources: resourcesOf(validatedNeed(cluster, definition)) },
      ...{ why: originsOf(spec.resources ?? {}, rules.need), at, attempts: usesBetween(0, endOf(0)) },
    },
  ];
  const later = adjustments.map((row): ResourceRow => {
    const ledTo = attempts.find(({ id }) => id === row.attempt);
    const isLast = row === raised.at(-1);
    return {
      ...{ kind: row.isRefused ? 'refused' : 'adjusted', number: row.number, active: isLast },
      ...{ resources: resourcesOf(row.need), resource: row.resource, why: [row.why], at: iso(row.at) },
      ...optional('attempt', ledTo === undefined ? undefined : name(ledTo.number)),
      attempts: row.isRefused ? [] : usesBetween(row.attempt, endOf(row.number)),
    };
  });
  return { task: printTask(workflow, index), rows: [...asked, ...later] };
}

function useOf({ outcome, usage }: AttemptRow, attempt: string): ResourceUse {
  return {
    attempt,
    ...optional('outcome', outcome === undefined ? undefined : renderOutcome(outcome)),
    ...optional('wallMs', usage?.wallMs),
    ...optional('cpuMs', usage?.cpuMs),
    ...optional('peakBytes', usage?.peakBytes),
  };
}

/** What the task did not say itself, and where it is from. */
function originsOf(own: Resources, base: Need | undefined): string[] {
  const defaults: Need = { queue: 'default', cpus: 1 };
  const filled = { ...defaults, ...base };
  return Object.entries(filled).flatMap(([name, value]) => {
    if (Object.hasOwn(own, name) || name === 'groups') return [];
    const isDefault = Object.hasOwn(defaults, name) && value === defaults[name as 'queue' | 'cpus'];
    const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return [`${name} ${shown}: ${isDefault ? 'default' : 'from the workflow'}`];
  });
}
