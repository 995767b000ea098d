/** The history as pages: every change that passes, in the order in which they were made. */
import type { ControllerShell } from '../../controller/shell.ts';
import { pageRowsDefault, queryLimits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { EventList, EventView } from '../../protocol/views/events.ts';
import { type EventCursor, eventCursor, lastChange, printCursor } from '../events/cursor.ts';
import { eventTests, select } from '../events/selection.ts';
import { renderEvent } from '../events/view.ts';
import { breath } from './breath.ts';

export interface EventQuery {
  readonly limit?: number;
  /** Of the last event that is known, or `now` for none but those to come. */
  readonly cursor?: string;
  readonly waitMs?: number;
}

/** Answers when there is an event that passes, or the time is over, or so much was looked at. */
export async function eventPage(shell: ControllerShell, filter: Filter, query: EventQuery): Promise<EventList> {
  const until = shell.now() + (query.waitMs ?? 0);
  const limit = query.limit ?? pageRowsDefault;
  let after = await eventCursor(shell, query.cursor ?? '0');
  for (;;) {
    const page = await read(shell, filter, after, limit);
    after = page.reached;
    const isAtEnd = after.seq >= (await lastChange(shell));
    if (page.events.length > 0 || !isAtEnd || shell.now() >= until) {
      return { events: page.events, next: printCursor(after) };
    }
    await shell.changed(until);
  }
}

async function read(
  shell: ControllerShell,
  filter: Filter,
  from: EventCursor,
  limit: number,
): Promise<{ readonly events: EventView[]; readonly reached: EventCursor }> {
  const tests = eventTests(filter);
  const events: EventView[] = [];
  let reached: EventCursor = from;
  for (let looks = 0; looks < queryLimits.changesMax; ) {
    const entries = await shell.store.history(reached.seq, queryLimits.changesAtOnce);
    const { passing, attempts } = await select(shell, tests, entries);
    const wanted = passing.slice(0, limit - events.length);
    const { cluster } = shell.controller;
    events.push(...wanted.map((entry) => renderEvent(cluster, entry, attempts)));
    // A page that is full ends with its last event: what comes behind that was not looked at.
    if (events.length === limit) return { events, reached: wanted.at(-1) ?? reached };
    reached = entries.at(-1) ?? reached;
    looks += entries.length;
    if (entries.length < queryLimits.changesAtOnce) break;
    await breath();
  }
  return { events, reached };
}
