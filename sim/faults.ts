/**
 * What goes wrong, drawn up front: each fault is one object that can be left out without touching the others.
 * A frame's fault waits from its time on for a frame that carries its type of message, and strikes that one.
 */
import { FromWorker, ToWorker } from '../src/protocol/worker.ts';
import type { SeedKind } from './kinds.ts';
import type { Random } from './random.ts';

export const frameFaultKinds = [
  /** It and all behind it come later. */
  'delay',
  /** Its link is reset before it arrives, or all links of the machine are. */
  'lost',
  /** Its link is reset once it has arrived. */
  'unanswered',
  /** From it on nothing gets through, and nobody is told. */
  'half-open',
  /** It comes again on a later link of the same pair. */
  'replay',
  /** Its sender dies once it is sent. */
  'sender-dies',
  /** Its receiver dies before it arrives. */
  'receiver-dies',
  /** Its receiver dies once it has read it. */
  'reader-dies',
] as const;
export type FrameFaultKind = (typeof frameFaultKinds)[number];

/** What one machine of a worker may suffer. */
const machineFaultKinds = [
  'crash-worker',
  'crash-spawner',
  'power-off',
  'suspend-worker',
  'suspend-machine',
  /** Its worker, if it has the CPU, has to notice and to kill it. */
  'stop-spawner',
  'partition',
  'one-way-in',
  'one-way-out',
  /** Commands of health checks fail, for a time or as long as there are faults. */
  'failing-checks',
  /** Every task fails there at once. */
  'bad-node',
] as const;
export type MachineFaultKind = (typeof machineFaultKinds)[number];

export const isMachineFault = (kind: TimedFaultKind): kind is MachineFaultKind =>
  (machineFaultKinds as readonly TimedFaultKind[]).includes(kind);

export const timedFaultKinds = [
  ...machineFaultKinds,
  'crash-controller',
  /** It gets no CPU for a while, and then goes on. */
  'stop-controller',
  /** It comes back with other timeouts, or another health check. */
  'other-settings',
  'rapid-restarts',
  'isolation',
  'clock-jump',
  'slow-commit',
  'failing-commit',
  'crash-in-commit',
  'crash-after-commit',
  /**
   * The disk is replaced by a backup, of any age. The product finds that out by what workers remember, and has to, as
   * soon as one has spoken whose last heartbeat reply is younger than the backup. If none of them is, or another one comes
   * first and is given tasks, it can't know: what ran before the restore is excused then, and only then (past.ts).
   */
  'restore',
] as const;
export type TimedFaultKind = (typeof timedFaultKinds)[number];

export interface FrameFault {
  readonly kind: FrameFaultKind;
  readonly atMs: number;
  readonly message: string;
  /** How long a delay, or the downtime of who dies. */
  readonly ms: number;
  /** Only on links of this one. */
  readonly worker?: number;
}

export interface TimedFault {
  readonly kind: TimedFaultKind;
  readonly atMs: number;
  /** Which worker, where it is one's. */
  readonly worker: number;
  readonly ms: number;
  /** How old the backup is that is restored. */
  readonly ageMs?: number;
}

export type Fault = FrameFault | TimedFault;

export const isFrameFault = (fault: Fault): fault is FrameFault => 'message' in fault;

/** As the schemas have them: a message that is added to the protocol is struck like the others. */
export const messageTypes: readonly string[] = [...FromWorker.anyOf, ...ToWorker.anyOf].map(
  ({ properties }) => properties.t.const,
);

/** How much likelier a fault waits for one of these: they are seldom seen. Those that are not listed count once. */
const rarity: Readonly<Record<string, number>> = {
  ...{ refused: 4, retract: 14, kill: 6, fetch: 7, output: 7, 'drop-output': 10, die: 6, goodbye: 3 },
  ...{ run: 3, notify: 8, notified: 15, kept: 60, slots: 6, accepted: 2, started: 3, ack: 2 },
  ...{ running: 2, update: 5, check: 2, checked: 2, 'get-running': 2, 'output-hello': 2 },
};

const weightedTypes: readonly string[] = messageTypes.flatMap((type) =>
  Array.from({ length: rarity[type] ?? 1 }, () => type),
);

interface Extent {
  readonly workers: number;
  readonly faultyMs: number;
  readonly kind: SeedKind;
  /** Two workers have one shard. */
  readonly sharesShard: boolean;
}

export function drawFaults(random: Random, extent: Extent): Fault[] {
  const { faultyMs, kind, sharesShard } = extent;
  const isLarge = kind === 'large';
  if (random.chance(0.02)) return [];
  const many = isLarge ? 3 : Math.max(1, faultyMs / 30_000);
  const frames = Array.from({ length: random.integer(0, Math.ceil(36 * many)) }, (_, index) =>
    drawFrameFault(random.fork(`frame ${index}`), faultyMs),
  );
  const timed = Array.from({ length: random.integer(0, Math.ceil(4 * many)) }, (_, index) =>
    drawTimedFault(random.fork(`timed ${index}`), extent),
  );
  // Where one may stand for the other, it matters whom a controller takes for whom when its store has forgotten them.
  const atMs = Math.round(random.between(faultyMs * 0.2, faultyMs * 0.8));
  const forgotten = kind === 'forgotten' ? drawForgotten(random.fork('forgotten')) : [];
  const late = kind === 'late' ? drawLate(random.fork('late')) : [];
  const restore = sharesShard && random.chance(0.5) ? drawRestore(random.fork('shard'), atMs, 0) : [];
  // Long enough for a worker to be suspected, tried and quarantined.
  const isBad = kind === 'sick' || (!isLarge && extent.workers > 1 && random.chance(0.12));
  const bad: Fault[] = isBad ? [{ kind: 'bad-node', atMs: 0, worker: 0, ms: faultyMs }] : [];
  return [...frames, ...timed.flat(), ...restore, ...forgotten, ...late, ...bad].sort((a, b) => a.atMs - b.atMs);
}

