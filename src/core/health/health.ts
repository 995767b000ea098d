/**
 * The health of a worker, as the controller and the worker itself both compute it: a pure function of what each of them
 * has seen. It rises with its facts: later signs of life never make a worker die sooner. A worker's own facts are never
 * later than the controller's, and its own patience is shorter, so it is dead before it is given up.
 */
import type { Timeouts } from '../../model/timeouts.ts';

export type HealthState = 'new' | 'unhealthy' | 'healthy' | 'must-die';

export interface HealthFacts {
  /** When the two first heard of each other. */
  readonly associatedAt: number;
  /** Until the controller knows what the worker runs. */
  readonly isNew: boolean;
  /** For the controller, when it last heard of the worker; for the worker, when it sent the last heartbeat that was answered. */
  readonly heartbeatAt: number;
  readonly goodCheckAt: number | undefined;
  /** Of the first health check that failed since the last good one. */
  readonly badCheckAt: number | undefined;
}

export interface Health {
  readonly state: HealthState;
  /** Why it is not healthy. */
  readonly why: string | undefined;
  /** When it will be another if nothing is heard. */
  readonly changesAt: number;
  /** When it must die if nothing is heard. */
  readonly diesAt: number;
}

interface Ailment {
  readonly since: number;
  readonly why: string;
}

function ailmentsOf(facts: HealthFacts, timeouts: Timeouts): Ailment[] {
  const { associatedAt, isNew, heartbeatAt, goodCheckAt, badCheckAt } = facts;
  const { heartbeatMs, heartbeatGraceMs, healthCheckMs, healthCheckGraceMs } = timeouts;
  const ailments: Ailment[] = [{ since: heartbeatAt + heartbeatMs + heartbeatGraceMs, why: 'no heartbeat' }];
  if (isNew) ailments.push({ since: associatedAt, why: 'what it runs is not known yet' });
  if (badCheckAt !== undefined) ailments.push({ since: badCheckAt, why: 'its health check failed' });
  else if (goodCheckAt === undefined) ailments.push({ since: associatedAt, why: 'no health check yet' });
  else ailments.push({ since: goodCheckAt + healthCheckMs + healthCheckGraceMs, why: 'no recent health check' });
  return ailments;
}

/** `loseAfterMs` is the controller's, or the worker's own. That it must die is for good: whoever calls remembers it. */
export function healthOf(facts: HealthFacts, timeouts: Timeouts, loseAfterMs: number, now: number): Health {
  const ailments = ailmentsOf(facts, timeouts).sort((a, b) => a.since - b.since);
  const [first] = ailments as [Ailment];
  const diesAt = first.since + loseAfterMs;
  if (first.since > now) return { state: 'healthy', why: undefined, changesAt: first.since, diesAt };
  const { why } = first;
  if (diesAt <= now) return { state: 'must-die', why, changesAt: Number.POSITIVE_INFINITY, diesAt };
  return { state: facts.isNew ? 'new' : 'unhealthy', why, changesAt: diesAt, diesAt };
}
