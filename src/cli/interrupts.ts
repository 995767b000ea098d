/**
 * Signals as a course of rising urgency. Ctrl-C goes up one level each time; SIGTERM and SIGHUP go to `kill` at once,
 * since who sends them waits for an end, not for running tasks. From `kill` on, everything leads to `force`.
 */
import type { CliEnv, StopSignal } from './environment.ts';

export type Urgency = 'none' | 'drain' | 'kill' | 'force';

const afterCtrlC: Readonly<Record<Urgency, Urgency>> = { none: 'drain', drain: 'kill', kill: 'force', force: 'force' };
const afterOrder: Readonly<Record<Urgency, Urgency>> = { none: 'kill', drain: 'kill', kill: 'force', force: 'force' };

export class Interrupts {
  urgency: Urgency = 'none';
  /** The process was told to end, rather than its run to stop: it waits for nobody else's. */
  isOrderedToEnd = false;
  /** Resolves at `force`. */
  readonly forced: Promise<void>;
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Called for each signal, with the urgency that it led to. */
  onRise: (urgency: Urgency) => void = () => undefined;
  private readonly first = new AbortController();
  private readonly force = Promise.withResolvers<void>();
  private readonly stopListening: () => void;

  constructor(env: CliEnv) {
    this.forced = this.force.promise;
    this.signal = this.first.signal;
    this.stopListening = env.onSignal((signal) => this.rise(signal));
  }

  /** The next signal leads to `force`: there is nothing left to stop gently. */
  arm(): void {
    if (this.urgency !== 'force') this.urgency = 'kill';
  }

  /** The work's result; throws `Interrupted` at the first signal. */
  unlessInterrupted<Result>(work: Promise<Result>): Promise<Result> {
    const interrupted = new Promise<never>((_, reject) => {
      const onAbort = () => reject(new Interrupted());
      if (this.signal.aborted) onAbort();
      else this.signal.addEventListener('abort', onAbort, { once: true });
    });
    return Promise.race([work, interrupted]);
  }

  /** The work's result; throws `Interrupted` at `force`. */
  unlessForced<Result>(work: Promise<Result>): Promise<Result> {
    const forced = this.forced.then(() => {
      throw new Interrupted();
    });
    return Promise.race([work, forced]);
  }

  stop(): void {
    this.stopListening();
  }

  private rise(signal: StopSignal): void {
    if (signal !== 'SIGINT') this.isOrderedToEnd = true;
    this.urgency = (signal === 'SIGINT' ? afterCtrlC : afterOrder)[this.urgency];
    this.first.abort(new Interrupted());
    this.onRise(this.urgency);
    if (this.urgency === 'force') this.force.resolve();
  }
}

/** Ends a command before it has started anything that would have to be stopped. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}
