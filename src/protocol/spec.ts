/** What a definer says of a workflow and of its tasks: one schema is type, validator and documentation. */
import { type Static, Type } from 'typebox';
import {
  attemptsPerTaskMax,
  customResourcesMax,
  nameBytesMax,
  priorityMax,
  submitEdgesMax,
  submitTasksMax,
  tagNameBytesMax,
  tagsMax,
  tagValueBytesMax,
  terminationMsMax,
} from '../model/limits.ts';
import { edgeKinds, lossPolicies } from '../model/states.ts';
import { oneOf } from './schema.ts';

const durationMs = Type.Integer({ minimum: 1, maximum: 10 * 366 * 86_400_000 });
const path = Type.String({ minLength: 1, maxLength: 4096 });
const attempts = Type.Integer({ minimum: 1, maximum: attemptsPerTaskMax });

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
    /** An attempt that takes longer is killed and counts as a failed one. */
    timeoutMs: Type.Optional(durationMs),
    /** How long a task may take to end after TERM, before KILL. */
    terminationMs: Type.Integer({ minimum: 0, maximum: terminationMsMax }),
    failFast: Type.Boolean(),
    /** For a task whose worker was lost; tried again when absent. */
    onLost: Type.Optional(oneOf(lossPolicies)),
    /** Tasks may be added while it runs. */
    open: Type.Boolean(),
    /** Plain files of each task's output go there, on the machine where it runs. */
    outputDir: Type.Optional(path),
    stdin: Type.Optional(path),
    /** An earlier workflow, by its id or its name: what is done there and has not changed is skipped here. */
    like: Type.Optional(Type.String({ minLength: 1, maxLength: nameBytesMax })),
  },
  { additionalProperties: false },
);
export type WorkflowSpec = Static<typeof WorkflowSpec>;

const amount = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
const label = Type.String({ minLength: 1, maxLength: tagNameBytesMax });

/** What one attempt needs. Kept and returned; not reckoned with yet. */
export const Resources = Type.Object(
  {
    cores: Type.Optional(amount),
    memoryBytes: Type.Optional(count),
    gpus: Type.Optional(count),
    /** How long it may take, as far as whoever places it is concerned; `timeoutMs` is what ends it. */
    runtimeMs: Type.Optional(durationMs),
    /** Whatever else there is a limited amount of, by a name of the user's own. */
    custom: Type.Optional(Type.Record(label, amount, { maxProperties: customResourcesMax })),
  },
  { additionalProperties: false },
);
export type Resources = Static<typeof Resources>;

/** Labels of the user's own, to find tasks by. */
export const Tags = Type.Record(label, Type.String({ maxLength: tagValueBytesMax }), { maxProperties: tagsMax });
export type Tags = Static<typeof Tags>;

/** The higher, the sooner. Kept and returned; not obeyed yet. */
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
    timeoutMs: Type.Optional(durationMs),
    /** The latest start, in ms since the epoch. */
    until: Type.Optional(Type.Integer({ minimum: 0 })),
    /** 0 when absent. */
    priority: Type.Optional(Priority),
    resources: Type.Optional(Resources),
    expectedDurationMs: Type.Optional(durationMs),
    tags: Type.Optional(Tags),
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

export const TaskBatch = Type.Object(
  {
    tasks: Type.Array(TaskSpec, { maxItems: submitTasksMax }),
    edges: Type.Array(EdgeSpec, { maxItems: submitEdgesMax }),
  },
  { additionalProperties: false },
);
export type TaskBatch = Static<typeof TaskBatch>;
