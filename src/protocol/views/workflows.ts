/** What readers of the API see of workflows. */
import { type Static, Type } from 'typebox';
import { haltModes, workflowStates } from '../../model/states.ts';
import { count, oneOf, time } from '../schema.ts';
import { Concurrency, WorkflowSpec } from '../spec.ts';
import { pageEnd } from './pages.ts';

/** Tasks with a command, by where they stand. Barriers and other joins are not counted. */
export const Counts = Type.Object({
  total: count,
  /** registering, waiting, queued, triaging, adjusting */
  pending: count,
  /** launched, running, cancelling */
  running: count,
  done: count,
  failed: count,
  cancelled: count,
});
export type Counts = Static<typeof Counts>;

export const WorkflowView = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  state: oneOf(workflowStates),
  /** Set while what is left is being cancelled. */
  stop: Type.Optional(oneOf(['user', 'fail-fast'])),
  haltMode: Type.Optional(oneOf(haltModes)),
  /** The number of the last run, 0 before the first. */
  run: count,
  counts: Counts,
  /** How many of its tasks run at a time, where that is limited. */
  concurrency: Type.Optional(Concurrency),
  createdAt: time,
  /** Of the last run. */
  startedAt: Type.Optional(time),
  endedAt: Type.Optional(time),
  /** Of the last run, so far. */
  durationMs: count,
  /** Attempts that ended in the last run. */
  attemptsEnded: count,
  /** Rises with every change of this workflow; give it back to wait for the next one. */
  version: count,
});
export type WorkflowView = Static<typeof WorkflowView>;

const { cwd, shell, args, attributes, maxAttempts, timeoutMs, terminationMs, failFast, onLost } =
  WorkflowSpec.properties;
const { resources, outputDir, stdin, like, commandLine } = WorkflowSpec.properties;

/** How the tasks of a workflow are run. Of the submitter's variables there is only how many: they may be secrets. */
export const WorkflowSurroundings = Type.Object({
  ...{ cwd, shell, args, attributes, maxAttempts, timeoutMs, terminationMs, failFast, onLost },
  ...{ resources, outputDir, stdin, like, commandLine },
  variables: count,
});
export type WorkflowSurroundings = Static<typeof WorkflowSurroundings>;

export const WorkflowList = Type.Object({ workflows: Type.Array(WorkflowView), ...pageEnd });
export type WorkflowList = Static<typeof WorkflowList>;

export const RetryResult = Type.Object({ retried: count, workflow: WorkflowView });
export type RetryResult = Static<typeof RetryResult>;

export const ResetResult = Type.Object({
  /** Tasks that begin anew. */
  reset: count,
  workflow: WorkflowView,
});
export type ResetResult = Static<typeof ResetResult>;
