/** Named scripts: small worlds in which one thing goes wrong, at the worst time. Each shows a mutation at once. */
import { type ControllerSettings, defaultSettings } from '../../src/controller/reactor.ts';
import type { Resources } from '../../src/protocol/spec.ts';
import type { TaskNature } from '../fate.ts';
import type { Fault } from '../faults.ts';
import type { HttpWorkerPlan, Plan, WorkerPlan } from '../plan.ts';
import type { Burst, ClientPlan } from '../workload.ts';

interface Script {
  readonly workers?: readonly Partial<WorkerPlan>[];
  readonly httpWorkers?: readonly HttpWorkerPlan[];
  readonly tasks: number;
  readonly taskMs: number;
  readonly nature?: Partial<TaskNature>;
  /** One task after the other has one after the other of these. */
  readonly resources?: readonly (Resources | undefined)[];
  readonly terminationMs?: number;
  readonly bursts?: readonly Burst[];
  /** So many clients ask for the same. */
  readonly clients?: number;
  readonly settings?: Partial<ControllerSettings>;
  readonly faults: readonly Fault[];
}

function planOf({ workers = [{}], httpWorkers = [], clients = 1, faults, settings = {}, ...script }: Script): Plan {
  return {
    ...{ seed: 0, faults, faultyMs: 60_000, controllerDriftPpm: 0, httpWorkers },
    settings: { ...defaultSettings, ...settings },
    workers: workers.map((worker, at) => ({ ...plainWorker(`m${at + 1}`), ...worker })),
    clients: Array.from({ length: clients }, (_, at) => clientOf(`c${at + 1}`, script)),
  };
}

const plainWorker = (machine: string): WorkerPlan => ({
  ...{ machine, shard: machine, slots: 2, isStanding: true },
  ...{ driftPpm: 0, wallOffsetMs: 0, startsAtMs: 0 },
});

type Work = Omit<Script, 'workers' | 'httpWorkers' | 'clients' | 'faults' | 'settings'>;

function clientOf(
  name: string,
  { tasks, taskMs, nature = {}, resources = [], terminationMs = 1_000, bursts = [] }: Work,
): ClientPlan {
  const usual = { ms: taskMs, fails: 0, unstartable: 0, isStubborn: false, bytes: 10, ...nature };
  const specs = Array.from({ length: tasks }, (_, at) => {
    const needed = resources[at % Math.max(1, resources.length)];
    return {
      command: JSON.stringify({ ...usual, task: `${name}.${at + 1}` }),
      ...(needed === undefined ? {} : { resources: needed }),
    };
  });
  return {
    ...{ name, startsAtMs: 20, isWhole: false, pauseMs: 0, isForgetful: false, early: [], withClose: [], bursts },
    spec: { cwd: '/', shell: '/bin/sh', env: {}, maxAttempts: 1, terminationMs, failFast: false, open: false },
    batches: [{ tasks: specs, edges: [] }],
  };
}

/** The tasks are in the backup, the workers that run them are not; the first of those is cut off. */
const restored: readonly Fault[] = [
  { kind: 'partition', atMs: 5_900, worker: 0, ms: 40_000 },
  { kind: 'restore', atMs: 6_000, worker: 0, ms: 50, ageMs: 5_000 },
];
const late = { startsAtMs: 2_000 };
const forLong = { tasks: 4, taskMs: 60_000 };

/** Some fit beside others, some do not, and some use more memory than they asked for. */
const needs: Work = {
  ...{ tasks: 36, taskMs: 800, nature: { usesBytes: 300 } },
  resources: [
    undefined,
    { cpus: 0.1 },
    { cpus: 3 },
    { cpus: 1, memoryBytes: 600 },
    { cpus: 0.3, memoryBytes: 200 },
    undefined,
    { cpus: 1, gpus: 2 },
    { cpus: 0.5, pools: { disk: 1.5 } },
    { cpus: 1, runtimeMs: 500 },
  ],
};
const large: Partial<WorkerPlan> = {
  slots: 4,
  capacity: { queue: 'default', memoryBytes: 1_000, gpus: 2, pools: { disk: 2 } },
};

/** After every heartbeat it dies, or is silent for up to a minute. */
const moody = (name: string): HttpWorkerPlan => ({
  ...{ name, slots: 2, startsAtMs: 0, driftPpm: 0, loss: 0, trouble: 1 },
});

