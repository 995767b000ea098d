/** Which budget a bad end is charged to. */
import type { Outcome } from '../../model/outcome.ts';
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

export const isUncharged = (outcome: Outcome): boolean =>
  outcome.kind === 'cancelled' || (outcome.kind === 'never-started' && outcome.why === 'retracted');
