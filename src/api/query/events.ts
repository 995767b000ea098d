/** The history as pages: every change that passes, in the order in which they were made. */
import type { ControllerShell } from '../../controller/shell.ts';
import { DroverError } from '../../model/errors.ts';
import { pageRowsDefault, queryLimits } from '../../model/limits.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { EventList, EventView } from '../../protocol/views.ts';
import { eventTests, select } from '../events/selection.ts';
import { renderEvent } from '../events/view.ts';
import { breath } from './breath.ts';

export interface EventQuery {
  readonly limit?: number;
  /** The number of the last event that is known, or `now` for none but those to come. */
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
    const isAtEnd = after >= (await lastChange(shell));
    if (page.events.length > 0 || !isAtEnd || shell.now() >= until) {
      return { events: page.events, next: String(after) };
    }
    await shell.changed(until);
  }
}

/** What is not durable is not shown: a reader sees only what is. */
const lastChange = (shell: ControllerShell): Promise<number> => shell.read(() => shell.controller.sessions.version);

/** The number of an event, or `now` for the last one. One that is beyond it belongs to another store. */
export async function eventCursor(shell: ControllerShell, text: string): Promise<number> {
  const last = await lastChange(shell);
  if (text === 'now') return last;
  const seq = Number(text);
  if (!/^\d{1,15}$/.test(text)) {
    throw new DroverError('bad-cursor', `'${text}' is not the number of an event`, { hint: "a number, or 'now'" });
  }
  if (seq <= last) return seq;
  throw new DroverError('bad-cursor', `there is no event ${seq}: the last one is ${last}`, { details: { last } });
}

async function read(
  shell: ControllerShell,
  filter: Filter,
  from: number,
  limit: number,
): Promise<{ readonly events: EventView[]; readonly reached: number }> {
  const tests = eventTests(filter);
  const events: EventView[] = [];
  let reached = from;
  for (let looks = 0; looks < queryLimits.changesMax; ) {
    const entries = await shell.store.history(reached, queryLimits.changesAtOnce);
    const { passing, attempts } = await select(shell, tests, entries);
    const wanted = passing.slice(0, limit - events.length);
    const { cluster } = shell.controller;
    events.push(...wanted.map((entry) => renderEvent(cluster, entry, attempts)));
    // A page that is full ends with its last event: what comes behind that was not looked at.
    if (events.length === limit) return { events, reached: events.at(-1)?.seq ?? reached };
    reached = entries.at(-1)?.seq ?? reached;
    looks += entries.length;
    if (entries.length < queryLimits.changesAtOnce) break;
    await breath();
  }
  return { events, reached };
}