export const scenarios: Readonly<Record<string, Plan>> = {
  /** Nothing goes wrong. */
  plain: planOf({ tasks: 6, taskMs: 300, faults: [] }),
  /** Tasks ask for more, or less, than a slot. */
  needs: planOf({ ...needs, workers: [large], faults: [] }),
  /** And are so short that more are sent than fit. */
  'needs-sent-ahead': planOf({
    ...{ tasks: 180, taskMs: 20, workers: [large], faults: [] },
    resources: [undefined, { cpus: 3 }, { cpus: 0.1 }, { cpus: 1.5 }],
  }),
  /** And workers crash and are resized meanwhile. */
  'needs-and-crashes': planOf({
    ...{ ...needs, workers: [large, large] },
    bursts: [1, 2, 3, 4].map((index) => ({ afterMs: 1_000, operations: [{ type: 'resize-worker', index }] })),
    faults: [
      { kind: 'crash-worker', atMs: 2_000, worker: 0, ms: 500 },
      { kind: 'lost', atMs: 3_000, message: 'run', ms: 0 },
    ],
  }),
  /** Workers over HTTP fall silent while they run something. */
  'silent-http': planOf({ ...forLong, workers: [], httpWorkers: [moody('h1'), moody('h2')], faults: [] }),
  /** And the controller is restarted meanwhile, again and again. */
  'silent-http-restarts': planOf({
    ...{ ...forLong, workers: [{ startsAtMs: 90_000 }], httpWorkers: [moody('h1'), moody('h2')] },
    faults: [2, 5, 8, 11, 14, 17, 20].map((s) => ({ kind: 'crash-controller', atMs: s * 1_000, worker: 0, ms: 50 })),
  }),
  /** A worker with a long task can't reach its controller for longer than either stands. */
  'cut-off': planOf({
    ...{ ...forLong, workers: [{}, {}] },
    faults: [{ kind: 'partition', atMs: 3_000, worker: 0, ms: 40_000 }],
  }),
  /** The link breaks under the first orders. */
  'order-lost': planOf({ tasks: 3, taskMs: 500, faults: [{ kind: 'lost', atMs: 0, message: 'run', ms: 0 }] }),
  /** It breaks under the acknowledgement of an end, and the order that follows it. */
  'ack-and-order-lost': planOf({
    ...{ tasks: 3, taskMs: 1_500, workers: [{ slots: 1 }] },
    faults: [{ kind: 'lost', atMs: 0, message: 'ack', ms: 0 }],
  }),
  /** It breaks long after orders were carried out. */
  'reset-after-end': planOf({
    ...{ tasks: 6, taskMs: 1_000 },
    faults: [{ kind: 'lost', atMs: 2_000, message: 'heartbeat', ms: 0 }],
  }),
  /** The answer to what runs comes again when orders have followed it. */
  'report-replayed': planOf({
    ...{ tasks: 6, taskMs: 8_000 },
    faults: [
      { kind: 'replay', atMs: 0, message: 'running', ms: 0 },
      { kind: 'lost', atMs: 2_000, message: 'heartbeat', ms: 0 },
    ],
  }),
  /** The link breaks under orders, which are asked about; and again. */
  'order-lost-and-reset': planOf({
    ...{ tasks: 10, taskMs: 1_500 },
    faults: [
      { kind: 'lost', atMs: 0, message: 'run', ms: 0 },
      { kind: 'lost', atMs: 3_000, message: 'heartbeat', ms: 0 },
    ],
  }),
  /** Answers are long on their way, and meanwhile the controller hears no more. */
  'slow-answers': planOf({
    ...{ ...forLong, workers: [{}, {}] },
    faults: [
      { kind: 'delay', atMs: 3_000, message: 'heartbeat-reply', ms: 6_000, worker: 0 },
      { kind: 'one-way-out', atMs: 5_500, worker: 0, ms: 30_000 },
    ],
  }),
  /** The store is restored, and a worker that remembers more is heard when it must already die. */
  'remembers-late': planOf({
    ...{ tasks: 12, taskMs: 1_000 },
    faults: [
      { kind: 'restore', atMs: 4_000, worker: 0, ms: 50, ageMs: 1_500 },
      { kind: 'delay', atMs: 4_010, message: 'heartbeat', ms: 14_500, worker: 0 },
      { kind: 'partition', atMs: 14_900, worker: 0, ms: 8_000 },
    ],
  }),
  /** The store is restored, and a worker finds its shard taken when it comes back. */
  displaced: planOf({
    ...{ tasks: 12, taskMs: 1_000, settings: { mayBumpUnhealthy: true } },
    workers: [{}, { shard: 'm1', startsAtMs: 3_000 }],
    faults: [
      { kind: 'partition', atMs: 3_900, worker: 0, ms: 4_000 },
      { kind: 'restore', atMs: 4_000, worker: 0, ms: 50, ageMs: 1_500 },
    ],
  }),
  /** The store is restored, and one of two workers that it does not know can't say so. */
  'cut-off-in-restore': planOf({ ...forLong, workers: [late, late], faults: restored }),
  /** So it is, and the other one is away when those who are there may agree. */
  'nobody-there': planOf({
    ...{ ...forLong, workers: [late, late] },
    faults: [...restored, { kind: 'crash-worker', atMs: 8_500, worker: 1, ms: 800 }],
  }),
  /** So it is, and the controller that waits for it crashes. */
  'crash-in-wait': planOf({
    ...{ ...forLong, workers: [late, late] },
    faults: [...restored, { kind: 'crash-controller', atMs: 9_000, worker: 0, ms: 50 }],
  }),
  /** So it is, and by the time in which the next controller starts its history is longer than what workers remember. */
  'crash-in-busy-wait': planOf({
    ...{ tasks: 1, taskMs: 60_000, clients: 8, workers: [late, late] },
    faults: [...restored, { kind: 'crash-controller', atMs: 9_000, worker: 0, ms: 50 }],
  }),
  /** So it is, and another one comes with its shard. */
  'shard-taken-over': planOf({
    ...{ ...forLong, workers: [late, late, { shard: 'm1', startsAtMs: 6_500 }] },
    faults: restored,
  }),
  /** A task that heeds no TERM, and is given little time, is cancelled. */
  stubborn: planOf({
    ...{ tasks: 1, taskMs: 36_000_000, nature: { isStubborn: true }, terminationMs: 100, faults: [] },
    bursts: [{ afterMs: 2_000, operations: [{ type: 'cancel', index: 1 }] }],
  }),
  /** The end of an attempt comes when its worker was given up, and the task is being tried again. */
  'late-end': planOf({
    ...{ tasks: 4, taskMs: 12_000, workers: [{}, {}] },
    faults: [{ kind: 'delay', atMs: 0, message: 'update', ms: 26_000, worker: 0 }],
  }),
};
