/** Why tasks wait, as readers of the API see it. */
import { type Static, Type } from 'typebox';
import { whyLimits } from '../../model/limits.ts';
import { obstacles, reasonKinds } from '../../model/reasons.ts';
import { cancelReasons, edgeKinds, failReasons, taskStates, workflowStates } from '../../model/states.ts';
import { amount, count, oneOf, time } from '../schema.ts';
import { OutcomeView } from './attempts.ts';

const most = { maxItems: whyLimits.namedMax };

/** A task that a reason names. */
export const NamedTask = Type.Object({
  id: Type.String(),
  state: oneOf(taskStates),
  /** Of one that is waited for: after which end of it. */
  after: Type.Optional(oneOf(edgeKinds)),
});
export type NamedTask = Static<typeof NamedTask>;

export const NamedWorker = Type.Object({
  id: Type.String(),
  host: Type.String(),
  /** Why it is given no tasks. */
  obstacle: Type.Optional(oneOf(obstacles)),
  /** More of that, in words. */
  why: Type.Optional(Type.String()),
});
export type NamedWorker = Static<typeof NamedWorker>;

/** What there is too little of: all that a worker has, or what is free of it now. */
export const Missing = Type.Object({ of: Type.String(), asked: Type.String(), there: Type.String() });
export type Missing = Static<typeof Missing>;

/** How much of a limit there is, is in use, and is asked for. */
export const LimitUse = Type.Object({ name: Type.String(), max: amount, used: amount, asked: amount });
export type LimitUse = Static<typeof LimitUse>;

/** One reason; which of the fields beyond the first three it has depends on its kind. */
export const ReasonView = Type.Object({
  kind: oneOf(reasonKinds),
  /** A sentence for people. */
  text: Type.String(),
  /** Command lines that do something about it. */
  advice: Type.Array(Type.String()),
  /** It is over by then by itself; or something is given up. */
  until: Type.Optional(time),
  since: Type.Optional(time),
  /** The first of the tasks that it is about, and how many there are. */
  tasks: Type.Optional(Type.Array(NamedTask, most)),
  taskCount: Type.Optional(count),
  /** The same for workers. */
  workers: Type.Optional(Type.Array(NamedWorker, most)),
  workerCount: Type.Optional(count),
  /** There was more than is looked at: counts are at least these. */
  isCut: Type.Optional(Type.Literal(true)),
  queue: Type.Optional(Type.String()),
  limit: Type.Optional(LimitUse),
  missing: Type.Optional(Type.Array(Missing)),
  /** The attempt that runs, or that ended badly. */
  attempt: Type.Optional(Type.String()),
  outcome: Type.Optional(OutcomeView),
  /** Of one that failed, or is or was cancelled. */
  reason: Type.Optional(oneOf([...failReasons, ...cancelReasons])),
});
export type ReasonView = Static<typeof ReasonView>;

/** The task at the end of a chain of dependencies. */
export const RootView = Type.Object({
  task: Type.String(),
  state: oneOf(taskStates),
  /** Dependencies between the two. */
  steps: count,
  /** There were more dependencies than are looked at: it may not be the end. */
  isCut: Type.Optional(Type.Literal(true)),
  reasons: Type.Array(ReasonView),
});
export type RootView = Static<typeof RootView>;

/** Why a task is not done. */
export const TaskWhyView = Type.Object({
  task: Type.String(),
  state: oneOf(taskStates),
  /** All that hold now; the first is what has to go first. */
  reasons: Type.Array(ReasonView),
  /** What everything before it waits for in the end, if it waits for others, or was cancelled because of them. */
  root: Type.Optional(RootView),
});
export type TaskWhyView = Static<typeof TaskWhyView>;

/** Tasks with the same first reason. */
export const ReasonGroupView = Type.Object({
  /** Of those that were looked at. */
  count: Type.Integer({ minimum: 1 }),
  title: Type.String(),
  example: TaskWhyView,
});
export type ReasonGroupView = Static<typeof ReasonGroupView>;

/** Why a workflow has not ended. */
export const WorkflowWhyView = Type.Object({
  workflow: Type.String(),
  state: oneOf(workflowStates),
  /** Of the workflow itself. */
  reasons: Type.Array(ReasonView),
  /** Tasks that have not ended; and how many of them were looked at, at even distances. */
  unended: count,
  sampled: count,
  /** The largest group first. */
  groups: Type.Array(ReasonGroupView, { maxItems: whyLimits.groupsMax }),
  /** Groups beyond the limit, and their tasks. */
  more: Type.Optional(Type.Object({ groups: count, tasks: count })),
});
export type WorkflowWhyView = Static<typeof WorkflowWhyView>;