function drawFrameFault(random: Random, faultyMs: number): FrameFault {
  const kind = random.pick(frameFaultKinds);
  const atMs = Math.round(random.between(0, faultyMs * 0.9));
  const usual = kind === 'delay' ? random.logarithmic(20, 20_000) : random.logarithmic(20, 30_000);
  const message = random.pick(weightedTypes);
  // The end of an attempt that comes when it was given up, and tried again, is worth more than one that comes soon.
  const ms = random.chance(message === 'update' ? 0.6 : 0.15) ? random.between(5_000, 40_000) : usual;
  return { kind, atMs, message, ms: Math.round(ms) };
}

function drawTimedFault(random: Random, extent: Extent): Fault[] {
  const { workers, faultyMs } = extent;
  const kind = random.chance(0.05) ? 'restore' : random.pick(timedFaultKinds);
  const atMs = Math.round(random.between(0, faultyMs * 0.9));
  const worker = random.integer(0, workers - 1);
  if (kind === 'restore') return drawRestore(random, atMs, worker);
  if (kind === 'one-way-out' && random.chance(0.4)) return drawSlowAnswers(random, atMs, worker);
  const jump = random.between(-3_600_000, 3_600_000);
  const ms = kind === 'clock-jump' ? jump : random.logarithmic(50, longestMs[kind] ?? 40_000);
  return [{ kind, atMs, worker, ms: Math.round(ms) }];
}

const longestMs: Readonly<Partial<Record<TimedFaultKind, number>>> = {
  ...{ 'suspend-worker': 60_000, 'stop-spawner': 60_000, 'failing-checks': 120_000, 'bad-node': 60_000 },
};

/** Answers are on their way for long, and when they come their questions are old: nothing is heard any more by then. */
function drawSlowAnswers(random: Random, atMs: number, worker: number): Fault[] {
  const lateMs = Math.round(random.between(3_000, 6_500));
  const ms = Math.round(random.between(8_000, 40_000));
  return [
    { kind: 'delay', atMs: Math.max(0, atMs - 2_500), message: 'heartbeat-reply', ms: lateMs, worker },
    { kind: 'one-way-out', atMs, worker, ms },
  ];
}

/** When the first worker comes where a backup is older. */
export const forgottenMs = 1_000;

/** The first one is away, and stays so while the controller finds out, or crashes before it could. */
function drawForgotten(random: Random): Fault[] {
  const atMs = Math.round(random.between(10_000, 25_000));
  const ms = Math.round(random.logarithmic(50, 2_000));
  const ageMs = atMs - Math.round(random.between(20, forgottenMs));
  const awayMs = Math.round(random.between(10_000, 40_000));
  const againMs = atMs + ms + Math.round(random.between(500, 8_000));
  const then = random.pick(['nothing', 'crash', 'crash', 'nobody'] as const);
  return [
    { kind: 'partition', atMs: atMs - 100, worker: 0, ms: awayMs },
    { kind: 'restore', atMs, worker: 0, ms, ageMs },
    ...(then === 'crash' ? [{ kind: 'crash-controller', atMs: againMs, worker: 0, ms: 50 } as const] : []),
    ...(then === 'nobody' ? [{ kind: 'crash-worker', atMs: atMs + ms + 2_000, worker: 1, ms: 800 } as const] : []),
  ];
}

/** All that a worker says from some end of a task on is long on its way. */
function drawLate(random: Random): Fault[] {
  const atMs = Math.round(random.between(0, 8_000));
  return [{ kind: 'delay', atMs, message: 'update', ms: Math.round(random.between(22_000, 36_000)), worker: 0 }];
}

/** A worker may be cut off meanwhile, or heard late, and the controller may not live to see it again. */
function drawRestore(random: Random, atMs: number, anyone: number): Fault[] {
  const worker = random.chance(0.5) ? 0 : anyone;
  const ms = Math.round(random.logarithmic(50, 5_000));
  const isFirst = random.chance(0.5);
  const ageMs = isFirst ? Math.max(100, atMs - random.logarithmic(20, 3_000)) : random.logarithmic(100, 60_000);
  const faults: Fault[] = [{ kind: 'restore', atMs, worker, ms, ageMs: Math.round(ageMs) }];
  const cutMs = Math.round(random.between(5_000, 30_000));
  const lateMs = Math.round(random.between(5_000, 20_000));
  const how = random.pick(['away', 'away', 'late', 'there'] as const);
  if (how === 'away') faults.push({ kind: 'partition', atMs: Math.max(0, atMs - 100), worker, ms: cutMs });
  if (how === 'late') {
    faults.push({ kind: 'delay', atMs: atMs + 1, message: 'heartbeat', ms: lateMs, worker });
    faults.push({ kind: 'partition', atMs: atMs + ms + 3_000, worker, ms: cutMs });
  }
  const againMs = atMs + ms + Math.round(random.logarithmic(300, 8_000));
  if (random.chance(0.4)) faults.push({ kind: 'crash-controller', atMs: againMs, worker, ms: 300 });
  return faults;
}
