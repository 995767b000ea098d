/** Random operations of definers, workers and the controller itself, on a real cluster. */
import fc from 'fast-check';
import type { TaskSeed } from '../../src/core/change.ts';
import { Cluster } from '../../src/core/cluster.ts';
import { claimTask, claimTasks } from '../../src/core/scheduler/claim.ts';
import { launchTasks } from '../../src/core/scheduler/launch.ts';
import { settle } from '../../src/core/settle.ts';
import { addContinuations, removeContinuations } from '../../src/core/task/dependencies.ts';
import { endAttempt, loseAttempts, startAttempt } from '../../src/core/task/ending.ts';
import { retryTask } from '../../src/core/task/retrying.ts';
import { Turn } from '../../src/core/turn.ts';
import {
  abortWorkflow,
  cancelWorkflow,
  closeWorkflow,
  extendWorkflow,
  registerWorkflow,
} from '../../src/core/workflow/registration.ts';
import { resetWorkflow } from '../../src/core/workflow/resetting.ts';
import type { Capacity } from '../../src/model/capacity.ts';
import type { Concurrency } from '../../src/model/concurrency.ts';
import { DroverError } from '../../src/model/errors.ts';
import { type TaskId, taskId, type WorkflowId, workerId, workflowId } from '../../src/model/ids.ts';
import { defaultQueue, type Need } from '../../src/model/need.ts';
import type { Outcome } from '../../src/model/outcome.ts';
import { edgeKinds } from '../../src/model/states.ts';

