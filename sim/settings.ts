/** With what a controller is started: whoever starts it again may choose otherwise. */
import { type ControllerSettings, defaultSettings } from '../src/controller/reactor.ts';
import { presets, type Timeouts } from '../src/model/timeouts.ts';
import type { Random } from './random.ts';

/** Like a cluster's, in proportion, but short enough to be waited for. */
const patient: Timeouts = {
  ...{ heartbeatMs: 3_000, heartbeatGraceMs: 9_000, healthCheckMs: 12_000, healthCheckGraceMs: 12_000 },
  ...{ checkIntervalMs: 1_000, loseAfterMs: 30_000, marginMs: 10_000, killGraceMs: 5_000 },
};

/** Health checks are frequent, and a missing one matters before silence does. */
const brisk: Timeouts = {
  ...{ heartbeatMs: 500, heartbeatGraceMs: 1_500, healthCheckMs: 2_500, healthCheckGraceMs: 2_500 },
  ...{ checkIntervalMs: 500, loseAfterMs: 5_000, marginMs: 4_000, killGraceMs: 1_000 },
};

const kinds: readonly Timeouts[] = [presets.interactive, presets.interactive, patient, brisk];

/** Written for the purpose: a good one ends a quarantine. */
const purposefulCheck = 'check-the-node';

export function drawSettings(random: Random): ControllerSettings {
  return {
    timeouts: random.pick(kinds),
    healthCheck: random.chance(0.3) ? purposefulCheck : defaultSettings.healthCheck,
    mayBumpUnhealthy: random.chance(0.5),
  };
}
