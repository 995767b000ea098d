/** What clients ask for, drawn up front: workflows of several shapes, and what they change their minds about. */

import { type EdgeKind, lossPolicies } from '../src/model/states.ts';
import type { EdgeSpec, TaskBatch, TaskSpec, WorkflowSpec } from '../src/protocol/spec.ts';
import type { TaskNature } from './fate.ts';
import { beginning } from './kernel.ts';
import type { SeedKind } from './kinds.ts';
import type { Random } from './random.ts';

export const operationTypes = [
  'cancel',
  'abort',
  'halt-drain',
  'halt-kill',
  'resume-hot',
  'resume-cold',
  'retry-failed',
  'cancel-task',
  'retry-task',
  'hold-task',
  'release-task',
  'set-priority',
  'read-output',
  'extend',
  'close',
  'halt-interrupted',
  'dismiss-workers',
  'drain-worker',
  'release-worker',
  'stop-worker',
  'stop-worker-now',
  'resize-worker',
  'set-limit',
  'set-concurrency',
] as const;

/** Of which there is a limited number. */
export const licence = 'licence';
/** There are never more: what runs with one is no more than these, whatever was set and forgotten meanwhile. */
export const licencesMax = 4;

export type OperationType = (typeof operationTypes)[number];

export interface Operation {
  readonly type: OperationType;
  /** Of the task, where it is about one; which worker, where it is about one. */
  readonly index: number;
}

/** Operations that are asked for at the same moment, so that one turn takes them all. */
export interface Burst {
  /** After the one before it. */
  readonly afterMs: number;
  readonly operations: readonly Operation[];
}

/** What may be asked while a workflow is being registered. */
const earlyTypes: readonly OperationType[] = ['cancel-task', 'retry-task', 'retry-task', 'halt-drain', 'resume-hot'];
/** Likelier than others: they reach more. */
const frequentTypes: readonly OperationType[] = [
  'halt-drain',
  'halt-kill',
  'retry-failed',
  'cancel-task',
  'retry-task',
  'drain-worker',
  'resize-worker',
];

export interface ClientPlan {
  readonly name: string;
  readonly startsAtMs: number;
  readonly spec: WorkflowSpec;
  readonly batches: readonly TaskBatch[];
  /** All in one request. */
  readonly isWhole: boolean;
  /** So many licences there are for all, where its tasks need one. */
  readonly licences?: number;
  /** Between two batches. */
  readonly pauseMs: number;
  /** It goes silent before it closes. */
  readonly isForgetful: boolean;
  /** Asked one after the other before it closes. */
  readonly early: readonly Operation[];
  /** Asked in the same moment as its close. */
  readonly withClose: readonly Operation[];
  readonly bursts: readonly Burst[];
}

interface Kind {
  readonly kind: SeedKind;
  readonly isEndless: boolean;
}

interface Extent {
  readonly kind: SeedKind;
  readonly faultyMs: number;
}

export function drawClients(random: Random, extent: Extent): ClientPlan[] {
  const count = extent.kind === 'large' ? random.integer(1, 2) : random.integer(1, 4);
  return Array.from({ length: count }, (_, index) => drawClient(random.fork(index), `c${index + 1}`, extent));
}

function drawClient(random: Random, name: string, { kind, faultyMs }: Extent): ClientPlan {
  const isLarge = kind === 'large';
  const isSick = kind === 'sick';
  const isEarly = kind === 'forgotten' || kind === 'late';
  const open = random.chance(0.2);
  const isEndless = !isLarge && random.chance(0.04);
  const few = Math.round(random.logarithmic(isSick ? 15 : 1, 40));
  const size = isLarge ? random.integer(300, 900) : few;
  const wants = drawWants(random.fork('wants'), { kind, faultyMs });
  const spec: WorkflowSpec = {
    ...{ name, cwd: '/', shell: '/bin/sh', env: random.chance(0.2) ? { A: 'b' } : {} },
    ...{ maxAttempts: random.integer(1, 3), terminationMs: isSick ? 2_000 : random.pick([0, 100, 2_000]) },
    ...{ failFast: random.chance(0.2), open },
    ...(random.chance(0.15) || isEndless ? { timeoutMs: random.integer(50, 3_000) } : {}),
    ...(random.chance(0.3) ? { onLost: random.pick(lossPolicies) } : {}),
    ...wants.spec,
  };
  const early = random.chance(0.2) ? drawOperations(random.fork('early'), size, 3, earlyTypes) : [];
  const withClose = random.chance(0.2) ? drawOperations(random.fork('with close'), size, 3, operationTypes) : [];
  // Taken back in the same moment in which it is to begin.
  const regretted = random.chance(0.5) ? early.filter(({ type }) => type === 'cancel-task') : [];
  const batches = drawBatches(random.fork('tasks'), name, size, { kind, isEndless }).map(wants.apply);
  const isRegretful = random.chance(isLarge ? 0.3 : 0.7);
  return {
    name,
    startsAtMs: Math.round(random.between(0, isEarly ? 5_000 : faultyMs * 0.5)),
    spec,
    batches,
    isWhole: batches.length === 1 && random.chance(0.3),
    ...(wants.licences === undefined ? {} : { licences: wants.licences }),
    pauseMs: random.pick([0, 0, 5, 500]),
    isForgetful: random.chance(0.04),
    early,
    withClose: [...regretted.map(({ index }) => ({ type: 'retry-task', index }) as const), ...withClose],
    bursts: isSick
      ? drawMeddling(random.fork('bursts'), size)
      : isRegretful
        ? drawBursts(random.fork('bursts'), size, faultyMs)
        : [],
  };
}

