/** A state for each reason why a task may wait. */
import { expect } from 'vitest';
import type { TaskSeed } from '../../src/core/change.ts';
import type { Reason, ReasonOf } from '../../src/core/why/reason.ts';
import { whyWorkflow } from '../../src/core/why/workflow.ts';
import { cancelWorkflow, closeWorkflow } from '../../src/core/workflow/registration.ts';
import { type TaskId, type WorkflowId, workerId, workflowId } from '../../src/model/ids.ts';
import { registrationIdleMs, suspicionMsMax } from '../../src/model/limits.ts';
import { plainNeed } from '../../src/model/need.ts';
import type { ReasonKind } from '../../src/model/reasons.ts';
import { command, edge } from './herd.ts';
import { failed, held, needing, reservation, times, Yard } from './yard.ts';

/** Whom to ask about; without an index, about the workflow. */
interface Scene {
  readonly yard: Yard;
  readonly workflow: WorkflowId;
  readonly task: TaskId | undefined;
  readonly reasons: readonly Reason[];
}

function scene(yard: Yard, workflow: WorkflowId, index = 1): Scene {
  return index === 0
    ? { yard, workflow, task: undefined, reasons: whyWorkflow(yard.cluster, workflow, yard.outlook).reasons }
    : { yard, workflow, task: yard.task(workflow, index), reasons: yard.why(workflow, index).reasons };
}

interface Case<K extends ReasonKind> {
  /** What is in this state. */
  readonly it: string;
  readonly make: () => Scene;
  /** Some of what its reason says. */
  readonly facts: Partial<ReasonOf<K>>;
}

const some = (count: number): object => expect.objectContaining({ count });