/** Numbers pick among what there is at the time, so that any list of operations makes sense. */
export interface Operation {
  readonly name: keyof typeof operations;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** Runs out of what it asked for. */
const hungry: Need = { queue: defaultQueue, cpus: 1, memoryBytes: 1_000, runtimeMs: 1_000 };

/** What a worker has that has most of everything in its queue: of memory as much as a need may be raised to. */
const largest: readonly Capacity[] = [
  { queue: defaultQueue, gpus: 2, pools: { scratch: 3 } },
  { queue: 'big', gpus: 4 },
];
const capacities: readonly Capacity[] = [
  ...largest,
  { queue: defaultQueue, memoryBytes: 10_000, gpus: 2, pools: { scratch: 3 } },
  { queue: 'big', memoryBytes: 100_000, gpus: 4 },
  { queue: defaultQueue },
  { queue: defaultQueue, memoryBytes: 1_500 },
  { queue: defaultQueue, memoryBytes: 3_000, gpus: 1, endsAt: 50_000 },
  { queue: 'big', memoryBytes: 5_000 },
];
const needs: readonly Need[] = [
  { queue: defaultQueue, cpus: 3 },
  { queue: defaultQueue, cpus: 0.5 },
  { queue: defaultQueue, cpus: 1.5, memoryBytes: 2_000, fallbacks: ['small', 'big'] },
  { queue: defaultQueue, cpus: 1, limits: { matlab: 0.7 }, groups: ['template:t'] },
  {
    queue: defaultQueue,
    cpus: 0.5,
    memoryBytes: 700,
    limits: { matlab: 1, few: 2 },
    groups: ['tag:a=b', 'template:t'],
  },
  { queue: defaultQueue, cpus: 1, gpus: 1, runtimeMs: 1_000 },
  { queue: defaultQueue, cpus: 0.1, pools: { scratch: 0.7 } },
  { queue: 'big', cpus: 2, memoryBytes: 5_000 },
];

type Act = (turn: Turn, picks: { a: number; b: number; c: number }) => void;

const pick = <T>(from: readonly T[], number: number): T => from[number % from.length] as T;

function someWorkflow({ cluster }: Turn, number: number): WorkflowId {
  return workflowId(1 + (number % Math.max(1, cluster.workflows.size)));
}

function someTask({ cluster }: Turn, number: number): TaskId {
  if (cluster.tasks.size === 0) throw new DroverError('task-unknown', 'there is no task yet');
  return taskId(1 + (number % cluster.tasks.size));
}

function someHttpWorker({ cluster }: Turn, number: number) {
  const workers = [...cluster.liveWorkers.values()].filter(({ kind }) => kind === 'http');
  return workers.length === 0 ? undefined : pick(workers, number);
}

function someAttempt({ cluster }: Turn, number: number) {
  const attempts = [...cluster.attempts.values()];
  if (attempts.length === 0) throw new DroverError('attempt-unknown', 'there is no attempt');
  return pick(attempts, number);
}

const seeds: readonly TaskSeed[] = [
  { kind: 'command' },
  { kind: 'command', maxAttempts: 1 },
  { kind: 'command', held: true },
  { kind: 'command', until: 40_000 },
  { kind: 'command', priority: -3 },
  ...needs.map((need, at): TaskSeed => ({ kind: 'command', need, ...(at % 2 === 0 ? { priority: at } : {}) })),
  { kind: 'join' },
  { kind: 'check' },
];

const outcomes: readonly Outcome[] = [
  { kind: 'succeeded' },
  { kind: 'exited', code: 1 },
  { kind: 'signalled', signal: 9 },
  { kind: 'resource', resource: 'memory' },
  { kind: 'resource', resource: 'runtime' },
  { kind: 'resource', resource: 'memory', by: 'machine' },
  { kind: 'lost', what: 'worker' },
  { kind: 'never-started', why: 'retracted', message: 'taken back' },
  { kind: 'never-started', why: 'impossible', message: 'no such file' },
  { kind: 'cancelled', signal: 15 },
];

const concurrencies: readonly Concurrency[] = [
  {},
  { workflow: 2 },
  { templates: { t: 1 } },
  { workflow: 3, templates: { t: 2 }, tags: { 'a=b': 1, 'c=': 2 } },
  { tags: { 'a=b': 0 } },
  { workflow: 0 },
];

/** Those that may leave more in use than a limit allows: it is lowered, or what is in use counts from now on. */
export const mayExceed: readonly Operation['name'][] = ['limit', 'concur', 'group'];

/** All comes to its end, one after the other: whoever waits for a limit must be woken when it is given back. */
export function narrowLimits(turn: Turn): void {
  turn.emit({ type: 'limit-set', name: 'matlab', max: 1 });
  turn.emit({ type: 'limit-set', name: 'few', max: 2 });
  for (const workflow of turn.cluster.workflows.keys()) {
    turn.emit({ type: 'workflow-concurrency', workflow, concurrency: { workflow: 2, templates: { t: 1 } } });
  }
}

const extend: Act = (turn, { a, b, c }) => {
  const workflow = someWorkflow(turn, a);
  const size = turn.cluster.workflow(workflow).size;
  const count = 1 + (b % 4);
  const added = Array.from({ length: count }, (_, offset) => pick(seeds, c + offset * b));
  const last = size + count;
  const isLinked = last > 1 && b % 3 > 0;
  const single = 1 + (c % Math.max(1, last - 1));
  const parents = b % 3 === 1 && last > 1 ? ([single, last - 1] as const) : ([single, single] as const);
  const edges = isLinked ? [{ parents, children: [last, last] as const, after: pick(edgeKinds, c) }] : [];
  extendWorkflow(turn, workflow, { seeds: added, edges });
};

const operations = {
  register: (turn, { a, b }) => {
    const open = a % 2 === 0;
    registerWorkflow(turn, {
      maxAttempts: 1 + (b % 3),
      failFast: b % 5 === 0,
      open,
      ...(b % 2 === 0 ? { need: hungry } : {}),
      ...(b % 3 === 0 ? { concurrency: pick(concurrencies, b), maxResourceRetries: b % 7 } : {}),
    });
  },
  limit: (turn, { a, b }) => {
    const max = pick([0, 1, 2.1, 5, undefined], b);
    turn.emit({ type: 'limit-set', name: pick(['matlab', 'few'], a), ...(max === undefined ? {} : { max }) });
  },
  concur: (turn, { a, b }) => {
    const workflow = someWorkflow(turn, a);
    turn.cluster.workflow(workflow);
    turn.emit({ type: 'workflow-concurrency', workflow, concurrency: pick(concurrencies, b) });
  },
  group: (turn, { a, b }) => {
    const [from, to] = [someTask(turn, a), someTask(turn, a + 1)];
    const tasks = from < to ? [{ from, to }] : [{ from, to: from }];
    turn.emit({ type: 'tasks-grouped', group: pick(['tag:a=b', 'tag:c='], b), tasks });
  },
  extend,
  close: (turn, { a }) => closeWorkflow(turn, someWorkflow(turn, a)),
  abort: (turn, { a }) => abortWorkflow(turn, someWorkflow(turn, a)),
  cancelAll: (turn, { a }) => cancelWorkflow(turn, someWorkflow(turn, a)),
  halt: (turn, { a, b }) =>
    void turn.mustWorkflow(someWorkflow(turn, a), { type: 'halt', mode: b % 2 === 0 ? 'kill' : 'drain' }, 'definer'),
  resume: (turn, { a, b }) =>
    void turn.mustWorkflow(someWorkflow(turn, a), { type: 'resume', how: b % 2 === 0 ? 'hot' : 'cold' }, 'definer'),
  reset: (turn, { a, b, c }) => {
    const size = turn.cluster.workflow(someWorkflow(turn, a)).size;
    const after = c % 4 === 0 ? b % Math.max(1, size) : 0;
    resetWorkflow(
      turn,
      { workflow: someWorkflow(turn, a), all: b % 2 === 0, after },
      turn.changes.length + 1 + (c % 9),
    );
  },
  cancel: (turn, { a }) => void turn.mustTask(someTask(turn, a), { type: 'cancel', reason: 'user' }, 'definer'),
  hold: (turn, { a }) => void turn.mustTask(someTask(turn, a), { type: 'hold' }, 'definer'),
  release: (turn, { a }) => void turn.mustTask(someTask(turn, a), { type: 'release' }, 'definer'),
  prioritise: (turn, { a, b }) =>
    void turn.mustTask(someTask(turn, a), { type: 'prioritise', priority: (b % 5) - 2 }, 'definer'),
  retry: (turn, { a }) => retryTask(turn, someTask(turn, a)),
  link: (turn, { a, b, c }) => {
    const children = [someTask(turn, b), someTask(turn, b + 1)].slice(0, 1 + (c % 2));
    addContinuations(turn, someTask(turn, a), children, pick(edgeKinds, c));
  },
  unlink: (turn, { a, b }) => {
    const child = someTask(turn, a);
    const parents = [...turn.cluster.graph.parents(child)];
    if (parents.length > 0) removeContinuations(turn, pick(parents, b).parent, [child]);
  },
  join: (turn, { a, b, c }) => {
    const worker = workerId(turn.cluster.workers.size + 1);
    turn.emit({
      type: 'worker-joined',
      worker,
      kind: b % 3 === 2 ? 'http' : 'native',
      shard: 's',
      lock: 'l',
      instance: `i${a}`,
      host: 'h',
      slots: 1 + (a % 4),
      ...(c % 2 === 0 ? {} : { capacity: pick(capacities, c >> 1) }),
    });
    Object.assign(turn.cluster.workers.get(worker) ?? {}, { state: 'healthy' });
  },
  /** Its memory, its queue, when it ends: all may change. */
  refit: (turn, { a, b }) => {
    if (turn.cluster.liveWorkers.size === 0) return;
    const { id: worker } = pick([...turn.cluster.liveWorkers.values()], a);
    turn.emit({ type: 'worker-refitted', worker, capacity: pick(capacities, b) });
  },
  resize: (turn, { a, b }) => {
    if (turn.cluster.liveWorkers.size === 0) return;
    turn.emit({
      type: 'worker-resized',
      worker: pick([...turn.cluster.liveWorkers.values()], a).id,
      slots: 1 + (b % 5),
    });
  },
  /** How long tasks take there: from it follows what is sent ahead. */
  average: (turn, { a, b }) => {
    if (turn.cluster.liveWorkers.size === 0) return;
    const worker = pick([...turn.cluster.liveWorkers.values()], a);
    worker.averageMs = 1 + (b % 200);
    turn.cluster.candidates.noteRoom(worker);
  },
  lose: (turn, { a }) => {
    if (turn.cluster.workers.size === 0) return;
    const worker = workerId(1 + (a % turn.cluster.workers.size));
    loseAttempts(turn, worker);
    turn.emit({ type: 'worker-gone', worker, why: 'silent' });
  },
  start: (turn, { a }) => {
    const { id, worker } = someAttempt(turn, a);
    startAttempt(turn, id, worker, turn.now);
  },
  end: (turn, { a, b }) => {
    const { id, worker } = someAttempt(turn, a);
    endAttempt(turn, { attempt: id, worker, outcome: pick(outcomes, b), usage: { wallMs: b, cpuMs: a } });
  },
  claim: (turn, { a, b }) => {
    const worker = someHttpWorker(turn, a);
    if (worker !== undefined) claimTask(turn, worker, someTask(turn, b));
  },
  claimNext: (turn, { a, b }) => {
    const worker = someHttpWorker(turn, a);
    if (worker !== undefined) claimTasks(turn, worker, 1 + (b % 3));
  },
  launch: (turn) => void launchTasks(turn, 100),
  settle: (turn, { a }) => void settle(turn, turn.changes.length + 1 + (a % 20)),
} satisfies Record<string, Act>;

const operation: fc.Arbitrary<Operation> = fc.record({
  name: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Operation['name'][]>('extend', 'launch', 'settle', 'end', 'start') },
    { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(operations) as Operation['name'][])) },
  ),
  a: fc.nat(1_000),
  b: fc.nat(1_000),
  c: fc.nat(1_000),
});

