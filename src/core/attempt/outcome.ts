/** Which budget a bad end is charged to. */
import type { NeverStarted, Outcome } from '../../model/outcome.ts';
import type { Cause } from '../../model/states.ts';

export type BadOutcome = Exclude<Outcome, { kind: 'succeeded' | 'cancelled' }>;

/** `adjusts`: the task's resources may be raised, so running out of one has a budget of its own. */
export function causeOf(outcome: BadOutcome, adjusts: boolean): Cause {
  switch (outcome.kind) {
    case 'exited':
    case 'signalled':
      return 'attempts';
    case 'resource':
      return adjusts ? 'resources' : 'attempts';
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