interface Wants {
  readonly spec: Partial<WorkflowSpec>;
  readonly licences?: number;
  apply(batch: TaskBatch): TaskBatch;
}

/** What is asked for besides slots: walltime, which some run out of, and licences; and how much may run at a time. */
function drawWants(random: Random, { kind }: Extent): Wants {
  const isLimited = kind !== 'large' && random.chance(0.3);
  const runtimeMs = random.chance(0.15) ? random.integer(50, 3_000) : undefined;
  const share = random.pick([1, 0.5]);
  const apply = ({ tasks, edges }: TaskBatch): TaskBatch => ({ tasks: tasks.map(licensed), edges });
  const licensed = (task: TaskSpec): TaskSpec => {
    if (!isLimited || task.command === undefined || !random.chance(share)) return task;
    const nature: TaskNature = { ...(JSON.parse(task.command) as TaskNature), isLicensed: true };
    return { ...task, command: JSON.stringify(nature), resources: { limits: { [licence]: 1 } } };
  };
  return {
    spec: {
      ...(runtimeMs === undefined ? {} : { resources: { runtimeMs }, maxResourceRetries: random.integer(0, 5) }),
      ...(random.chance(0.15) ? { concurrency: { workflow: random.integer(1, 4) } } : {}),
    },
    ...(isLimited ? { licences: random.integer(2, licencesMax) } : {}),
    apply,
  };
}

function drawOperations(random: Random, size: number, most: number, types: readonly OperationType[]): Operation[] {
  return Array.from({ length: random.integer(1, most) }, () => ({
    type: random.pick(random.chance(0.3) ? types : types.filter((type) => frequentTypes.includes(type))),
    index: random.integer(1, size),
  }));
}

/** With single tasks, all the time. */
function drawMeddling(random: Random, size: number): Burst[] {
  return Array.from({ length: random.integer(1, 12) }, () => ({
    afterMs: Math.round(random.logarithmic(1, 3_000)),
    operations: Array.from({ length: random.integer(1, 8) }, () => ({
      type: random.pick(['cancel-task', 'cancel-task', 'retry-task', 'retry-failed'] as const),
      index: random.integer(1, size),
    })),
  }));
}

function drawBursts(random: Random, size: number, faultyMs: number): Burst[] {
  return Array.from({ length: random.integer(1, 7) }, () => ({
    afterMs: Math.round(random.logarithmic(1, faultyMs / 3)),
    operations: drawOperations(random, size, random.chance(0.5) ? 1 : 4, operationTypes),
  }));
}

function drawBatches(random: Random, name: string, most: number, { kind, isEndless }: Kind): TaskBatch[] {
  const isLarge = kind === 'large';
  const isSick = kind === 'sick';
  const usualShape = random.pick(['array', 'array', 'chain', 'diamond', 'random'] as const);
  const shape = isSick ? random.pick(['array', 'anyhow'] as const) : usualShape;
  const mediumMs = isSick ? random.logarithmic(300, 6_000) : drawUsualMs(random);
  const longMs = random.between(shortMsMax, 3 * shortMsMax);
  // Long enough to run when the end of the first attempt comes.
  const lateMs = random.between(5_000, 16_000);
  const known: Readonly<Partial<Record<SeedKind, number>>> = {
    large: random.pick([200, 2_000]),
    forgotten: longMs,
    late: lateMs,
  };
  const usualMs = known[kind] ?? mediumMs;
  const size = usualMs > shortMsMax ? Math.min(most, longTasksMax) : most;
  const character = {
    fails: isSick ? 0 : random.pick([0, 0.05, 0.3]),
    unstartable: random.pick([0, 0, 0.05]),
    stubborn: isSick ? 0.6 : random.pick([0, 0.3]),
    large: !isLarge && random.chance(0.4) ? 0.2 : 0,
    isEndless,
    hasLatest: isSick ? 0.3 : random.pick([0, 0, 0, 0.03, 0.3]),
  };
  const needs = drawNeeds(random.fork('needs'));
  const plain = Array.from({ length: size }, (_, at) => drawTask(random, `${name}.${at + 1}`, usualMs, character));
  const tasks = plain.map((task) => ({ ...task, ...needs() }));
  if (shape === 'diamond' && size > 2) tasks[size - 1] = random.chance(0.5) ? {} : { check: true };
  const edges = drawEdges(random, shape, size);
  const perBatch = random.chance(0.5) ? size : Math.max(1, Math.ceil(size / random.integer(1, 4)));
  const batches: TaskBatch[] = [];
  for (let from = 0; from < size; from += perBatch) {
    const to = Math.min(size, from + perBatch);
    const mine = edges.filter(({ children }) => children[0] > from && children[0] <= to);
    batches.push({ tasks: tasks.slice(from, to), edges: mine });
  }
  return batches;
}

