import { describe, expect, it } from 'vitest';
import { type SetMark, WorkerSetHash } from '../core/worker-set.ts';
import { presets } from '../model/timeouts.ts';
import { InitialWait } from './initial-wait.ts';

const timeouts = presets.cluster;
const { heartbeatMs, heartbeatGraceMs, loseAfterMs, marginMs } = timeouts;
const waitMs = heartbeatMs + heartbeatGraceMs + loseAfterMs + marginMs;
const now = 1_000;
/** When those who are there may agree. */
const later = now + heartbeatMs + heartbeatGraceMs;

const markOf = (version: number, ...instances: string[]): SetMark => {
  const hash = new WorkerSetHash();
  for (const instance of instances) hash.add(instance);
  return { scheduler: 'before', generation: 'g', version, count: hash.count, sum: hash.sum, xor: hash.xor };
};
const waitOf = () => new InitialWait(timeouts, { scheduler: 'now', generation: 'g', versionAtStart: 3 });

describe('the initial wait', () => {
  it('is not on as long as no worker knows more than the store', () => {
    const wait = waitOf();
    expect(wait.onHeartbeat('a', undefined, now)).toBe(false);
    expect(wait.onHeartbeat('b', markOf(3, 'a', 'b'), now)).toBe(false);
    expect(wait.isOn(now)).toBe(false);
  });

  it('E15, E16: lasts until whoever is cut off must be dead', () => {
    const wait = waitOf();
    expect(wait.onHeartbeat('a', markOf(4, 'a', 'b'), now)).toBe(true);
    expect(wait.isOn(now + waitMs - 1)).toBe(true);
    expect(wait.isOn(now + waitMs)).toBe(false);
    expect(wait.endsAt).toBe(now + waitMs);
  });

  it('E17: ends when all that echo the same set have come, and only then', () => {
    const wait = waitOf();
    wait.onHeartbeat('a', markOf(4, 'a', 'b'), now);
    expect(wait.endIfAgreed(['a'], later)).toBe(false);
    wait.onHeartbeat('b', markOf(4, 'a', 'b'), now);
    expect(wait.endIfAgreed(['a'], later)).toBe(false);
    expect(wait.endIfAgreed(['a', 'b'], later - 1)).toBe(false);
    expect(wait.endIfAgreed(['a', 'b'], later)).toBe(true);
    expect(wait.isOn(later)).toBe(false);
  });

  it('E17: newcomers without an echo neither end nor prolong it', () => {
    const wait = waitOf();
    wait.onHeartbeat('a', markOf(4, 'a'), now);
    wait.onHeartbeat('n', undefined, now);
    expect(wait.endIfAgreed(['n'], later)).toBe(false);
    expect(wait.endIfAgreed(['n', 'a'], later)).toBe(true);
  });

  it('E17: goes on when workers remember different sets', () => {
    const wait = waitOf();
    wait.onHeartbeat('a', markOf(5, 'a', 'b'), now);
    wait.onHeartbeat('b', markOf(4, 'b'), now);
    expect(wait.endIfAgreed(['a', 'b'], later)).toBe(false);
  });

  it('counts the first echo of an instance only: later ones are this controller’s own', () => {
    const wait = waitOf();
    wait.onHeartbeat('a', markOf(3, 'a'), now);
    expect(wait.onHeartbeat('a', markOf(9, 'a', 'b'), now)).toBe(false);
    expect(wait.isOn(now)).toBe(false);
  });

  it('does not end by agreement when nobody is there', () => {
    const wait = waitOf();
    wait.onHeartbeat('a', markOf(4), now);
    expect(wait.endIfAgreed([], later)).toBe(false);
  });
});
