import { describe, expect, it } from 'vitest';
import { flawOf, ownLoseAfterMs, presets } from './timeouts.ts';

describe('timeouts', () => {
  it.each(Object.entries(presets))('the preset %s is without a flaw', (_, preset) => {
    expect(flawOf(preset)).toBeUndefined();
    expect(ownLoseAfterMs(preset)).toBeGreaterThan(0);
  });

  it('need a margin in which a worker’s tasks can be ended', () => {
    const { cluster } = presets;
    expect(flawOf({ ...cluster, marginMs: cluster.killGraceMs + cluster.checkIntervalMs })).toContain('margin');
  });

  it('leave a worker some time of its own before it is lost', () => {
    const { cluster } = presets;
    expect(flawOf({ ...cluster, checkIntervalMs: 20_000, loseAfterMs: 20_000 })).toContain('check interval');
  });
});
