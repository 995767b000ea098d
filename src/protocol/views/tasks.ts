/** What readers of the API see of tasks and of the edges between them. */
import { type Static, Type } from 'typebox';
import { exhaustibles } from '../../model/need.ts';
import { cancelReasons, failReasons, taskStates } from '../../model/states.ts';
import { count, oneOf, time } from '../schema.ts';
import { EdgeSpec, Priority, Resources, Tags } from '../spec.ts';
import { AttemptView, OutcomeView } from './attempts.ts';
import { pageEnd } from './pages.ts';

/** What a task would have needed that ran out of a resource for good. */
export const Shortfall = Type.Object({
  resource: oneOf(exhaustibles),
  resources: Resources,
  why: Type.String(),
});
export type Shortfall = Static<typeof Shortfall>;

export const TaskView = Type.Object({
  id: Type.String(),
  index: count,
  name: Type.Optional(Type.String()),
  /** Absent for a barrier or another join. */
  command: Type.Optional(Type.String()),
  state: oneOf(taskStates),
  reason: Type.Optional(oneOf([...failReasons, ...cancelReasons])),
  held: Type.Optional(Type.Literal(true)),
  /** Why it need not run. */
  skipped: Type.Optional(Type.String()),
  priority: Priority,
  requestedResources: Type.Optional(Resources),
  /** What its next attempt gets, or its last one got: what was not said is filled in, what it ran out of is raised. */
  resources: Type.Optional(Resources),
  /** Where it failed for want of a resource. */
  shortfall: Type.Optional(Shortfall),
  expectedDurationMs: Type.Optional(count),
  tags: Type.Optional(Tags),
  /** Which template it was made of. */
  template: Type.Optional(Type.String()),
  attributes: Type.Optional(Tags),
  /** Dependencies that are not met yet. */
  pendingDependencies: Type.Optional(count),
  /** It waits before its next attempt until then. */
  notBefore: Type.Optional(time),
  attempts: count,
  /** How the last attempt ended. */
  outcome: Type.Optional(OutcomeView),
});
export type TaskView = Static<typeof TaskView>;

export const TaskList = Type.Object({ tasks: Type.Array(TaskView), ...pageEnd });
export type TaskList = Static<typeof TaskList>;

/** Of tasks of the workflow, by their indices; each edge is in one row only. */
export const EdgeList = Type.Object({
  edges: Type.Array(EdgeSpec),
  /** Give it as `cursor` for the next page; absent on the last. */
  next: Type.Optional(Type.String()),
});
export type EdgeList = Static<typeof EdgeList>;

export const TaskDetail = Type.Object({
  ...TaskView.properties,
  workflow: Type.String(),
  cwd: Type.String(),
  /** What waits for it, or waited; the last thousand that were added. */
  continuations: Type.Array(Type.String()),
  history: Type.Array(AttemptView),
});
export type TaskDetail = Static<typeof TaskDetail>;

/** What became of the tasks that matched. In a dry run: what would. */
export const BulkResult = Type.Object({
  matched: count,
  changed: count,
  /** Those that were so already. */
  unchanged: count,
  /** Those that it is not allowed for, by their state. */
  refused: Type.Record(Type.String(), count),
  /** There is more to do: give it as `cursor` to go on. */
  next: Type.Optional(Type.String()),
});
export type BulkResult = Static<typeof BulkResult>;
