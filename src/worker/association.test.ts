import { beforeEach, describe, expect, it } from 'vitest';
import { ownLoseAfterMs, presets } from '../model/timeouts.ts';
import type { WorkerSet } from '../protocol/worker.ts';
import { Association } from './association.ts';

const timeouts = presets.cluster;
const { heartbeatMs, heartbeatGraceMs, loseAfterMs, checkIntervalMs } = timeouts;
const set: WorkerSet = { scheduler: 's', generation: 'g', version: 1, count: 1, sum: 2, xor: 2 };

describe('the association of a worker', () => {
  let association: Association;
  beforeEach(() => {
    association = new Association(0);
    association.onLink(true);
  });

  const reply = (
    beat: number,
    state: 'new' | 'unhealthy' | 'healthy',
    scheduler = 's',
    more: { set?: WorkerSet } = {},
  ) =>
    association.onReply({
      ...{ t: 'heartbeat-reply', scheduler, instance: 'i', beat, worker: 1, state, timeouts, ...more },
    });
  const associate = (now: number): void => {
    reply(association.nextBeat(now), 'new');
    reply(association.nextBeat(now), 'unhealthy');
    association.onGoodCheck(now);
  };

  it('E33, E35: is new until a reply says that the controller knows what runs here', () => {
    reply(association.nextBeat(0), 'new');
    expect(association.health(0).state).toBe('new');
    expect(reply(association.nextBeat(0), 'unhealthy')).toEqual({ isGreeted: true });
    expect(association.health(0).state).toBe('unhealthy');
    expect(reply(association.nextBeat(0), 'unhealthy')).toEqual({ isGreeted: false });
  });

  it('E3: counts a heartbeat from when it was sent', () => {
    associate(0);
    const beat = association.nextBeat(10_000);
    reply(beat, 'healthy');
    association.onGoodCheck(1_000_000);
    const diesAt = 10_000 + heartbeatMs + heartbeatGraceMs + ownLoseAfterMs(timeouts);
    expect(association.health(20_000).diesAt).toBe(diesAt);
    expect(association.deadline(20_000)).toBe(diesAt + checkIntervalMs);
  });

  it('E31: answers in another order change nothing: the latest heartbeat that was answered counts', () => {
    associate(0);
    association.onGoodCheck(1_000_000);
    const [first, second] = [association.nextBeat(10_000), association.nextBeat(20_000)];
    reply(second, 'healthy');
    const { diesAt } = association.health(30_000);
    reply(first, 'healthy');
    expect(association.health(30_000).diesAt).toBe(diesAt);
  });

  it('E31: an answer that is repeated, or belongs to an earlier link, is none', () => {
    const beat = association.nextBeat(0);
    reply(beat, 'new');
    expect(reply(beat, 'healthy', 'other')).toEqual({ isGreeted: false });
    expect(association.isWith('s')).toBe(true);
    const lost = association.nextBeat(5);
    association.onLink(false);
    association.onLink(true);
    reply(lost, 'healthy', 'other');
    expect(association.isWith('s')).toBe(true);
    expect(association.isNew).toBe(true);
  });

  it('E40, E44: another controller begins anew: health, sequence numbers, orders; the same one on another link does not', () => {
    associate(0);
    association.takeNotify(7);
    association.takeOrder(5);
    association.onLink(false);
    association.onLink(true);
    reply(association.nextBeat(1), 'healthy');
    expect(association).toMatchObject({ seq: 7, isNew: false });
    reply(association.nextBeat(2), 'new', 'other');
    expect(association).toMatchObject({ seq: 0, isNew: true, scheduler: 'other' });
    expect(association.health(2).state).toBe('new');
    expect(association.takeOrder(1)).toBe(true);
  });

  it('E52, E56: takes a notify only if it is newer than the last', () => {
    expect(association.takeNotify(2)).toBe(true);
    expect(association.takeNotify(2)).toBe(false);
    expect(association.takeNotify(1)).toBe(false);
    expect(association.seq).toBe(2);
  });

  it('E21: takes an order once', () => {
    expect([1, 3, 3, 2, 4].map((attempt) => association.takeOrder(attempt))).toEqual([true, true, false, false, true]);
  });

  it('E17: echoes the last set that it was given, and keeps it through an answer without one', () => {
    reply(association.nextBeat(0), 'new', 's', { set });
    reply(association.nextBeat(1), 'new', 'other');
    expect(association.echo).toEqual(set);
  });

  it('E2: a bad check counts from the first of a row, a good one ends the row', () => {
    associate(0);
    association.onBadCheck(1_000);
    association.onBadCheck(2_000);
    expect(association.deadline(3_000)).toBe(1_000 + loseAfterMs);
    association.onGoodCheck(4_000);
    expect(association.health(4_000).state).toBe('healthy');
  });
});
