/** What any list has that is read page by page. */
import { type Static, Type } from 'typebox';
import { count } from '../schema.ts';

/** How many rows match; at least so many where it is not exact. */
export const CountView = Type.Object({ matched: count, isExact: Type.Boolean() });
export type CountView = Static<typeof CountView>;

/** Of every page: it may be shorter than asked for, and even empty, while there is a next one. */
export const pageEnd = {
  /** Give it as `cursor` for the next page; absent on the last. */
  next: Type.Optional(Type.String()),
  /** Where it was asked for. */
  count: Type.Optional(CountView),
};
