/** All that is decided before a run begins: who takes part, what is asked for, what goes wrong. Drawn from the seed. */
import { type ControllerSettings, defaultSettings } from '../src/controller/reactor.ts';
import type { WorkerCapacity } from '../src/protocol/worker.ts';
import { drawFaults, type Fault, forgottenMs } from './faults.ts';
import { kindOf, type SeedKind } from './kinds.ts';
import { Random } from './random.ts';
import { drawSettings } from './settings.ts';
import { type ClientPlan, drawClients } from './workload.ts';

export interface WorkerPlan {
  readonly machine: string;
  readonly shard: string;
  readonly slots: number;
  /** What it has besides. */
  readonly capacity?: WorkerCapacity;
  /** Comes back by itself, and waits for its first controller. */
  readonly isStanding: boolean;
  readonly driftPpm: number;
  readonly wallOffsetMs: number;
  readonly startsAtMs: number;
}

export interface HttpWorkerPlan {
  readonly name: string;
  readonly slots: number;
  readonly startsAtMs: number;
  readonly driftPpm: number;
  /** How likely a request, or its answer, gets lost, as long as things go wrong. */
  readonly loss: number;
  /** How likely it falls silent for a while after a heartbeat, or dies. */
  readonly trouble: number;
}

export interface Plan {
  /** None when absent. */
  readonly httpWorkers?: readonly HttpWorkerPlan[];
  readonly seed: number;
  readonly workers: readonly WorkerPlan[];
  readonly clients: readonly ClientPlan[];
  readonly faults: readonly Fault[];
  /** After this time nothing goes wrong any more. */
  readonly faultyMs: number;
  readonly controllerDriftPpm: number;
  /** Of the first controller. */
  readonly settings: ControllerSettings;
}

/** A good clock is within 100, a bad one within 1,000. */
const driftPpmMax = 1_000;
const wallOffsetMsMax = 3_600_000;

export function drawPlan(seed: number): Plan {
  const random = new Random(seed);
  const kind = kindOf(seed);
  const workers = drawWorkers(random.fork('workers'), kind);
  const sharesShard = new Set(workers.map(({ shard }) => shard)).size < workers.length;
  const leastMs = kind === 'forgotten' || kind === 'late' ? 40_000 : 8_000;
  const usualMs = Math.round(random.fork('length').logarithmic(leastMs, 120_000));
  const faultyMs = kind === 'large' ? 25_000 : usualMs;
  const faults = drawFaults(random.fork('faults'), { workers: workers.length, kind, faultyMs, sharesShard });
  return {
    seed,
    workers,
    httpWorkers: drawHttpWorkers(random.fork('http workers'), kind, faults),
    clients: drawClients(random.fork('clients'), { kind, faultyMs }),
    faults,
    faultyMs,
    controllerDriftPpm: drift(random.fork('controller')),
    settings: kind === 'late' ? defaultSettings : drawSettings(random.fork('settings')),
  };
}

function drawWorkers(random: Random, kind: SeedKind): WorkerPlan[] {
  const isLarge = kind === 'large';
  const several = random.pick([1, 1, 2, 2, 3, 4, 5, 6]);
  const count = isLarge
    ? random.integer(150, 300)
    : kind === 'usual'
      ? several
      : Math.max(kind === 'forgotten' ? 3 : 2, several);
  const lateMs = kind === 'forgotten' ? forgottenMs : 0;
  // With two of them nobody is left to remember the one that is displaced.
  const sharesShard = !isLarge && count > 1 && random.chance(kind === 'forgotten' ? 0.6 : count > 2 ? 0.4 : 0.15);
  return Array.from({ length: count }, (_, index) => ({
    machine: `m${index + 1}`,
    shard: sharesShard && index === count - 1 ? 'm1' : `m${index + 1}`,
    slots: random.integer(1, 4),
    isStanding: random.chance(0.7),
    driftPpm: drift(random),
    wallOffsetMs: random.chance(0.3) ? Math.round(random.between(-wallOffsetMsMax, wallOffsetMsMax)) : 0,
    startsAtMs: Math.round(random.chance(0.7) ? random.between(0, 200) : random.between(0, 8_000)) + lateMs,
  }));
}

/** They have no echo by which a store that was restored would be found out (docs/decisions/011-http-workers.md). */
function drawHttpWorkers(random: Random, kind: SeedKind, faults: readonly Fault[]): HttpWorkerPlan[] {
  const isRestored = faults.some((fault) => fault.kind === 'restore');
  if (kind === 'large' || kind === 'sick' || isRestored || random.chance(0.6)) return [];
  return Array.from({ length: random.integer(1, 3) }, (_, index) => ({
    name: `h${index + 1}`,
    slots: random.integer(1, 3),
    startsAtMs: Math.round(random.between(0, 5_000)),
    driftPpm: drift(random),
    loss: random.pick([0, 0.05, 0.2]),
    trouble: random.pick([0, 0.03, 0.1]),
  }));
}

const drift = (random: Random): number => (random.chance(0.5) ? 0 : random.between(-driftPpmMax, driftPpmMax));
