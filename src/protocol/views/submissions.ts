/** What readers of the API see of a workflow that is submitted: what became of it, and what it differs in from an earlier one. */
import { type Static, Type } from 'typebox';
import { count, oneOf } from '../schema.ts';
import { WorkflowView } from './workflows.ts';

/** What became of a submission: a new workflow, or one that was there and goes on, was resumed, or has ended. */
export const Submitted = Type.Object({
  ...WorkflowView.properties,
  outcome: oneOf(['new', 'attached', 'resumed', 'done']),
});
export type Submitted = Static<typeof Submitted>;

/** What became of tasks that were compared with those of an earlier workflow. */
export const Comparison = Type.Object({
  /** Done there, and skipped here. */
  unchanged: count,
  /** There, but not done. */
  again: count,
  /** New or changed. */
  fresh: count,
});
export type Comparison = Static<typeof Comparison>;

/** Of tasks that were taken, and that no worker which is there now could run. */
export const Warnings = Type.Array(Type.String());

const names = Type.Object({ count, first: Type.Array(Type.String()) });

/** What the tasks and edges of a definition have in which those of a workflow differ; the first of each. */
export const Difference = Type.Object({
  added: names,
  removed: names,
  /** With another template, command or value. */
  changed: names,
  /** `+ align → count` is new, with `-` it is gone. */
  edges: names,
});
export type Difference = Static<typeof Difference>;
