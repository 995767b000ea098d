/** What readers of the API see of what tasks wrote. */
import { type Static, Type } from 'typebox';
import { outputStreams } from '../../model/states.ts';
import { count, oneOf } from '../schema.ts';

/** Headers of an output response; its body is the bytes. */
export const outputHeaders = {
  /** Where the body begins. */
  offset: 'x-drover-offset',
  /** Where the next read goes on. */
  nextOffset: 'x-drover-next-offset',
  /** `true` when the attempt has ended and these are its last bytes. */
  isComplete: 'x-drover-complete',
  attempt: 'x-drover-attempt',
  /** `true` when there may be more, with a worker that can't be asked now. */
  isAway: 'x-drover-away',
  /** `true`, with the last bytes, when its worker was lost: what that had not handed over is gone. */
  isLost: 'x-drover-lost',
} as const;

/** A line of output that matches, or stands near one that does. */
export const SearchLine = Type.Object({
  task: Type.String(),
  attempt: count,
  stream: oneOf(outputStreams),
  /** Counted from 1. */
  line: count,
  /** What is no UTF-8 is replaced. */
  text: Type.String(),
  /** Where it matches, as positions in `text`; none in a line that only stands near. */
  spans: Type.Array(Type.Tuple([count, count])),
  /** More of the line was left out, before or behind. */
  isCut: Type.Optional(Type.Literal(true)),
});
export type SearchLine = Static<typeof SearchLine>;

/** The last line of a search, and where output is missing. */
export const SearchEnd = Type.Object({
  /** Tasks whose output was looked at, and how many bytes of it. */
  tasks: count,
  bytes: count,
  matches: count,
  /** Bytes that are lost. */
  missing: count,
  /** There is more to look at: give it as `cursor` to go on. */
  next: Type.Optional(Type.String()),
});
export type SearchEnd = Static<typeof SearchEnd>;
