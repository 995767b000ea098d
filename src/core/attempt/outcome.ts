/** Which budget a bad end is charged to. */
import type { Exhaustible } from '../../model/need.ts';
import type { NeverStarted, Outcome } from '../../model/outcome.ts';
import type { Cause } from '../../model/states.ts';

export type BadOutcome = Exclude<Outcome, { kind: 'succeeded' | 'cancelled' }>;

/** `adjusts`: what may be raised, so that running out of it has a budget of its own. A timeout is the definer's own limit. */
export function causeOf(outcome: BadOutcome, adjusts: readonly Exhaustible[]): Cause {
  switch (outcome.kind) {
    case 'exited':
    case 'signalled':
      return 'attempts';
    case 'resource':
      return outcome.by !== 'timeout' && adjusts.includes(outcome.resource) ? 'resources' : 'attempts';
    case 'lost':
      return 'lost';
    case 'never-started':
      return 'never-started';
  }
}

/** Nobody's fault: the task is queued again at once. */
const faultless: readonly NeverStarted[] = ['retracted', 'not-running'];

export const isUncharged = (outcome: Outcome): boolean =>
  outcome.kind === 'cancelled' || (outcome.kind === 'never-started' && faultless.includes(outcome.why));
