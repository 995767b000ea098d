/** One attempt on the worker, from its acceptance until its end was acknowledged. */
import type { OutputFiles } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import type { AttemptEnd, KillWhy, Order } from '../protocol/worker.ts';

interface Accepted {
  readonly order: Order;
  readonly spec: WorkflowSpec;
}

export type Entry =
  | (Accepted & { readonly phase: 'accepted' })
  /** Handed to the spawner, where it may wait for a slot; `leaveFor`: it is to be dropped there if it still does. */
  | (Accepted & { readonly phase: 'starting'; readonly leaveFor?: KillWhy | 'retract' })
  | (Accepted & { readonly phase: 'running'; readonly files: OutputFiles; readonly startedAt: number })
  | (Accepted & { readonly phase: 'ended'; readonly end: AttemptEnd });

export type EntryIn<P extends Entry['phase']> = Extract<Entry, { readonly phase: P }>;
