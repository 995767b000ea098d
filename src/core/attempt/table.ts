/**
 * The attempt's machine: recorded → sent → accepted → running → ended, with `unsure` beside sent and accepted. An
 * attempt is recorded durably before it is sent, and sent at most once: nothing leads back to `recorded`.
 */

import type { Outcome } from '../../model/outcome.ts';
import type { AttemptState } from '../../model/states.ts';
import { accept, type Cell, ignored, refused, reject, type Table } from '../machine.ts';

export type AttemptView =
  | { readonly state: 'recorded' }
  | { readonly state: 'sent' }
  | { readonly state: 'unsure' }
  | { readonly state: 'accepted' }
  | { readonly state: 'running' }
  | { readonly state: 'ended'; readonly outcome: Outcome };

export type AttemptCommand =
  | { readonly type: 'send' }
  | { readonly type: 'doubt' }
  | { readonly type: 'accept' }
  | { readonly type: 'start' }
  | { readonly type: 'end'; readonly outcome: Outcome };

export type AttemptEvent = { readonly to: AttemptState };

type AttemptCell<V, C> = Cell<AttemptState, V, C, AttemptEvent>;

const sendable: AttemptCell<unknown, unknown> = {
  by: ['distributor'],
  to: ['sent'],
  decide: () => accept({ to: 'sent' }),
};
const doubtable: AttemptCell<unknown, unknown> = {
  by: ['controller'],
  to: ['unsure'],
  decide: () => accept({ to: 'unsure' }),
};
const acceptable: AttemptCell<unknown, unknown> = {
  by: ['operator'],
  to: ['accepted'],
  decide: () => accept({ to: 'accepted' }),
};
const startable: AttemptCell<unknown, unknown> = {
  by: ['operator'],
  to: ['running'],
  decide: () => accept({ to: 'running' }),
};
const endable: AttemptCell<unknown, unknown> = {
  by: ['operator', 'controller'],
  to: ['ended'],
  decide: () => accept({ to: 'ended' }),
};
/** A worker given up for lost that still speaks: its word replaces `lost`, as long as the task has no newer attempt. */
const correctable: AttemptCell<{ readonly outcome: Outcome }, { readonly outcome: Outcome }> = {
  by: ['operator', 'controller'],
  to: ['ended'],
  decide: (view, command) =>
    view.outcome.kind === 'lost' && command.outcome.kind !== 'lost'
      ? accept({ to: 'ended' })
      : reject('attempt-superseded', 'the attempt has ended already'),
};

const once = refused('an attempt is sent at most once');
const late = ignored('the attempt is past that');

export const attemptTable: Table<AttemptState, AttemptView, AttemptCommand, AttemptEvent> = {
  /** After a restart nobody knows whether it was sent, until its worker names it. */
  recorded: { send: sendable, doubt: doubtable, accept: acceptable, start: startable, end: endable },
  sent: { send: once, doubt: doubtable, accept: acceptable, start: startable, end: endable },
  unsure: { send: once, doubt: ignored('it is unsure already'), accept: acceptable, start: startable, end: endable },
  accepted: { send: once, doubt: late, accept: ignored('it is accepted already'), start: startable, end: endable },
  running: { send: once, doubt: late, accept: late, start: ignored('it runs already'), end: endable },
  ended: { send: once, doubt: late, accept: late, start: late, end: correctable },
};
