/** How an attempt ended: the colour for it, and a few words. */
import { causeOf, showCause } from '../../model/failure-cause.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { BarTone } from '../../protocol/report.ts';
import type { AttemptView, OutcomeView } from '../../protocol/views/attempts.ts';

const toneOf: Readonly<Record<OutcomeView['kind'], BarTone>> = {
  succeeded: 'succeeded',
  exited: 'failed',
  signalled: 'failed',
  resource: 'failed',
  lost: 'lost',
  'never-started': 'lost',
  cancelled: 'cancelled',
};

export interface End {
  readonly tone: BarTone;
  /** Absent while it goes on. */
  readonly end?: string;
}

export function endOf({ outcome }: Pick<AttemptView, 'outcome'>): End {
  if (outcome === undefined) return { tone: 'running' };
  return { tone: toneOf[outcome.kind], end: textOf(outcome) };
}

function textOf(outcome: OutcomeView): string {
  if (outcome.kind === 'succeeded') return 'exit 0';
  if (outcome.kind === 'cancelled') return 'cancelled';
  // What a view has is what the outcome had that it was made of.
  const cause = causeOf(outcome as Outcome);
  return cause === undefined ? 'taken back' : showCause(cause);
}
