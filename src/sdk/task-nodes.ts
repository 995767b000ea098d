/** Templates, tasks and arrays as values of a program, and what may be said of them. */
import type {
  AfterWords,
  Defaults,
  NeedWords,
  NumberRange,
  Scalar,
  TaskWords,
  TemplateWords,
} from '../definition/schema.ts';
import { DroverError } from '../model/errors.ts';
import { scaleValuesMax } from '../model/limits.ts';
import { parseBytes, parseDurationMs } from '../model/units.ts';

/** `{ref}` and `{sample}` of `'bwa {ref} {sample}'`; of a command that is not a literal, any name. */
export type Placeholders<Command extends string> = string extends Command
  ? string
  : Command extends `${infer Before}{${infer Name}}${infer Rest}`
    ? (Before extends `${string}$` | `${string}{` ? never : IsName<Name>) | Placeholders<Rest>
    : never;
type IsName<Name extends string> = Name extends `${string}${' ' | '$' | ',' | '{' | '"' | "'" | '.'}${string}`
  ? never
  : Name;

type Values = Scalar | readonly Scalar[] | NumberRange;
type Given<Names extends string, Optional extends string, Value> = string extends Names
  ? { readonly [name: string]: Value }
  : { readonly [Name in Exclude<Names, Optional>]: Value } & { readonly [Name in Names & Optional]?: Value };

/** From the value of the last attempt to that of the next one; in bytes, or in ms. */
export type ScaleFunction = (value: number, attempt: number) => number;
type Scale = NonNullable<NonNullable<NeedWords['scales']>['memory']> | ScaleFunction;

/** As in a definition; a scale may also be a function, which is asked for its values at once. */
export interface Needs extends Omit<NeedWords, 'scales'> {
  readonly scales?: { readonly memory?: Scale; readonly walltime?: Scale };
}

export interface Settings extends Omit<Defaults, 'resources'> {
  readonly resources?: Needs;
}

/** A task or an array, what it must have come to, or a name or words as in a definition. */
export type Dependency = TaskNode | Condition | AfterWords | string;

export interface TaskOptions extends Settings {
  readonly name?: string;
  readonly after?: Dependency | readonly Dependency[];
  readonly held?: boolean;
  readonly until?: string;
}

export interface TemplateOptions<Defaulted extends string = string, Inherited extends string = string>
  extends Settings {
  readonly nodeArgs?: readonly string[];
  readonly taskArgs?: readonly string[];
  readonly opArgs?: readonly string[];
  /** Values for tasks that give none. */
  readonly args?: { readonly [Name in Defaulted]: Scalar };
  /** Placeholders that arguments of the workflow fill. */
  readonly inherits?: readonly Inherited[];
}

export class Condition {
  readonly node: TaskNode;
  readonly on: 'any' | 'failure';

  constructor(node: TaskNode, on: 'any' | 'failure') {
    this.node = node;
    this.on = on;
  }
}

/** A task, or an array of tasks. */
export class TaskNode {
  readonly name: string;
  readonly words: TaskWords;
  readonly template: Template<string, string> | undefined;
  /** What it runs after, as far as these are values, too. */
  readonly parents: readonly TaskNode[];

  constructor(
    name: string,
    words: TaskWords,
    template: Template<string, string> | undefined,
    parents: readonly TaskNode[],
  ) {
    this.name = name;
    this.words = words;
    this.template = template;
    this.parents = parents;
  }

  /** For `after`: when it has failed; of an array, when all of it has. */
  get failed(): Condition {
    return new Condition(this, 'failure');
  }

  /** For `after`: each task waits for those of this array that have the same values. */
  get each(): AfterWords {
    return { each: this.name };
  }
}

/** For `after`: however it ends. */
export const any = (node: TaskNode): Condition => new Condition(node, 'any');

export class Template<Names extends string, Defaulted extends string> {
  readonly name: string;
  readonly words: TemplateWords;

  constructor(name: string, words: TemplateWords) {
    this.name = name;
    this.words = words;
  }

  /** One task. */
  task(args: Given<Names, Defaulted, Scalar>, options: TaskOptions = {}): TaskNode {
    return this.#node(args, options);
  }

