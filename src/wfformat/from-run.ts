/** From a workflow and how it ran to an instance: what was specified, and what was measured. */
import { DroverError } from '../model/errors.ts';
import { wfformatEdgesMax } from '../model/limits.ts';
import type { EdgeSpec } from '../protocol/spec.ts';
import type { AttemptView } from '../protocol/views/attempts.ts';
import type { TaskView } from '../protocol/views/tasks.ts';
import type { WorkerView } from '../protocol/views/workers.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import { type ExecutedTask, type Instance, idPattern, type SpecifiedTask, schemaVersion } from './schema.ts';

export interface RecordedRun {
  readonly workflow: WorkflowView;
  readonly tasks: readonly TaskView[];
  readonly edges: readonly EdgeSpec[];
  /** In their order. */
  readonly attempts: readonly AttemptView[];
  readonly workers: readonly WorkerView[];
  /** Of Drover. */
  readonly version: string;
}

export function fromRun(run: RecordedRun): Instance {
  const { workflow, version } = run;
  const ids = idsOf(run.tasks);
  const execution = executionOf(run, ids);
  return {
    name: workflow.name ?? workflow.id,
    description: `${workflow.id}, ${workflow.state}, as Drover ran it`,
    createdAt: workflow.createdAt,
    schemaVersion,
    runtimeSystem: { name: 'Drover', version },
    workflow: {
      specification: { tasks: specifiedTasks(run, ids) },
      ...(execution === undefined ? {} : { execution }),
    },
  };
}

/** Names, where they are as ids have to be and no two are the same; of tasks with a command only: joins are none. */
function idsOf(tasks: readonly TaskView[]): ReadonlyMap<number, string> {
  const real = tasks.filter(({ command }) => command !== undefined);
  const names = real.map(({ name }) => name);
  const areIds =
    names.every((name) => name !== undefined && idPattern.test(name)) && new Set(names).size === names.length;
  return new Map(real.map(({ index, id, name }) => [index, areIds && name !== undefined ? name : id]));
}

function specifiedTasks({ tasks, edges }: RecordedRun, ids: ReadonlyMap<number, string>): SpecifiedTask[] {
  const parents = contractedParents(tasks, edges, ids);
  const children = new Map<number, string[]>();
  for (const [child, of] of parents) {
    for (const parent of of) {
      const known = children.get(parent);
      const id = ids.get(child) ?? '';
      if (known === undefined) children.set(parent, [id]);
      else known.push(id);
    }
  }
  return tasks.flatMap(({ index, name, attributes }) => {
    const id = ids.get(index);
    if (id === undefined) return [];
    const named = (all: Iterable<number> = []): string[] => Array.from(all, (one) => ids.get(one) ?? '');
    return [
      {
        name: attributes?.name ?? name ?? id,
        id,
        children: children.get(index) ?? [],
        parents: named(parents.get(index)),
      },
    ];
  });
}

/** The parents of each task; in the place of a join stand those that it waits for. */
function contractedParents(
  tasks: readonly TaskView[],
  edges: readonly EdgeSpec[],
  ids: ReadonlyMap<number, string>,
): ReadonlyMap<number, ReadonlySet<number>> {
  const direct = new Map<number, number[]>();
  for (const { parents, children } of edges) {
    for (let child = children[0]; child <= children[1]; child++) {
      const known = direct.get(child) ?? [];
      for (let parent = parents[0]; parent <= parents[1]; parent++) known.push(parent);
      direct.set(child, known);
    }
  }
  const behind = new Map<number, ReadonlySet<number>>();
  const contracted = new Map<number, ReadonlySet<number>>();
  let count = 0;
  for (const { index } of tasks) {
    if (!ids.has(index)) continue;
    const real = realParents(index, direct, behind, ids);
    count += real.size;
    if (count > wfformatEdgesMax) {
      throw new DroverError('too-large', `without its joins the workflow has more than ${wfformatEdgesMax} edges`, {
        hint: 'WfFormat knows no joins: each task before one is a parent of each task behind it',
      });
    }
    contracted.set(index, real);
  }
  return contracted;
}

