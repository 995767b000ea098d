/**
 * From a definition to what a controller takes: the specification of a workflow, and batches of tasks and edges, parents
 * before children. Pure. All that can be wrong with a definition is found here, before anything runs, and told at once.
 */
import { resolve } from 'node:path';
import { expansionMax, terminationMsDefault, terminationMsMax, workflowArgumentBytesMax } from '../model/limits.ts';
import type { TaskBatch, WorkflowSpec } from '../protocol/spec.ts';
import { batchesOf } from './batches.ts';
import { type Common, commonOf, type Entry, entriesOf } from './entries.ts';
import { type Digest, graphOf } from './identity.ts';
import { didYouMean, Issues, type Locate } from './issues.ts';
import { ordered } from './order.ts';
import { Plan } from './plan.ts';
import type { Definition } from './schema.ts';
import { timeOf } from './settings.ts';
import { shaped } from './shape.ts';
import { argumentName } from './template.ts';

/** What a definition does not say, since it is the submitter's. */
export type Surroundings = Pick<WorkflowSpec, 'cwd' | 'shell' | 'env'> &
  Partial<Pick<WorkflowSpec, 'outputDir' | 'stdin' | 'like' | 'notify' | 'commandLine'>>;

export interface CompileOptions {
  readonly surroundings: Surroundings;
  readonly digest: Digest;
  /** Arguments of the workflow, before those of the document. */
  readonly args?: Readonly<Record<string, string>>;
  /** Before that of the document. */
  readonly maxTasks?: number;
  /** Whatever the document says. */
  readonly tasksMax?: number;
  /** The workflow that these tasks are added to, and how many it has. */
  readonly addedTo?: { readonly workflow: string; readonly size: number };
  /** How errors call the document, and where its parts are. */
  readonly name?: string;
  readonly locate?: Locate;
}

/** A workflow that grows has no graph yet. */
export interface Flow {
  readonly spec: WorkflowSpec;
  /** Tasks that have a command. */
  readonly commands: number;
  /** All tasks, joins included. */
  readonly size: number;
  readonly entries: readonly Entry[];
  /** Made anew each time: there is never more than one of them in memory. */
  batches(): Generator<TaskBatch, void>;
  /** Finds the digest of its graph, with pauses. */
  graph(): Generator<void, string>;
}

/** With the digest of its graph, by which it is known again. */
export function identified(flow: Flow): Flow {
  if (!hasGraph(flow)) return flow;
  const steps = flow.graph();
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return withGraph(flow, step.value);
}

/** The same for whoever has others to serve. */
export async function identifiedInSteps(flow: Flow, breathe: () => Promise<void>): Promise<Flow> {
  if (!hasGraph(flow)) return flow;
  const steps = flow.graph();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return withGraph(flow, step.value);
    await breathe();
  }
}

const hasGraph = ({ spec }: Flow): boolean => !spec.open;
const withGraph = (flow: Flow, graph: string): Flow => ({ ...flow, spec: { ...flow.spec, graph } });

/** Throws `bad-definition` with all issues in its details. */
export function compile(document: unknown, options: CompileOptions): Flow {
  const { name = 'the definition', locate, addedTo, maxTasks } = options;
  const issues = new Issues(locate);
  const definition = shaped(document, issues);
  if (definition === undefined) {
    issues.throwIfAny(name);
    throw new Error('what is not shaped has an issue');
  }
  const args = argsOf(definition, options.args ?? {}, issues);
  const common = commonOf(definition, args, addedTo?.workflow, issues);
  const meant = maxTasks ?? definition.maxTasks ?? expansionMax;
  const entries = entriesOf(definition, common, { meant, most: options.tasksMax ?? meant }, issues);
  const order = ordered(entries, issues);
  const spec = specOf(definition, common, options.surroundings, issues);
  issues.throwIfAny(name);
  const plan = new Plan(order, addedTo?.size ?? 0);
  return {
    spec,
    commands: entries.reduce((sum, { array, template }) => sum + (template === undefined ? 0 : array.count), 0),
    size: plan.last - (addedTo?.size ?? 0),
    entries,
    batches: () => batchesOf(plan, args),
    graph: () => graphOf(entries, args, options.digest),
  };
}

