/** What a definer says of a workflow and of its tasks: one schema is type, validator and documentation. */
import { type Static, Type } from 'typebox';
import {
  argumentsMax,
  attemptsPerTaskMax,
  commandBytesMax,
  commandLineCharactersMax,
  concurrencyLimitsMax,
  cpusMin,
  customResourcesMax,
  fallbacksMax,
  nameBytesMax,
  notificationsMax,
  priorityMax,
  resourceRetriesMax,
  scaleValuesMax,
  slotsMax,
  submitEdgesMax,
  submitTasksMax,
  tagNameBytesMax,
  tagsMax,
  tagValueBytesMax,
  terminationMsMax,
  webhookLimits,
  workflowTasksMax,
} from '../model/limits.ts';
import { edgeKinds, lossPolicies } from '../model/states.ts';
import { amount, count, oneOf } from './schema.ts';

const durationMs = Type.Integer({ minimum: 1, maximum: 10 * 366 * 86_400_000 });
const path = Type.String({ minLength: 1, maxLength: 4096 });
const attempts = Type.Integer({ minimum: 1, maximum: attemptsPerTaskMax });
const resourceRetries = Type.Integer({ minimum: 0, maximum: resourceRetriesMax });

const label = Type.String({ minLength: 1, maxLength: tagNameBytesMax });
export const Amounts = Type.Record(label, amount, { maxProperties: customResourcesMax });

const factor = Type.Number({ exclusiveMinimum: 1, maximum: 1000 });
const scale = Type.Union([
  factor,
  Type.Array(Type.Number({ exclusiveMinimum: 0 }), { minItems: 1, maxItems: scaleValuesMax }),
]);

/** What one attempt needs. */
export const Resources = Type.Object(
  {
    /** A fraction of one is fine; 1 when absent. */
    cpus: Type.Optional(Type.Number({ minimum: cpusMin, maximum: slotsMax })),
    memoryBytes: Type.Optional(count),
    gpus: Type.Optional(count),
    /** Its walltime: an attempt that takes longer is ended, and the next one gets more. */
    runtimeMs: Type.Optional(durationMs),
    /** Of what its worker has a limited amount of, by a name of the user's own. */
    pools: Type.Optional(Amounts),
    /** Of what there is a limited amount of for all workers together, such as licences. */
    limits: Type.Optional(Amounts),
    /** Which workers may run it: those that have this queue. */
    queue: Type.Optional(label),
    /** Queues to go to, one after the other, when it needs more than the largest worker of its queue has. */
    fallbacks: Type.Optional(Type.Array(label, { maxItems: fallbacksMax })),
    /** How the next attempt's memory or walltime grows: by a factor, or to the next of these values (bytes, ms). */
    scales: Type.Optional(
      Type.Object({ memory: Type.Optional(scale), runtime: Type.Optional(scale) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);
export type Resources = Static<typeof Resources>;

/** Labels of the user's own, to find tasks by. */
export const Tags = Type.Record(label, Type.String({ maxLength: tagValueBytesMax }), { maxProperties: tagsMax });
export type Tags = Static<typeof Tags>;

/** Values of a template's placeholders, or of a workflow's arguments. */
export const Arguments = Type.Record(label, Type.String({ maxLength: commandBytesMax }), {
  maxProperties: argumentsMax,
});
export type Arguments = Static<typeof Arguments>;

const most = Type.Integer({ minimum: 0, maximum: workflowTasksMax });
export const Concurrency = Type.Object(
  {
    workflow: Type.Optional(most),
    templates: Type.Optional(Type.Record(label, most, { maxProperties: concurrencyLimitsMax })),
    tags: Type.Optional(
      Type.Record(Type.String({ pattern: '^[^=]+=' }), most, { maxProperties: concurrencyLimitsMax }),
    ),
  },
  { additionalProperties: false },
);
export type Concurrency = Static<typeof Concurrency>;

/** Tells a webhook of something, once for each run. */
export const Notification = Type.Object(
  {
    /** Its end, its first failed task, or so many of them: a number, or a share such as `10%`. */
    on: Type.Union([
      oneOf(['end', 'first-failure']),
      Type.Object(
        {
          failed: Type.Union([
            Type.Integer({ minimum: 1, maximum: workflowTasksMax }),
            Type.String({ pattern: '^(0*[1-9]\\d{0,2}|\\d{1,3}\\.\\d{1,3})%$' }),
          ]),
        },
        { additionalProperties: false },
      ),
    ]),
    /** An address of http or https, to which JSON is posted. */
    webhook: Type.String({ pattern: '^https?://', maxLength: webhookLimits.urlCharactersMax }),
    /** Signs what is posted. Never shown. */
    secret: Type.Optional(Type.String({ minLength: 1, maxLength: webhookLimits.secretCharactersMax })),
  },
  { additionalProperties: false },
);
export type Notification = Static<typeof Notification>;

export const WorkflowSpec = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: nameBytesMax })),
    /** The directory in which tasks run. */
    cwd: path,
    /** An absolute path; a line that needs a shell is run as `shell -c line`. */
    shell: path,
    env: Type.Record(Type.String(), Type.String()),
    /** All attempts that a task may have, the first included. */
    maxAttempts: attempts,
    /** How often what an attempt ran out of is raised, of memory and walltime that were asked for; 5 when absent. */
    maxResourceRetries: Type.Optional(resourceRetries),
    /** An attempt that takes longer is killed and counts as a failed one. */
    timeoutMs: Type.Optional(durationMs),
    /** How long a task may take to end after TERM, before KILL. */
    terminationMs: Type.Integer({ minimum: 0, maximum: terminationMsMax }),
    failFast: Type.Boolean(),
    /** For a task whose worker was lost; tried again when absent. */
    onLost: Type.Optional(oneOf(lossPolicies)),
    /** What each attempt needs, unless its task says otherwise. */
    resources: Type.Optional(Resources),
    /** How many tasks run at a time: of all of it, of a template, of those with a tag (`name=value`). 0 pauses them. */
    concurrency: Type.Optional(Concurrency),
    /** With its name, which workflow it is: one with the same is attached to, or resumed. */
    args: Type.Optional(Arguments),
    /** A digest of its tasks and edges, by whoever compiled them: two with the same arguments must have the same. */
    graph: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    attributes: Type.Optional(Tags),
    /** Tasks may be added while it runs. */
    open: Type.Boolean(),
    /** Plain files of each task's output go there, on the machine where it runs. */
    outputDir: Type.Optional(path),
    stdin: Type.Optional(path),
    notify: Type.Optional(Type.Array(Notification, { maxItems: notificationsMax })),
    /** An earlier workflow, by its id or its name: what is done there and has not changed is skipped here. */
    like: Type.Optional(Type.String({ minLength: 1, maxLength: nameBytesMax })),
    /** How it was submitted, for people; without values of variables and other secrets. */
    commandLine: Type.Optional(Type.String({ minLength: 1, maxLength: commandLineCharactersMax })),
  },
  { additionalProperties: false },
);
export type WorkflowSpec = Static<typeof WorkflowSpec>;

