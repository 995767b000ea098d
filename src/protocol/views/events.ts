/** What readers of the API see of the history. */
import { type Static, Type } from 'typebox';
import { count, time } from '../schema.ts';

/**
 * One change of the history, as it was made: what it has beyond these fields is told by its type. Readers ignore types
 * and fields that they don't know; `v` rises when one of them changes its meaning.
 */
export const EventView = Type.Object({
  /** Counts all changes of the store, from 1 without gaps. */
  seq: count,
  v: count,
  at: time,
  type: Type.String(),
  workflow: Type.Optional(Type.String()),
  task: Type.Optional(Type.String()),
  attempt: Type.Optional(Type.String()),
  worker: Type.Optional(Type.String()),
});
export type EventView = Static<typeof EventView> & Record<string, unknown>;

/** `next` is always there: with it one goes on, or waits for what is yet to happen. */
export const EventList = Type.Object({ events: Type.Array(EventView), next: Type.String() });
export type EventList = Omit<Static<typeof EventList>, 'events'> & { events: EventView[] };
