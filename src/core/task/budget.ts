/** Budgets by cause, and how long a task waits before its next attempt. */
import { backoffMs, budgetDefaults } from '../../model/limits.ts';
import type { Cause, FailReason } from '../../model/states.ts';
import type { TaskView } from './view.ts';

const limits: Readonly<Record<Exclude<Cause, 'attempts' | 'resources'>, number>> = {
  lost: budgetDefaults.lost,
  'never-started': budgetDefaults.neverStarted,
};

export const reasonOfCause: Readonly<Record<Cause, FailReason>> = {
  attempts: 'attempts',
  resources: 'resources',
  lost: 'lost',
  'never-started': 'not-startable',
};

/** `maxAttempts` counts all attempts, the other budgets count repetitions. */
export function isSpent(view: TaskView, cause: Cause): boolean {
  const used = view.used[cause] + 1;
  switch (cause) {
    case 'attempts':
      return used >= view.maxAttempts;
    case 'resources':
      return used > view.maxResourceRetries;
    default:
      return used > limits[cause];
  }
}

/**
 * Doubles with each charge up to a limit, then takes off up to a quarter, by task, so that tasks that failed together
 * don't come back together. Deterministic: the same history gives the same times.
 */
function backoff(view: TaskView, cause: Cause): number {
  const { first, max } = backoffMs[cause];
  const full = Math.min(max, first * 2 ** Math.min(view.used[cause], 30));
  const spread = ((Math.imul(view.id + view.used[cause], 0x9e3779b1) >>> 0) / 2 ** 32) * 0.25;
  return Math.round(full * (1 - spread));
}

/** When its next attempt may begin; 0 where it need not wait. */
export function nextStart(view: TaskView, cause: Cause, now: number): number {
  const waitMs = backoff(view, cause);
  return waitMs === 0 ? 0 : now + waitMs;
}
