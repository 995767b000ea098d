import type { Exhaustible } from './need.ts';

/** How an attempt can end. Both sides of the wire speak of it. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: number }
  /**
   * Killed by its worker for using more than it asked for. `by`: not for that, but by its definer's timeout, or by the
   * machine itself, which ran out of memory.
   */
  | { readonly kind: 'resource'; readonly resource: Exhaustible; readonly by?: 'timeout' | 'machine' }
  | { readonly kind: 'lost'; readonly what: 'worker' | 'cylinder' }
  | { readonly kind: 'never-started'; readonly why: NeverStarted; readonly message: string }
  /** Ended because it was told to; `code` or `signal` unless KILL was needed. */
  | { readonly kind: 'cancelled'; readonly code?: number; readonly signal?: number };

/**
 * Why there never was a process. `retracted`: taken back before its start, nobody's fault. `refused`: the worker said
 * no. `unable`: the machine could not start it now. `impossible`: it can't be started as it is written. `not-running`: its
 * worker does not have it, and will not take it any more.
 */
export const neverStartedWhys = ['retracted', 'refused', 'unable', 'impossible', 'not-running'] as const;
export type NeverStarted = (typeof neverStartedWhys)[number];

/** For people: what an attempt ran out of. */
export function describeShortage(resource: string | undefined, by: string | undefined): string {
  if (resource === 'runtime') return by === 'timeout' ? 'timeout' : 'out of time';
  return by === 'machine' ? 'the machine was out of memory' : 'out of memory';
}
