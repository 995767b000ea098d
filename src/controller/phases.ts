/**
 * What a controller is doing, for whoever reads its log at the level `debug`: a line whenever it changes. The crash
 * test aims by these lines, and tells by the last of them what a kill interrupted.
 */
import type { Log } from '../platform/env.ts';
import type { Input } from './messages.ts';

export type Phase = 'recovering' | 'submitting' | 'committing' | 'dispatching' | 'idle';

/** Made once, so that a log which does not want them is asked for nothing but a call that does nothing. */
const facts: { readonly [P in Phase]: { readonly phase: P } } = {
  recovering: { phase: 'recovering' },
  submitting: { phase: 'submitting' },
  committing: { phase: 'committing' },
  dispatching: { phase: 'dispatching' },
  idle: { phase: 'idle' },
};

export class Phases {
  readonly #log: Log;
  #last: Phase | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  enter(phase: Phase): void {
    if (phase === this.#last) return;
    this.#last = phase;
    this.#log.debug(facts[phase], 'phase');
  }
}

/** Whether an input is part of the making of a workflow. */
export const isSubmission = (input: Input): boolean => input.type === 'request' && submissions.has(input.request.type);

const submissions: ReadonlySet<string> = new Set(['register', 'submit', 'extend', 'close']);