  /** An array: a task for each combination of values, or for each row of them. */
  tasks(
    args: Given<Names, Defaulted, Values> | readonly Given<Names, Defaulted, Scalar>[],
    options: TaskOptions = {},
  ): TaskNode {
    return this.#node(args, options);
  }

  #node(args: unknown, options: TaskOptions): TaskNode {
    const name = options.name ?? this.name;
    const given = Object.keys(args as object).length === 0 ? {} : { args: args as NonNullable<TaskWords['args']> };
    return nodeOf(name, { template: this.name, ...given }, options, this as Template<string, string>);
  }
}

export function template<
  const Command extends string,
  Defaulted extends string = never,
  const Inherited extends string = never,
>(
  name: string,
  command: Command,
  options: TemplateOptions<Defaulted, Inherited> = {},
): Template<Placeholders<Command>, Defaulted | Inherited> {
  const { nodeArgs, taskArgs, opArgs, args, inherits: _, ...settings } = options;
  const words = {
    command,
    ...(nodeArgs === undefined ? {} : { nodeArgs: [...nodeArgs] }),
    ...(taskArgs === undefined ? {} : { taskArgs: [...taskArgs] }),
    ...(opArgs === undefined ? {} : { opArgs: [...opArgs] }),
    ...(args === undefined ? {} : { args: { ...args } }),
    ...settingsOf(settings),
  };
  return new Template(name, words);
}

/** A task without a template. */
export const command = (name: string, text: string, options: Omit<TaskOptions, 'name'> = {}): TaskNode =>
  nodeOf(name, { command: text }, options, undefined);

/** Waits for others, and runs nothing itself. */
export const join = (name: string, after: NonNullable<TaskOptions['after']>): TaskNode =>
  nodeOf(name, {}, { after }, undefined);

function nodeOf(
  name: string,
  words: TaskWords,
  { name: _, after, held, until, ...settings }: TaskOptions,
  madeOf: Template<string, string> | undefined,
): TaskNode {
  const links = after === undefined ? [] : isMany(after) ? after : [after];
  const parents = links.flatMap((link) =>
    link instanceof TaskNode ? [link] : link instanceof Condition ? [link.node] : [],
  );
  const whole: TaskWords = {
    name,
    ...words,
    ...(links.length === 0 ? {} : { after: links.map(afterOf) }),
    ...(held === undefined ? {} : { held }),
    ...(until === undefined ? {} : { until }),
    ...settingsOf(settings),
  };
  return new TaskNode(name, whole, madeOf, parents);
}

const isMany = (after: NonNullable<TaskOptions['after']>): after is readonly Dependency[] => Array.isArray(after);

function afterOf(link: Dependency): string | AfterWords {
  if (link instanceof TaskNode) return link.name;
  if (link instanceof Condition) return { task: link.node.name, on: link.on };
  return link;
}

export function settingsOf({ resources, ...rest }: Settings): Defaults {
  if (resources === undefined) return rest;
  const { scales, ...needs } = resources;
  if (scales === undefined) return { ...rest, resources: needs };
  const memory = scaleOf(scales.memory, needs.memory, parseBytes, 'memory', String);
  const walltime = scaleOf(scales.walltime, needs.walltime, parseDurationMs, 'walltime', (ms) => `${ms}ms`);
  const listed = { ...(memory === undefined ? {} : { memory }), ...(walltime === undefined ? {} : { walltime }) };
  return { ...rest, resources: { ...needs, scales: listed } };
}

/** A function is asked for all values there may be, since no program is asked any more when the tasks run. */
function scaleOf(
  scale: Scale | undefined,
  first: string | number | undefined,
  parse: (text: string) => number | undefined,
  name: string,
  print: (value: number) => string,
) {
  if (typeof scale !== 'function') return scale;
  let value = first === undefined ? undefined : parse(String(first));
  if (value === undefined) {
    throw new DroverError(
      'bad-definition',
      `scales.${name} is a function, and there is no ${name} for it to begin with`,
    );
  }
  const values: string[] = [];
  for (let attempt = 2; values.length < scaleValuesMax; attempt++) {
    const next = Math.round(scale(value, attempt));
    if (!Number.isSafeInteger(next) || next <= value) break;
    values.push(print(next));
    value = next;
  }
  if (values.length > 0) return values;
  throw new DroverError('bad-definition', `scales.${name}: the function does not make more of ${first}`);
}
