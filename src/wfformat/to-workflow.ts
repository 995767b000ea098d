/** From a recorded instance to a workflow that takes as long, in each of its tasks, and waits for the same. */
import { nameBytesMax, tagNameBytesMax, tagValueBytesMax } from '../model/limits.ts';
import type { EdgeSpec, Tags, TaskSpec } from '../protocol/spec.ts';
import { inOrder } from './order.ts';
import type { ExecutedTask, Instance, SpecifiedTask } from './schema.ts';

export interface Scales {
  /** Of run times. */
  readonly time: number;
  /** Of memory, which tasks then take and ask for; without it they take none. */
  readonly memory?: number;
}

export interface ImportedWorkflow {
  readonly name: string;
  readonly attributes: Tags;
  /** Parents first. One without a command is a join that was put in to keep edges few. */
  readonly tasks: readonly TaskSpec[];
  /** In the order of their first child. */
  readonly edges: readonly EdgeSpec[];
}

/** `file` is how errors call the instance. */
export function toWorkflow(instance: Instance, file: string, scales: Scales): ImportedWorkflow {
  const { specification, execution } = instance.workflow;
  const executed = new Map(execution?.tasks.map((task) => [task.id, task]));
  const ordered = inOrder(specification.tasks, file);
  const builder = new Builder();
  const groups = groupsBehindJoins(ordered);
  for (const task of ordered) builder.add(task, taskSpec(task, executed.get(task.id), scales), groups.get(task.id));
  return { name: clipped(instance.name, nameBytesMax), attributes: attributesOf(instance), ...builder.built };
}

/** Children of exactly the same parents. */
interface Group {
  readonly parents: readonly string[];
  /** Its index in the workflow, once the first child was met. */
  join?: number;
}

/** A join pays where it saves a third of the edges. */
const isWorthJoin = (parents: number, children: number): boolean => 2 * parents * children > 3 * (parents + children);

function groupsBehindJoins(tasks: readonly SpecifiedTask[]): ReadonlyMap<string, Group> {
  const byParents = new Map<string, SpecifiedTask[]>();
  for (const task of tasks) {
    const key = [...new Set(task.parents)].sort().join('\n');
    const alike = byParents.get(key);
    if (alike === undefined) byParents.set(key, [task]);
    else alike.push(task);
  }
  const groups = new Map<string, Group>();
  for (const alike of byParents.values()) {
    const parents = [...new Set(alike[0]?.parents)];
    if (!isWorthJoin(parents.length, alike.length)) continue;
    const group: Group = { parents };
    for (const { id } of alike) groups.set(id, group);
  }
  return groups;
}

class Builder {
  private readonly tasks: TaskSpec[] = [];
  private readonly edges: EdgeSpec[] = [];
  private readonly indices = new Map<string, number>();

  get built(): Pick<ImportedWorkflow, 'tasks' | 'edges'> {
    return { tasks: this.tasks, edges: this.edges };
  }

  add(task: SpecifiedTask, spec: TaskSpec, group: Group | undefined): void {
    if (group !== undefined && group.join === undefined) {
      group.join = this.push({});
      this.link(
        group.parents.map((id) => this.indices.get(id) ?? 0),
        group.join,
      );
    }
    const index = this.push(spec);
    this.indices.set(task.id, index);
    if (group?.join !== undefined) this.link([group.join], index);
    else
      this.link(
        [...new Set(task.parents)].map((id) => this.indices.get(id) ?? 0),
        index,
      );
  }

  private push(spec: TaskSpec): number {
    return this.tasks.push(spec);
  }

  /** Consecutive parents are one row; so are consecutive children of a single parent. */
  private link(parents: readonly number[], child: number): void {
    for (const [from, to] of rangesOf(parents)) {
      const last = this.edges.at(-1);
      const isFan =
        from === to && last?.parents[0] === from && last.parents[1] === to && last.children[1] === child - 1;
      if (isFan) last.children[1] = child;
      else this.edges.push({ parents: [from, to], children: [child, child], after: 'success' });
    }
  }
}

function rangesOf(indices: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const index of indices.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}

function taskSpec(task: SpecifiedTask, executed: ExecutedTask | undefined, { time, memory }: Scales): TaskSpec {
  const seconds = (executed?.runtimeInSeconds ?? 0) * time;
  const bytes = memory === undefined ? 0 : Math.ceil((executed?.memoryInBytes ?? 0) * memory);
  return {
    name: task.id,
    command: commandOf(seconds, bytes),
    template: templateOf(task, executed),
    ...(bytes === 0 ? {} : { resources: { memoryBytes: bytes + processesBytes } }),
    ...(seconds < 0.001 ? {} : { expectedDurationMs: Math.round(seconds * 1_000) }),
    attributes: taskAttributes(task, executed),
  };
}

/** What the shell and the programs take that the command below is made of, amply. */
const processesBytes = 32 * 1024 * 1024;

/** The last so many bytes of what it reads are what `tail` keeps in memory, until what it reads from ends. */
const commandOf = (seconds: number, bytes: number): string =>
  bytes === 0
    ? `sleep ${decimal(seconds)}`
    : `{ head -c ${bytes} /dev/zero; sleep ${decimal(seconds)}; } | tail -c ${bytes} > /dev/null`;

/** Without an exponent, which not every `sleep` reads. */
const decimal = (seconds: number): string => seconds.toFixed(6).replace(/\.?0+$/, '');

/** Names are often the kind of task and a number: `mProject_ID0000001`. */
function templateOf({ name }: SpecifiedTask, executed: ExecutedTask | undefined): string {
  const kind = name.replace(/[_-]?(?:ID)?\d+$/, '');
  const program = executed?.command?.program?.split('/').at(-1);
  return clipped((kind !== name && kind) || program || name, tagNameBytesMax);
}

function taskAttributes(task: SpecifiedTask, executed: ExecutedTask | undefined): Tags {
  const { runtimeInSeconds, memoryInBytes, coreCount, avgCPU, readBytes, writtenBytes, machines, command } =
    executed ?? {};
  const words =
    command === undefined ? undefined : [command.program ?? '', ...(command.arguments ?? [])].join(' ').trim();
  return tags({
    ...(task.name === task.id ? {} : { name: task.name }),
    program: words,
    machine: machines?.join(' '),
    cores: coreCount,
    avgCPU,
    runtimeInSeconds,
    memoryInBytes,
    readBytes,
    writtenBytes,
    inputFiles: listed(task.inputFiles),
    outputFiles: listed(task.outputFiles),
  });
}

const attributesOf = ({ createdAt, runtimeSystem, workflow: { execution } }: Instance): Tags =>
  tags({
    format: 'wfformat',
    createdAt,
    runtimeSystem:
      runtimeSystem === undefined ? undefined : `${runtimeSystem.name} ${runtimeSystem.version ?? ''}`.trim(),
    executedAt: execution?.executedAt,
    makespanInSeconds: execution?.makespanInSeconds,
  });

const listed = (files: readonly string[] | undefined): string | undefined =>
  files === undefined || files.length === 0 ? undefined : files.join(' ');

function tags(values: Readonly<Record<string, string | number | undefined>>): Tags {
  const known = Object.entries(values).filter((entry): entry is [string, string | number] => {
    return entry[1] !== undefined && entry[1] !== '';
  });
  return Object.fromEntries(known.map(([name, value]) => [name, clipped(String(value), tagValueBytesMax)]));
}

/** In UTF-16 units, which is what the limits of schemas count. */
const clipped = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
