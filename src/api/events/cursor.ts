/**
 * A place in the history: the number of a change, and when it was made. The time tells the change from one of the same number in
 * another history: that of another store, or of this one before it was put back to an earlier state.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import { DroverError } from '../../model/errors.ts';
import type { HistoryEntry } from '../../store/store.ts';

export type EventCursor = Pick<HistoryEntry, 'seq' | 'at'>;

/** Before all changes. */
const begin: EventCursor = { seq: 0, at: 0 };

export const printCursor = ({ seq, at }: EventCursor): string => (seq === 0 ? '0' : `${seq}@${at}`);

/** What is not durable is not shown: a reader sees only what is. */
export const lastChange = (shell: ControllerShell): Promise<number> =>
  shell.read(() => shell.controller.sessions.version);

const written = /^(\d{1,15})(?:@(\d{1,15}))?$/;

/** As it was printed; a number alone, of which it is believed that it is of this history; or `now` for the last change. */
export async function eventCursor(shell: ControllerShell, text: string): Promise<EventCursor> {
  const last = await lastChange(shell);
  const [, number = '', time] = (text === 'now' ? written.exec(String(last)) : written.exec(text)) ?? [];
  if (number === '') {
    throw new DroverError('bad-cursor', `'${text}' is not the number of an event`, {
      hint: "a number, a cursor that was given, or 'now'",
    });
  }
  const seq = Number(number);
  if (seq > last) throw strange(`there is no event ${seq}: the last one is ${last}`, last);
  if (seq === 0) return begin;
  const [found] = await shell.store.history(seq - 1, 1);
  if (found === undefined) throw new Error(`the history has no change ${seq}, and goes up to ${last}`);
  if (time !== undefined && found.at !== Number(time)) {
    throw strange(`event ${seq} is not the one that was read: the history is another one since`, last);
  }
  return { seq, at: found.at };
}

const strange = (what: string, last: number): DroverError =>
  new DroverError('bad-cursor', what, {
    hint: "the store is another one, or an earlier state of it was put back: begin anew, with 0 or 'now'",
    details: { last },
  });