/** The higher, the sooner: between the tasks of a workflow, and between workflows. */
export const Priority = Type.Integer({ minimum: -priorityMax, maximum: priorityMax });

export const TaskSpec = Type.Object(
  {
    /** Absent for a join. */
    command: Type.Optional(Type.String({ minLength: 1 })),
    /** A join that fails if one of its parents failed. */
    check: Type.Optional(Type.Literal(true)),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: nameBytesMax })),
    /** The value of DROVER_INDEX, where it is not the task's index in the workflow. */
    arrayIndex: Type.Optional(Type.Integer()),
    held: Type.Optional(Type.Literal(true)),
    /** Why it need not run: it counts as done, and as none of those that ran. */
    skipped: Type.Optional(Type.String({ minLength: 1, maxLength: 5000 })),
    maxAttempts: Type.Optional(attempts),
    maxResourceRetries: Type.Optional(resourceRetries),
    timeoutMs: Type.Optional(durationMs),
    /** The latest start, in ms since the epoch. */
    until: Type.Optional(Type.Integer({ minimum: 0 })),
    /** 0 when absent. */
    priority: Type.Optional(Priority),
    resources: Type.Optional(Resources),
    expectedDurationMs: Type.Optional(durationMs),
    tags: Type.Optional(Tags),
    /** Which template it was made of, and with which values. */
    template: Type.Optional(label),
    args: Type.Optional(Arguments),
    attributes: Type.Optional(Tags),
  },
  { additionalProperties: false },
);
export type TaskSpec = Static<typeof TaskSpec>;

const indices = Type.Tuple([Type.Integer({ minimum: 1 }), Type.Integer({ minimum: 1 })]);

/** Edges by the tasks' indices within the workflow, both ends included; one side is a single task. */
export const EdgeSpec = Type.Object(
  { parents: indices, children: indices, after: oneOf(edgeKinds) },
  { additionalProperties: false },
);
export type EdgeSpec = Static<typeof EdgeSpec>;

/** An edge from a task that is there already, of any workflow, to new ones. One that has ended counts at once. */
export const OutsideEdgeSpec = Type.Object(
  {
    /** By its id, or by its name: the newest of that name. */
    workflow: Type.String({ minLength: 1, maxLength: nameBytesMax }),
    /** By its index, or by its name. */
    task: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1, maxLength: nameBytesMax })]),
    /** By their indices within the workflow that is extended, both ends included. */
    children: indices,
    after: oneOf(edgeKinds),
  },
  { additionalProperties: false },
);
export type OutsideEdgeSpec = Static<typeof OutsideEdgeSpec>;

export const TaskBatch = Type.Object(
  {
    tasks: Type.Array(TaskSpec, { maxItems: submitTasksMax }),
    edges: Type.Array(EdgeSpec, { maxItems: submitEdgesMax }),
    outside: Type.Optional(Type.Array(OutsideEdgeSpec, { maxItems: submitEdgesMax })),
  },
  { additionalProperties: false },
);
export type TaskBatch = Static<typeof TaskBatch>;
