/**
 * How a state machine is written here: a total table with one cell per state and command. A cell names the roles that
 * may cause it and every state it can lead to (the diagrams and the tests read these), and decides: accept with
 * events, ignore (a late or repeated message is normal), or reject with a stable code.
 */
import type { ErrorCode } from '../model/errors.ts';
import type { Role } from '../model/states.ts';

export type Decision<Event> =
  | { readonly kind: 'accept'; readonly events: readonly Event[] }
  | { readonly kind: 'ignore'; readonly why: string }
  | { readonly kind: 'reject'; readonly code: ErrorCode; readonly why: string };

export interface Cell<State extends string, View, Command, Event> {
  readonly by: readonly Role[];
  /** Empty for a cell that never changes the state. */
  readonly to: readonly State[];
  /** It never accepts: the command means nothing here. */
  readonly isInert?: true;
  decide(view: View, command: Command): Decision<Event>;
}

export type Table<
  State extends string,
  Views extends { readonly state: State },
  Commands extends { readonly type: string },
  Event,
> = {
  readonly [S in State]: {
    readonly [C in Commands['type']]: Cell<
      State,
      Extract<Views, { readonly state: S }>,
      Extract<Commands, { readonly type: C }>,
      Event
    >;
  };
};

type AnyCell<State extends string> = Cell<State, unknown, unknown, never>;

export const accept = <Event>(...events: Event[]): Decision<Event> => ({ kind: 'accept', events });
export const ignore = (why: string): Decision<never> => ({ kind: 'ignore', why });
export const reject = (code: ErrorCode, why: string): Decision<never> => ({ kind: 'reject', code, why });

/** A cell that is always ignored: a message that came too late, or says what is so already. */
export const ignored = (why: string): AnyCell<never> => ({
  by: ['definer', 'controller', 'distributor', 'operator'],
  to: [],
  isInert: true,
  decide: () => ignore(why),
});

/** A cell that is always refused. */
export const refused = (why: string, code: ErrorCode = 'transition-not-allowed'): AnyCell<never> => ({
  by: ['definer', 'controller', 'distributor', 'operator'],
  to: [],
  isInert: true,
  decide: () => reject(code, why),
});

/** Looks the cell up, checks the role, decides. */
export function decideBy<
  State extends string,
  Views extends { readonly state: State },
  Commands extends { readonly type: string },
  Event,
>(table: Table<State, Views, Commands, Event>, view: Views, command: Commands, role: Role): Decision<Event> {
  const row = table[view.state] as Record<string, Cell<State, Views, Commands, Event>>;
  const cell = row[command.type] as Cell<State, Views, Commands, Event>;
  if (!cell.by.includes(role)) {
    return reject('role-not-allowed', `a ${role} may not ${command.type} (allowed: ${cell.by.join(', ')})`);
  }
  return cell.decide(view, command);
}

/** What a client may do about a state: the commands of its role that could be accepted. */
export function allowedCommands<State extends string>(
  table: Readonly<Record<State, Readonly<Record<string, { by: readonly Role[]; isInert?: true }>>>>,
  state: State,
  role: Role,
): string[] {
  return Object.entries(table[state])
    .filter(([, cell]) => cell.by.includes(role) && !cell.isInert)
    .map(([command]) => command);
}