/** Every reason has its state here: a new one does not compile without. */
export const reasonCases: { readonly [K in ReasonKind]: Case<K> } = {
  registering: {
    it: 'a task whose definer has not closed its workflow',
    make: () => {
      const yard = new Yard();
      return scene(yard, yard.register([command]));
    },
    facts: { workflow: workflowId(1), until: 1_000 + registrationIdleMs },
  },
  'workflow-starting': {
    it: 'a task of a workflow whose run is being made',
    make: () => {
      const yard = new Yard();
      const w = yard.register([command]);
      yard.unsettled((turn) => closeWorkflow(turn, w));
      return scene(yard, w);
    },
    facts: { state: 'queued' },
  },
  'workflow-halted': {
    it: 'a task of a workflow that is halted',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
      return scene(yard, w);
    },
    facts: { state: 'halted', live: 0 },
  },
  'workflow-stopping': {
    it: 'a task of a workflow that is being cancelled',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.unsettled((turn) => cancelWorkflow(turn, w));
      return scene(yard, w);
    },
    facts: { stop: 'user' },
  },
  dependencies: {
    it: 'a task that waits for others',
    make: () => {
      const yard = new Yard();
      const w = yard.submit(times(8, command), [...[1, 2, 3, 4, 5, 6].map((at) => edge(at, 8)), edge(7, 8, 'failure')]);
      return scene(yard, w, 8);
    },
    facts: {
      on: {
        count: 7,
        isCut: false,
        first: expect.arrayContaining([{ task: 7, state: 'queued', after: 'failure' }]),
      },
    },
  },
  held: {
    it: 'a task that its definer holds',
    make: () => {
      const yard = new Yard();
      return scene(yard, yard.submit([held]));
    },
    facts: { isAfterLoss: false },
  },
  'back-off': {
    it: 'a task that failed and is tried again later',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command], [], { maxAttempts: 2 });
      yard.launch();
      yard.end(w, 1, failed);
      expect(yard.cluster.tasks.notBefore(yard.task(w, 1))).toBeGreaterThan(yard.now);
      return scene(yard, w);
    },
    facts: { number: 1, until: expect.any(Number) as unknown as number },
  },
  suspended: {
    it: 'a task that failed on a worker under suspicion',
    make: () => {
      const yard = new Yard(4);
      const { workflow, waiting } = yard.suspicion();
      return scene(yard, workflow, waiting);
    },
    facts: { worker: workerId(1), until: 1_000 + suspicionMsMax },
  },
  settling: {
    it: 'a task that the controller has not come to yet',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([held]);
      yard.unsettled((turn) =>
        turn.emit({ type: 'task-changed', task: yard.task(w, 1), event: { type: 'held', held: false } }),
      );
      return scene(yard, w);
    },
    facts: { what: 'release' },
  },
  'latest-start': {
    it: 'a task that has to start before a certain time',
    make: () => {
      const yard = new Yard();
      return scene(yard, yard.submit([{ kind: 'command', held: true, until: 5_000 }]));
    },
    facts: { until: 5_000 },
  },
  'initial-wait': {
    it: 'a task while the controller launches nothing',
    make: () => {
      const yard = new Yard();
      yard.wait = { until: 9_000, workers: [workerId(1)] };
      return scene(yard, yard.submit([command]));
    },
    facts: { until: 9_000, workers: some(1) as never },
  },
  limit: {
    it: 'a task that asks for more of a limit than is left',
    make: () => {
      const yard = new Yard();
      yard.limit('matlab', 2);
      const w = yard.submit(times(2, needing({ limits: { matlab: 1.5 } })));
      yard.launch();
      return scene(yard, w, 2);
    },
    facts: { name: 'matlab', max: 2, used: 1.5, asked: 1.5, holders: { first: [1], count: 1, isCut: false } as never },
  },
  'workflow-limit': {
    it: 'a task of a workflow of which as many run as may',
    make: () => {
      const yard = new Yard();
      const w = yard.submit(times(2, command), [], { concurrency: { workflow: 1 } });
      yard.launch();
      return scene(yard, w, 2);
    },
    facts: { workflow: workflowId(1), max: 1, used: 1 },
  },
  'group-limit': {
    it: 'a task of a template of which as many run as may',
    make: () => {
      const yard = new Yard();
      const seeds = times(2, needing({ groups: ['template:fit'] }));
      const w = yard.submit(seeds, [], { concurrency: { templates: { fit: 1 } } });
      yard.launch();
      return scene(yard, w, 2);
    },
    facts: { group: 'template:fit', max: 1, used: 1 },
  },
  'no-worker': {
    it: 'a task where there is no worker at all',
    make: () => {
      const yard = new Yard();
      yard.loseAll();
      return scene(yard, yard.submit([command]));
    },
    facts: { leaving: 0 },
  },
  'no-queue': {
    it: 'a task for a queue that no worker has',
    make: () => {
      const yard = new Yard();
      return scene(yard, yard.submit([needing({ queue: 'big' })]));
    },
    facts: { queue: 'big', others: { first: ['default'], count: 1, isCut: false } as never },
  },
  'too-large': {
    it: 'a task that asks for more than any worker has',
    make: () => {
      const yard = new Yard(4);
      yard.addWorker(8);
      return scene(yard, yard.submit([needing({ cpus: 16 })]));
    },
    facts: { nearest: workerId(2), workers: 2, lacks: [{ of: ' cpus', asked: '16', there: '8', part: 0.5 }] },
  },
  'workers-unavailable': {
    it: 'a task whose workers are all drained, sick, away, new or about to end',
    make: () => {
      const yard = new Yard(4);
      for (let more = 0; more < 4; more++) yard.addWorker(4);
      yard.bar('drained', 1);
      Object.assign(yard.worker(2), { state: 'unhealthy', ailment: 'no heartbeat' });
      yard.worker(3).isAway = true;
      yard.worker(4).state = 'new';
      yard.bar('stopping', 5);
      return scene(yard, yard.submit([command]));
    },
    facts: {
      workers: {
        count: 5,
        first: ['drained', 'unhealthy', 'away', 'new', 'stopping'].map((obstacle) =>
          expect.objectContaining({ obstacle }),
        ),
      } as never,
    },
  },
  unclaimed: {
    it: 'a task that only workers over HTTP could run',
    make: () => {
      const yard = new Yard();
      yard.loseAll();
      yard.addWorker(1, 'http');
      const w = yard.submit([command]);
      yard.launch();
      return scene(yard, w);
    },
    facts: { workers: { first: [2], count: 1, isCut: false } as never },
  },
  'slots-busy': {
    it: 'a task behind as many as there are slots',
    make: () => {
      const yard = new Yard(2);
      const w = yard.submit(times(3, command));
      yard.launch();
      return scene(yard, w, 3);
    },
    facts: { workers: 1, slots: 2 },
  },
  'no-room': {
    it: 'a task that fits a worker, but not beside what is there',
    make: () => {
      const yard = new Yard(4, { queue: 'default', memoryBytes: 1_000, gpus: 1, pools: { scratch: 2 } });
      yard.submit([needing({ memoryBytes: 700, pools: { scratch: 1.5 } })]);
      yard.launch();
      const w = yard.submit([needing({ memoryBytes: 600, gpus: 1, pools: { scratch: 1 } })]);
      return scene(yard, w);
    },
    facts: {
      nearest: workerId(1),
      short: [
        { of: 'memory', asked: 600, free: 300 },
        { of: 'pool:scratch', asked: 1, free: 0.5 },
      ],
      runs: { first: [1], count: 1, isCut: false } as never,
    },
  },
  reserved: {
    it: 'a task that would fit where room is kept for a larger one',
    make: () => {
      const { yard, small } = reservation();
      return scene(yard, small, 4);
    },
    facts: { workers: { first: [1], count: 1, isCut: false } as never, need: { ...plainNeed, cpus: 2 } },
  },
  'reserved-for-it': {
    it: 'a large task for which room is kept',
    make: () => {
      const { yard, large } = reservation();
      return scene(yard, large);
    },
    facts: { worker: workerId(1) },
  },
  avoided: {
    it: 'a task that is to be tried elsewhere while only the suspect has room',
    make: () => {
      const yard = new Yard(4);
      const { workflow, trial } = yard.suspicion();
      yard.worker(2).isAway = true;
      return scene(yard, workflow, trial);
    },
    facts: { worker: workerId(1), until: 1_000 + suspicionMsMax },
  },
  'higher-priority': {
    it: 'a task behind others of a higher priority, of its own workflow and of others',
    make: () => {
      const yard = new Yard(1);
      yard.submit([command]);
      yard.launch();
      const seeds: TaskSeed[] = [command, ...times(2, { kind: 'command', priority: 5 } as const)];
      const w = yard.submit(seeds);
      yard.submit(times(3, { kind: 'command', priority: 1 } as const));
      return scene(yard, w);
    },
    facts: { tasks: 5, priority: 0, isCut: false },
  },
  behind: {
    it: 'a task behind others of its workflow, and of one that takes turns with it',
    make: () => {
      const yard = new Yard(1);
      const w = yard.submit(times(4, command));
      yard.launch();
      yard.submit(times(9, command));
      return scene(yard, w, 4);
    },
    // Two of its own, and as many of the other.
    facts: { tasks: 4, isCut: false },
  },
  next: {
    it: 'a task for which there is room',
    make: () => {
      const yard = new Yard();
      return scene(yard, yard.submit([command]));
    },
    facts: { workers: 1 },
  },
  sent: {
    it: 'a task that was sent, and is not known to run',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.launch();
      return scene(yard, w);
    },
    facts: { worker: workerId(1), number: 1, since: 1_000, isOnItsWay: true },
  },
  unsure: {
    it: 'a task whose order may not have arrived',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.launch();
      const [attempt] = yard.worker().attempts;
      if (attempt !== undefined) yard.turn((turn) => turn.attempt(attempt, { type: 'send' }, 'distributor'));
      if (attempt !== undefined) yard.turn((turn) => turn.attempt(attempt, { type: 'doubt' }, 'controller'));
      return scene(yard, w);
    },
    facts: { worker: workerId(1), number: 1 },
  },
  'queued-at-worker': {
    it: 'a task that was sent ahead of a free slot',
    make: () => {
      const yard = new Yard(1);
      yard.worker().averageMs = 10;
      const w = yard.submit(times(4, command));
      yard.launch();
      yard.start(w, 1);
      return scene(yard, w, 3);
    },
    facts: { worker: workerId(1), before: 1 },
  },
  running: {
    it: 'a task that runs',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.launch();
      yard.pass(50);
      yard.start(w, 1);
      return scene(yard, w);
    },
    facts: { worker: workerId(1), number: 1, since: 1_050 },
  },
  cancelling: {
    it: 'a task whose process is being ended',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.launch();
      yard.turn((turn) => turn.mustTask(yard.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer'));
      return scene(yard, w);
    },
    facts: { worker: workerId(1), reason: 'user' },
  },
  'worker-silent': {
    it: 'a running task of whose worker nothing is heard',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.launch();
      yard.start(w, 1);
      Object.assign(yard.worker(), { state: 'unhealthy', ailment: 'no heartbeat' });
      return scene(yard, w);
    },
    facts: { worker: workerId(1), obstacle: 'unhealthy', why: 'no heartbeat', until: 8_000 },
  },
  done: {
    it: 'a task that is done',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.finish(w);
      return scene(yard, w);
    },
    facts: { attempts: 1 },
  },
  failed: {
    it: 'a task that failed',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.finish(w, () => failed);
      return scene(yard, w);
    },
    facts: { reason: 'attempts', attempt: 1 as never, attempts: 1 },
  },
  cancelled: {
    it: 'a task that was cancelled because another failed',
    make: () => {
      const yard = new Yard();
      const w = yard.submit(times(3, command), [edge(1, 3), edge(2, 3)]);
      yard.finish(w, (index) => (index === 1 ? failed : { kind: 'succeeded' }));
      return scene(yard, w, 3);
    },
    facts: { reason: 'upstream', by: { first: [{ task: 1, state: 'failed', after: 'success' }], count: 1 } as never },
  },
  aborted: {
    it: 'a task whose workflow was never closed',
    make: () => {
      const yard = new Yard();
      const w = yard.register([command]);
      yard.pass(registrationIdleMs);
      return scene(yard, w);
    },
    facts: { workflow: workflowId(1) },
  },
  open: {
    it: 'a workflow that has nothing to do, and is open',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command], [], { open: true });
      yard.finish(w);
      return scene(yard, w, 0);
    },
    facts: { workflow: workflowId(1) },
  },
  ended: {
    it: 'a workflow that has ended',
    make: () => {
      const yard = new Yard();
      const w = yard.submit([command]);
      yard.finish(w);
      return scene(yard, w, 0);
    },
    facts: { state: 'done' },
  },
};