/** One attempt asks for no more: every worker has so much. */
export const memoryMax = 1_000;
export const gpusMax = 1;
export const poolName = 'scratch';

/** Most workflows ask for nothing; of the others most tasks do, in one of a few ways. */
function drawNeeds(random: Random): () => Pick<TaskSpec, 'resources' | 'priority'> {
  if (random.chance(0.6)) return () => ({});
  const kinds = Array.from({ length: random.integer(1, 4) }, () => ({
    cpus: random.pick([0.25, 0.5, 1]),
    ...(random.chance(0.5) ? { memoryBytes: random.integer(1, memoryMax) } : {}),
    ...(random.chance(0.3) ? { gpus: gpusMax } : {}),
    ...(random.chance(0.3) ? { pools: { [poolName]: random.pick([0.3, 1]) } } : {}),
  }));
  return () => ({
    ...(random.chance(0.7) ? { resources: random.pick(kinds) } : {}),
    ...(random.chance(0.2) ? { priority: random.integer(-1, 1) } : {}),
  });
}

const shortMsMax = 12_000;
/** Few enough to end in time on one slot. */
const longTasksMax = 8;

/** Some tasks outlast the patience of everyone. */
const drawUsualMs = (random: Random): number =>
  random.chance(0.2) ? random.logarithmic(shortMsMax, 5 * shortMsMax) : random.logarithmic(10, shortMsMax);

interface Character {
  readonly fails: number;
  readonly unstartable: number;
  readonly stubborn: number;
  readonly large: number;
  /** They end by KILL alone, when their time is up. */
  readonly isEndless: boolean;
  readonly hasLatest: number;
}

const endlessMs = 36_000_000;

function drawTask(random: Random, task: string, usualMs: number, character: Character): TaskSpec {
  const { isEndless } = character;
  const bytes = random.chance(character.large) ? random.integer(66_000, 200_000) : random.integer(0, 40);
  const nature: TaskNature = {
    ...{ task, ms: isEndless ? endlessMs : Math.round(usualMs * random.between(0.3, 1.7)), fails: character.fails },
    ...{ unstartable: character.unstartable, isStubborn: random.chance(character.stubborn) || isEndless, bytes },
  };
  const latest = Math.floor(beginning + random.between(0, 60_000));
  return {
    command: JSON.stringify(nature),
    ...(random.chance(character.hasLatest) ? { until: latest } : {}),
    ...(random.chance(0.1) ? { maxAttempts: random.integer(1, 4) } : {}),
  };
}

/** Each has one child, so that a batch carries the edges of the tasks that it adds. */
function drawEdges(random: Random, shape: string, size: number): EdgeSpec[] {
  const kind = (): EdgeKind => random.pick(['success', 'success', 'any', 'failure'] as const);
  const edge = (from: number, to: number, child: number, after: EdgeKind): EdgeSpec => ({
    parents: [from, to],
    children: [child, child],
    after,
  });
  if (size < 2 || shape === 'array') return [];
  const children = Array.from({ length: size - 1 }, (_, at) => at + 2);
  if (shape === 'chain') {
    const after = kind();
    return children.map((child) => edge(child - 1, child - 1, child, child % 5 === 0 ? after : 'success'));
  }
  if (shape === 'diamond') {
    const middle = children.slice(0, -1).map((child) => edge(1, 1, child, 'success'));
    const last = random.pick(['success', 'any', 'any'] as const);
    return size > 2 ? [...middle, edge(2, size - 1, size, last)] : [edge(1, 1, 2, kind())];
  }
  return children
    .filter(() => random.chance(0.6))
    .map((child) => {
      const parent = random.integer(1, child - 1);
      // After any end: what has run waits again when both are retried.
      return edge(parent, parent, child, shape === 'anyhow' ? 'any' : kind());
    });
}