/** A join's own are found once, and before those of what waits for it: without recursion, joins may follow on joins. */
function realParents(
  task: number,
  direct: ReadonlyMap<number, readonly number[]>,
  behind: Map<number, ReadonlySet<number>>,
  ids: ReadonlyMap<number, string>,
): ReadonlySet<number> {
  const open = [task];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const parents = direct.get(at) ?? [];
    const unknown = parents.filter((parent) => !ids.has(parent) && !behind.has(parent));
    if (unknown.length > 0) {
      for (const parent of unknown) open.push(parent);
      continue;
    }
    open.pop();
    const real = new Set<number>();
    for (const parent of parents) {
      if (ids.has(parent)) real.add(parent);
      else for (const one of behind.get(parent) ?? []) real.add(one);
    }
    if (at === task) return real;
    behind.set(at, real);
  }
  return new Set();
}

type Execution = NonNullable<Instance['workflow']['execution']>;

/** Absent where nothing ran. */
function executionOf(run: RecordedRun, ids: ReadonlyMap<number, string>): Execution | undefined {
  const last = lastAttempts(run.attempts);
  const executed = run.tasks.flatMap((task) => {
    const [id, attempt] = [ids.get(task.index), last.get(task.id)];
    return id === undefined || attempt === undefined ? [] : [executedTask(id, task, attempt)];
  });
  if (executed.length === 0) return undefined;
  const started = [...last.values()].map(({ startedAt }) => Date.parse(startedAt));
  const ended = [...last.values()].map(({ endedAt }) => Date.parse(endedAt));
  const firstMs = started.reduce((a, b) => Math.min(a, b));
  const lastMs = ended.reduce((a, b) => Math.max(a, b));
  const machines = machinesOf(run.workers, executed);
  return {
    makespanInSeconds: (lastMs - firstMs) / 1_000,
    executedAt: new Date(firstMs).toISOString(),
    tasks: executed,
    ...(machines.length === 0 ? {} : { machines }),
  };
}

type Ran = AttemptView & { readonly startedAt: string; readonly endedAt: string };

const hasRun = (attempt: AttemptView): attempt is Ran =>
  attempt.startedAt !== undefined && attempt.endedAt !== undefined;

function lastAttempts(attempts: readonly AttemptView[]): ReadonlyMap<string, Ran> {
  const last = new Map<string, Ran>();
  for (const attempt of attempts) if (hasRun(attempt)) last.set(attempt.id.replace(/#.*/, ''), attempt);
  return last;
}

function executedTask(id: string, { command = '', requestedResources }: TaskView, attempt: Ran): ExecutedTask {
  const { startedAt, endedAt, wallMs, cpuMs, peakBytes, host } = attempt;
  const ms = wallMs ?? Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
  const [program = '', ...words] = command.split(/\s+/).filter((word) => word !== '');
  return {
    id,
    runtimeInSeconds: ms / 1_000,
    executedAt: startedAt,
    command: { program, arguments: words },
    coreCount: Math.max(1, requestedResources?.cpus ?? 1),
    ...(cpuMs === undefined || ms === 0 ? {} : { avgCPU: Math.round((10_000 * cpuMs) / ms) / 100 }),
    ...(peakBytes === undefined ? {} : { memoryInBytes: peakBytes }),
    machines: [host],
  };
}

function machinesOf(workers: readonly WorkerView[], executed: readonly ExecutedTask[]): Execution['machines'] & object {
  const used = new Set(executed.flatMap(({ machines = [] }) => machines));
  return [...used].map((nodeName) => {
    const slots = workers.filter(({ host }) => host === nodeName).map((worker) => worker.slots);
    return { nodeName, ...(slots.length === 0 ? {} : { cpu: { coreCount: Math.max(...slots) } }) };
  });
}
