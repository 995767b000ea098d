/** What an end of a process means. */
import type { Outcome } from '../model/outcome.ts';
import type { FromSpawner } from '../protocol/spawner.ts';

type TaskEnded = Extract<FromSpawner, { readonly t: 'ended' }>;
type TaskFailed = Extract<FromSpawner, { readonly t: 'failed' }>;

/** A signal that we sent explains the end; an end by itself that came first is the task's own. */
export function outcomeOfEnd({ exit, signal, signalled, outOfMemory }: TaskEnded): Outcome {
  if (outOfMemory === 'task') return { kind: 'resource', resource: 'memory' };
  if (outOfMemory === 'machine') return { kind: 'resource', resource: 'memory', by: 'machine' };
  if (signalled?.why === 'runtime') return { kind: 'resource', resource: 'runtime' };
  if (signalled?.why === 'timeout') return { kind: 'resource', resource: 'runtime', by: 'timeout' };
  if (signalled !== undefined) {
    if (signalled.killed) return { kind: 'cancelled' };
    return {
      kind: 'cancelled',
      ...(exit === undefined ? {} : { code: exit }),
      ...(signal === undefined ? {} : { signal }),
    };
  }
  if (signal !== undefined) return { kind: 'signalled', signal };
  return exit === undefined || exit === 0 ? { kind: 'succeeded' } : { kind: 'exited', code: exit };
}

export const outcomeOfFailure = ({ permanent, message }: TaskFailed): Outcome => ({
  kind: 'never-started',
  why: permanent ? 'impossible' : 'unable',
  message,
});