function argsOf(
  { args = {} }: Definition,
  given: Readonly<Record<string, string>>,
  issues: Issues,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(args)) {
    const chosen = Object.hasOwn(given, name) ? given[name] : value;
    if (chosen === null || chosen === undefined)
      issues.add(['args', name], `has no value: give it one with --arg ${name}=VALUE`);
    if (!argumentName.test(name)) issues.add(['args', name], 'a name has letters, digits, _ and -, no digit first');
    values.set(name, String(chosen ?? ''));
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(args, name)) {
      issues.add(['args'], `there is no argument '${name}' to set${didYouMean(name, values.keys())}`);
    }
  }
  const bytes = [...values].reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (bytes > workflowArgumentBytesMax) issues.add(['args'], `they have more than ${workflowArgumentBytesMax} bytes`);
  return values;
}

function specOf(
  definition: Definition,
  { settings, args, templates }: Common,
  surroundings: Surroundings,
  issues: Issues,
): WorkflowSpec {
  const { name, termGrace, failFast = false, open = false, onLost, env = {} } = definition;
  const cwd = resolve(surroundings.cwd, definition.cwd ?? '.');
  const { resources, maxAttempts = 1, timeoutMs } = settings;
  const attributes = attributesOf(definition);
  const concurrency = concurrencyOf(definition, templates, issues);
  const grace = termGrace === undefined ? terminationMsDefault : timeOf(termGrace, ['termGrace'], issues, 0);
  return {
    ...{ name, cwd, shell: definition.shell ?? surroundings.shell, env: environmentOf(surroundings, cwd, env) },
    ...{ maxAttempts, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    terminationMs: Math.min(grace ?? terminationMsDefault, terminationMsMax),
    failFast,
    ...(onLost === undefined ? {} : { onLost }),
    ...(resources === undefined ? {} : { resources }),
    ...(concurrency === undefined ? {} : { concurrency }),
    args: Object.fromEntries(args),
    ...(attributes === undefined ? {} : { attributes }),
    open,
    ...(surroundings.outputDir === undefined ? {} : { outputDir: surroundings.outputDir }),
    ...(surroundings.stdin === undefined ? {} : { stdin: surroundings.stdin }),
    ...(surroundings.like === undefined ? {} : { like: surroundings.like }),
    ...(surroundings.notify === undefined ? {} : { notify: surroundings.notify }),
    ...(surroundings.commandLine === undefined ? {} : { commandLine: surroundings.commandLine }),
  };
}

/** A shell believes PWD only if it is right. */
function environmentOf(surroundings: Surroundings, cwd: string, env: Readonly<Record<string, string>>) {
  const moved = Object.hasOwn(surroundings.env, 'PWD') ? { PWD: cwd } : {};
  return { ...surroundings.env, ...moved, ...env };
}

function attributesOf({ tool, attributes }: Definition): WorkflowSpec['attributes'] {
  const name = typeof tool === 'object' ? tool.name : tool;
  if (name === undefined) return attributes;
  return { tool: name, ...attributes };
}

function concurrencyOf(
  { concurrency }: Definition,
  templates: Common['templates'],
  issues: Issues,
): WorkflowSpec['concurrency'] {
  if (concurrency === undefined) return undefined;
  if (typeof concurrency === 'number') return { workflow: concurrency };
  for (const name of Object.keys(concurrency.templates ?? {})) {
    if (templates.has(name)) continue;
    const path = ['concurrency', 'templates', name];
    issues.add(path, `there is no template '${name}'${didYouMean(name, templates.keys())}`);
  }
  for (const tag of Object.keys(concurrency.tags ?? {})) {
    if (!/^[^=]+=/.test(tag)) issues.add(['concurrency', 'tags', tag], 'a tag is written name=value');
  }
  return concurrency;
}