export interface Played {
  readonly operations: readonly Operation[];
  readonly later: number;
}

export const turns: fc.Arbitrary<Played[]> = fc.array(
  fc.record({
    operations: fc.array(operation, { minLength: 1, maxLength: 6 }),
    later: fc.constantFrom(0, 1, 900, 5_000),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
);

export function run(turn: Turn, { name, ...picks }: Operation): void {
  try {
    operations[name](turn, picks);
  } catch (error) {
    // A refusal is an answer, not a failure.
    if (!(error instanceof DroverError)) throw error;
  }
}

/** Turn by turn, each later than the one before. Returns when the last one was. */
export function play(
  cluster: Cluster,
  begin: number,
  played: readonly Played[],
  { each, after }: { each(turn: Turn, operation: Operation): void; after(now: number): void },
): number {
  let now = begin;
  for (const { operations: chosen, later } of played) {
    now += later;
    const turn = new Turn(cluster, now);
    for (const one of chosen) each(turn, one);
    after(now);
  }
  return now;
}

/** Workers that have room for whatever is asked for. */
export function joinLargest(turn: Turn): void {
  for (const at of largest.keys()) run(turn, { name: 'join', a: 99, b: 0, c: 2 * at + 1 });
}

/** A cluster in which something can happen: three workflows are registered, three workers have joined. */
export function beginning(now: number): Turn {
  const turn = new Turn(new Cluster(), now);
  for (const a of [0, 1, 2]) {
    run(turn, { name: 'register', a, b: a, c: 0 });
    run(turn, { name: 'join', a, b: a, c: 0 });
  }
  return turn;
}
