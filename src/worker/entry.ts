/** One attempt on the worker, from its acceptance until its end was acknowledged. */
import type { WorkflowSpec } from '../protocol/spec.ts';
import type { AttemptEnd, KillWhy, Order } from '../protocol/worker.ts';
import type { OutputPlace } from './messages.ts';

interface Accepted {
  readonly order: Order;
  readonly spec: WorkflowSpec;
}

export type Entry =
  | (Accepted & { readonly phase: 'accepted' })
  /** Handed to the spawner. */
  | (Accepted & {
      readonly phase: 'starting';
      readonly slot: number;
      readonly places: Places;
      readonly killFor?: KillWhy;
    })
  | (Accepted & {
      readonly phase: 'running';
      readonly slot: number;
      readonly places: Places;
      readonly startedAt: number;
    })
  | (Accepted & { readonly phase: 'ended'; readonly end: AttemptEnd });

export type EntryIn<P extends Entry['phase']> = Extract<Entry, { readonly phase: P }>;

export type Places = Readonly<Record<'stdout' | 'stderr', OutputPlace>>;
