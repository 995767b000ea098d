/**
 * The definition of a workflow as people write it: in YAML or JSON, by the SDK, or in a request. One schema is type,
 * validator, and what editors complete by (schema/workflow.schema.json). Units are those of people: `2GB`, `1h`.
 */
import { type Static, Type } from 'typebox';
import {
  argumentsMax,
  attemptsPerTaskMax,
  commandBytesMax,
  concurrencyLimitsMax,
  cpusMin,
  customResourcesMax,
  fallbacksMax,
  nameBytesMax,
  scaleValuesMax,
  slotsMax,
  tagNameBytesMax,
  workflowTasksMax,
} from '../model/limits.ts';
import { edgeKinds, lossPolicies } from '../model/states.ts';
import { oneOf } from '../protocol/schema.ts';
import { Amounts, Priority, Tags } from '../protocol/spec.ts';

const label = Type.String({ minLength: 1, maxLength: tagNameBytesMax });
const text = Type.String({ minLength: 1, maxLength: nameBytesMax });
const path = Type.String({ minLength: 1, maxLength: 4096 });
const closed = { additionalProperties: false } as const;

/** A size such as `2GB` or `512MiB`; a bare number means bytes. */
export const Size = Type.Union([Type.String(), Type.Number()], { title: 'size' });
export type Size = Static<typeof Size>;

/** A time such as `90s`, `2h30m` or `1.5h`; a bare number means seconds. */
export const Time = Type.Union([Type.String(), Type.Number()], { title: 'time' });
export type Time = Static<typeof Time>;

