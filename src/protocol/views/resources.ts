/** What readers of the API see of what tasks asked for, were given and used. */
import { type Static, Type } from 'typebox';
import { exhaustibles } from '../../model/need.ts';
import { count, oneOf, time } from '../schema.ts';
import { Resources } from '../spec.ts';
import { OutcomeView } from './attempts.ts';
import { pageEnd } from './pages.ts';

/** What one attempt used of what it was given. */
export const ResourceUse = Type.Object({
  attempt: Type.String(),
  outcome: Type.Optional(OutcomeView),
  wallMs: Type.Optional(count),
  cpuMs: Type.Optional(count),
  peakBytes: Type.Optional(count),
});
export type ResourceUse = Static<typeof ResourceUse>;

/**
 * `requested`: as the task says. `validated`: with what was filled in. `adjusted`: after an attempt ran out of a resource.
 * `refused`: what would have been next, and is nowhere to be had.
 */
export const ResourceRow = Type.Object({
  kind: oneOf(['requested', 'validated', 'adjusted', 'refused']),
  /** Of an adjustment, from 1. */
  number: Type.Optional(count),
  /** Of the rows of a task exactly one is: what its next attempt gets, or its last one got. */
  active: Type.Boolean(),
  resources: Resources,
  /** What was filled in and from where; or why it was raised. */
  why: Type.Array(Type.String()),
  at: time,
  /** Which one ran out, and in which attempt. */
  resource: Type.Optional(oneOf(exhaustibles)),
  attempt: Type.Optional(Type.String()),
  /** Those that ran with it. */
  attempts: Type.Array(ResourceUse),
});
export type ResourceRow = Static<typeof ResourceRow>;

export const TaskResources = Type.Object({ task: Type.String(), rows: Type.Array(ResourceRow) });
export type TaskResources = Static<typeof TaskResources>;

export const ResourceList = Type.Object({ tasks: Type.Array(TaskResources), ...pageEnd });
export type ResourceList = Static<typeof ResourceList>;
