import type { Outcome } from './outcome.ts';

/** One command, with all that a run of it needs to know. */
export type Run = {
  readonly command: string;
  readonly shell: string;
  readonly cwd: string;
  readonly env: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
};

/** What a run tells by itself; the rest is found in its files. */
export type RunEnd = Pick<Outcome, 'exit' | 'signal' | 'leftovers'> & {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
};
