import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { ownLoseAfterMs, presets, type Timeouts } from '../../model/timeouts.ts';
import { type HealthFacts, healthOf } from './health.ts';

const timeouts = presets.cluster;
const { heartbeatMs, heartbeatGraceMs, healthCheckMs, healthCheckGraceMs, loseAfterMs } = timeouts;
const at = (facts: Partial<HealthFacts>, now: number) =>
  healthOf(
    { associatedAt: 0, isNew: false, heartbeatAt: now, goodCheckAt: now, badCheckAt: undefined, ...facts },
    timeouts,
    loseAfterMs,
    now,
  );

const time = fc.nat(2_000_000);
const factsOf: fc.Arbitrary<HealthFacts> = fc.record({
  associatedAt: time,
  isNew: fc.boolean(),
  heartbeatAt: time,
  goodCheckAt: fc.option(time, { nil: undefined }),
  badCheckAt: fc.option(time, { nil: undefined }),
});
const anyTimeouts: fc.Arbitrary<Timeouts> = fc.constantFrom(...Object.values(presets));
const rank = { 'must-die': 0, new: 1, unhealthy: 1, healthy: 2 } as const;

/** Facts of which none is later: a sign of life that was missed, a bad check that was noticed earlier. */
const laggard = (facts: HealthFacts, lags: readonly number[]): HealthFacts => {
  const [a = 0, b = 0, c = 0, d = 0] = lags;
  return {
    associatedAt: facts.associatedAt - a,
    isNew: facts.isNew,
    heartbeatAt: facts.heartbeatAt - b,
    goodCheckAt: facts.goodCheckAt === undefined ? undefined : facts.goodCheckAt - c,
    badCheckAt: facts.badCheckAt === undefined ? undefined : facts.badCheckAt - d,
  };
};
const lagsOf = fc.array(fc.nat(500_000), { minLength: 4, maxLength: 4 });

describe('the health of a worker', () => {
  it('E2: is good as long as heartbeats and good checks are recent', () => {
    expect(at({}, 1_000_000).state).toBe('healthy');
    const lastHeartbeat = { heartbeatAt: 1_000_000 - heartbeatMs - heartbeatGraceMs };
    expect(at(lastHeartbeat, 1_000_000)).toMatchObject({ state: 'unhealthy', why: 'no heartbeat' });
    const lastCheck = { goodCheckAt: 1_000_000 - healthCheckMs - healthCheckGraceMs };
    expect(at(lastCheck, 1_000_000)).toMatchObject({ state: 'unhealthy', why: 'no recent health check' });
    expect(at({ badCheckAt: 999_999 }, 1_000_000)).toMatchObject({ why: 'its health check failed' });
  });

  it('E2, E33: is new until it is known what it runs, then not good before its first check', () => {
    expect(at({ isNew: true, goodCheckAt: undefined }, 1_000).state).toBe('new');
    expect(at({ goodCheckAt: undefined }, 1_000)).toMatchObject({ state: 'unhealthy', why: 'no health check yet' });
  });

  it('E2: is lost when it was not good for too long, counted from the first ailment', () => {
    const facts = { badCheckAt: 1_000_000 };
    expect(at(facts, 1_000_000 + loseAfterMs - 1).state).toBe('unhealthy');
    expect(at(facts, 1_000_000 + loseAfterMs).state).toBe('must-die');
  });

  it('E13: never gets better by itself, and says beforehand when it will change and when it must die', () => {
    fc.assert(
      fc.property(factsOf, anyTimeouts, time, time, (facts, all, now, later) => {
        const before = healthOf(facts, all, all.loseAfterMs, now);
        const then = now + later;
        const after = healthOf(facts, all, all.loseAfterMs, then);
        expect(rank[after.state]).toBeLessThanOrEqual(rank[before.state]);
        expect(after.state === before.state).toBe(then < before.changesAt);
        expect(after.state === 'must-die').toBe(then >= before.diesAt);
        expect(after.diesAt).toBe(before.diesAt);
      }),
      madeUp(),
    );
  });

  it('never gets worse by what is later: a later sign of life, or a bad check noticed later', () => {
    fc.assert(
      fc.property(factsOf, lagsOf, anyTimeouts, time, (facts, lags, all, now) => {
        const late = healthOf(facts, all, all.loseAfterMs, now);
        const early = healthOf(laggard(facts, lags), all, all.loseAfterMs, now);
        expect(rank[early.state]).toBeLessThanOrEqual(rank[late.state]);
        expect(early.diesAt).toBeLessThanOrEqual(late.diesAt);
      }),
      madeUp(),
    );
  });

  it('E5, E39: a worker whose facts are no later than the controller’s must die before it, by a check interval', () => {
    fc.assert(
      fc.property(factsOf, lagsOf, anyTimeouts, time, (facts, lags, all, now) => {
        const own = healthOf(laggard(facts, lags), all, ownLoseAfterMs(all), now);
        const seen = healthOf(facts, all, all.loseAfterMs, now);
        expect(own.diesAt).toBeLessThanOrEqual(seen.diesAt - all.checkIntervalMs);
      }),
      madeUp(),
    );
  });

  it('E2: nobody must die before he was not good for the whole time', () => {
    fc.assert(
      fc.property(factsOf, anyTimeouts, time, (facts, all, now) => {
        const { state, diesAt } = healthOf(facts, all, all.loseAfterMs, now);
        fc.pre(state === 'must-die');
        const justBefore = healthOf(facts, all, all.loseAfterMs, diesAt - all.loseAfterMs - 1);
        expect(justBefore.state).toBe('healthy');
      }),
      madeUp(),
    );
  });
});
