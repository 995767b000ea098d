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
  { kind: 'join' },
  { kind: 'check' },
];

const outcomes: readonly Outcome[] = [
  { kind: 'succeeded' },
  { kind: 'exited', code: 1 },
  { kind: 'signalled', signal: 9 },
  { kind: 'resource', resource: 'memory' },
  { kind: 'lost', what: 'worker' },
  { kind: 'never-started', why: 'retracted', message: 'taken back' },
  { kind: 'never-started', why: 'impossible', message: 'no such file' },
  { kind: 'cancelled', signal: 15 },
];

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
    });
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
  join: (turn, { a, b }) => {
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
    });
    Object.assign(turn.cluster.workers.get(worker) ?? {}, { state: 'healthy' });
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

/** A cluster in which something can happen: three workflows are registered, three workers have joined. */
export function beginning(now: number): Turn {
  const turn = new Turn(new Cluster(), now);
  for (const a of [0, 1, 2]) {
    run(turn, { name: 'register', a, b: a, c: 0 });
    run(turn, { name: 'join', a, b: a, c: 0 });
  }
  return turn;
}