/** What one attempt needs. */
export const NeedWords = Type.Object(
  {
    /** A fraction of one is fine; 1 when absent. */
    cpus: Type.Optional(Type.Number({ minimum: cpusMin, maximum: slotsMax })),
    /** At most so much, such as `2GB`: an attempt that takes more is ended, and the next one gets more. */
    memory: Type.Optional(Size),
    gpus: Type.Optional(Type.Integer({ minimum: 0 })),
    /** At most so long, such as `1h30m`: an attempt that takes longer is ended, and the next one gets more. */
    walltime: Type.Optional(Time),
    /** Of what its worker has a limited amount of, by a name of your own. */
    pools: Type.Optional(Amounts),
    /** Of what there is a limited amount of for all workers together, such as licences. */
    limits: Type.Optional(Type.Record(label, Type.Number({ minimum: 0 }), { maxProperties: customResourcesMax })),
    /** Workers of this queue run it. */
    queue: Type.Optional(label),
    /** Queues to go to when it needs more than the largest worker of its queue has. */
    fallbacks: Type.Optional(Type.Array(label, { maxItems: fallbacksMax })),
    /** How memory and walltime grow after an attempt that ran out: by a factor, or to the next of a list of values. */
    scales: Type.Optional(
      Type.Object(
        {
          memory: Type.Optional(
            Type.Union([Type.Number(), Type.Array(Size, { minItems: 1, maxItems: scaleValuesMax })]),
          ),
          walltime: Type.Optional(
            Type.Union([Type.Number(), Type.Array(Time, { minItems: 1, maxItems: scaleValuesMax })]),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type NeedWords = Static<typeof NeedWords>;

/** How tasks run. A task's own word counts, then its template's, then the workflow's, then the tool's: field by field. */
export const Defaults = Type.Object(
  {
    resources: Type.Optional(NeedWords),
    /** A failed task is tried again up to so often. */
    retries: Type.Optional(Type.Integer({ minimum: 0, maximum: attemptsPerTaskMax - 1 })),
    /** An attempt that takes longer is killed, and counts as a failed one. */
    timeout: Type.Optional(Time),
    /** The higher, the sooner; 0 when absent. */
    priority: Type.Optional(Priority),
    /** About how long it takes. */
    expectedDuration: Type.Optional(Time),
    /** Labels to find tasks by. */
    tags: Type.Optional(Tags),
    attributes: Type.Optional(Tags),
  },
  closed,
);
export type Defaults = Static<typeof Defaults>;

export const Scalar = Type.Union([Type.String({ maxLength: commandBytesMax }), Type.Number(), Type.Boolean()]);
export type Scalar = Static<typeof Scalar>;

/** Whole numbers, both ends included. */
export const NumberRange = Type.Object(
  { from: Type.Integer(), to: Type.Integer(), step: Type.Optional(Type.Integer({ minimum: 1 })) },
  closed,
);
export type NumberRange = Static<typeof NumberRange>;

const values = Type.Union([Scalar, Type.Array(Scalar), NumberRange]);
const rows = Type.Record(label, Scalar, { maxProperties: argumentsMax });
/** Values of placeholders. One that has a list or a range gives a task for each value, several all combinations. */
export const TaskArgs = Type.Record(label, values, { maxProperties: argumentsMax });
export type TaskArgs = Static<typeof TaskArgs>;

/** After one task, or all of an array, of this workflow, or after a task of another one. */
export const AfterWords = Type.Object(
  {
    /** A task by its name; of another workflow, by its name or its index. */
    task: Type.Optional(Type.Union([text, Type.Integer({ minimum: 1 })])),
    /** An array: each task waits for those that have the same values. */
    each: Type.Optional(text),
    /** Another workflow, by its id or its name. */
    workflow: Type.Optional(text),
    /** What it waits for: `success` (when absent), `any` end, or a `failure`. */
    on: Type.Optional(oneOf(edgeKinds)),
  },
  closed,
);
export type AfterWords = Static<typeof AfterWords>;

const afterEntry = Type.Union([text, AfterWords]);
export const After = Type.Union([text, AfterWords, Type.Array(afterEntry)]);
export type After = Static<typeof After>;

const argNames = Type.Array(label, { maxItems: argumentsMax });

/** A command with placeholders such as `{sample}`; a value is inserted as one word, whatever it has. */
export const TemplateWords = Type.Object(
  {
    /** `{{name}}` stands for `{name}`. */
    command: Type.String({ minLength: 1, maxLength: commandBytesMax }),
    /** Placeholders that tell tasks of one workflow apart: those that are in no list. */
    nodeArgs: Type.Optional(argNames),
    /** Placeholders that tell tasks of different workflows apart. */
    taskArgs: Type.Optional(argNames),
    /** Placeholders that do not matter to what a task is, such as a number of threads. */
    opArgs: Type.Optional(argNames),
    /** Values of placeholders for tasks that give none. */
    args: Type.Optional(rows),
    ...Defaults.properties,
  },
  closed,
);
export type TemplateWords = Static<typeof TemplateWords>;

/** A task, or with lists of values an array of tasks. Without a command and a template it is a join: it only waits. */
export const TaskWords = Type.Object(
  {
    /** That of its template when absent. */
    name: Type.Optional(Type.String({ minLength: 1, maxLength: tagNameBytesMax })),
    template: Type.Optional(label),
    /** Instead of a template; it may have placeholders, too. */
    command: Type.Optional(Type.String({ minLength: 1, maxLength: commandBytesMax })),
    /** Values of placeholders, or a list of them with a task for each. */
    args: Type.Optional(Type.Union([TaskArgs, Type.Array(rows)])),
    after: Type.Optional(After),
    /** It waits until somebody releases it. */
    held: Type.Optional(Type.Boolean()),
    /** The latest start, such as `2030-01-31T18:00:00Z`. */
    until: Type.Optional(Type.String()),
    ...Defaults.properties,
  },
  closed,
);
export type TaskWords = Static<typeof TaskWords>;

/** What the tasks are made with: its name is an attribute of the workflow, and its words are the first defaults. */
export const ToolWords = Type.Object({ name: label, ...Defaults.properties }, closed);
export type ToolWords = Static<typeof ToolWords>;

const most = Type.Integer({ minimum: 0, maximum: workflowTasksMax });
const limitsByName = Type.Record(label, most, { maxProperties: concurrencyLimitsMax });
/** How many tasks run at a time: of all, of a template, of those with a tag (`name=value`). 0 pauses them. */
export const ConcurrencyWords = Type.Object(
  { workflow: Type.Optional(most), templates: Type.Optional(limitsByName), tags: Type.Optional(limitsByName) },
  closed,
);

/** A workflow: its tasks, what they run after, and how they run. */
export const Definition = Type.Object(
  {
    /** With `args`, which workflow it is: what has the same of both is gone on with. */
    name: text,
    /** Values that all commands may use as `{name}`; `--arg name=value` sets one, and has to where it is null. */
    args: Type.Optional(Type.Record(label, Type.Union([Scalar, Type.Null()]), { maxProperties: argumentsMax })),
    tool: Type.Optional(Type.Union([label, ToolWords])),
    attributes: Type.Optional(Tags),
    /** Labels of all of its tasks. */
    tags: Type.Optional(Tags),
    /** How tasks run whose template and own words say nothing else. */
    defaults: Type.Optional(Defaults),
    concurrency: Type.Optional(Type.Union([most, ConcurrencyWords])),
    /** What is left is cancelled when a task has failed for good. */
    failFast: Type.Optional(Type.Boolean()),
    /** Tasks may be added while it runs, until it is closed. */
    open: Type.Optional(Type.Boolean()),
    /** What becomes of a task whose worker is lost; tried again when absent. */
    onLost: Type.Optional(oneOf(lossPolicies)),
    /** Where tasks run; where it is submitted when absent. */
    cwd: Type.Optional(path),
    /** An absolute path. */
    shell: Type.Optional(path),
    /** Variables beside those of the submitter. */
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Between TERM and KILL. */
    termGrace: Type.Optional(Time),
    /** More tasks than usual are meant, up to so many. */
    maxTasks: Type.Optional(Type.Integer({ minimum: 1, maximum: workflowTasksMax })),
    templates: Type.Optional(Type.Record(label, TemplateWords)),
    tasks: Type.Array(TaskWords),
  },
  closed,
);
export type Definition = Static<typeof Definition>;
