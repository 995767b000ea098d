/** What readers of the API see of limits: on what all workflows share, and on how many tasks of one run at a time. */
import { type Static, Type } from 'typebox';
import { count } from '../schema.ts';
import { Concurrency } from '../spec.ts';

/** Of what all workflows share. */
export const LimitView = Type.Object({
  name: Type.String(),
  /** Absent where nobody has set one: then it holds nobody back. */
  max: Type.Optional(Type.Number()),
  /** By attempts that have not ended. */
  used: Type.Number(),
  /** Workflows with tasks that wait for it. */
  waiting: count,
});
export type LimitView = Static<typeof LimitView>;

export const LimitList = Type.Object({ limits: Type.Array(LimitView) });
export type LimitList = Static<typeof LimitList>;

/** The limits of a workflow as they are now. */
export const ConcurrencyView = Type.Object({
  ...Concurrency.properties,
  /** Tasks that were added before their tag had a limit, and that it concerns from now on. */
  grouped: count,
  /** There may be more of these: give it as `cursor` to go on. */
  next: Type.Optional(Type.String()),
});
export type ConcurrencyView = Static<typeof ConcurrencyView>;
