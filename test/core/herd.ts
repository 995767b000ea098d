/** Drives the core by hand: a cluster, a clock, one worker; every turn is settled and its invariants are checked. */
import type { TaskSeed, WorkflowRules } from '../../src/core/change.ts';
import { Cluster } from '../../src/core/cluster.ts';
import { checkInvariants } from '../../src/core/invariants.ts';
import { launchTasks } from '../../src/core/scheduler/launch.ts';
import { settle } from '../../src/core/settle.ts';
import { endAttempt, loseAttempts, startAttempt } from '../../src/core/task/ending.ts';
import { Turn } from '../../src/core/turn.ts';
import {
  closeWorkflow,
  extendWorkflow,
  type IndexedEdges,
  registerWorkflow,
} from '../../src/core/workflow/registration.ts';
import { type Capacity, plainCapacity } from '../../src/model/capacity.ts';
import { type TaskId, type WorkerId, type WorkflowId, workerId } from '../../src/model/ids.ts';
import type { Outcome } from '../../src/model/outcome.ts';
import type { EdgeKind, TaskState, WorkerKind } from '../../src/model/states.ts';

const succeeded: Outcome = { kind: 'succeeded' };
const defaults: WorkflowRules = { maxAttempts: 1, failFast: false, open: false };

export const command: TaskSeed = { kind: 'command' };
export const join: TaskSeed = { kind: 'join' };
export const check: TaskSeed = { kind: 'check' };

export const edge = (parent: number, child: number, after: EdgeKind = 'success'): IndexedEdges => ({
  parents: [parent, parent],
  children: [child, child],
  after,
});

export class Herd {
  readonly cluster = new Cluster();
  now = 1_000;

  constructor(slots = 100, capacity?: Capacity) {
    this.addWorker(slots, 'native', capacity);
  }

  /** Healthy at once. */
  addWorker(slots: number, kind: WorkerKind = 'native', capacity: Capacity = plainCapacity): WorkerId {
    const id = workerId(this.cluster.workers.size + 1);
    const worker = { kind, capacity, shard: `s${id}`, lock: `l${id}`, instance: `i${id}`, host: 'h', slots };
    this.turn((turn) => turn.emit({ type: 'worker-joined', worker: id, ...worker }));
    const record = this.cluster.workers.get(id);
    if (record !== undefined) record.state = 'healthy';
    return id;
  }

  /** One turn: acts, settles to the end, checks everything. */
  turn<T>(act: (turn: Turn) => T): T {
    const turn = new Turn(this.cluster, this.now);
    const result = act(turn);
    while (settle(turn, turn.changes.length + 1_000));
    checkInvariants(this.cluster);
    this.cluster.takeDirty();
    return result;
  }

  submit(
    seeds: readonly TaskSeed[],
    edges: readonly IndexedEdges[] = [],
    rules: Partial<WorkflowRules> = {},
  ): WorkflowId {
    return this.turn((turn) => {
      const workflow = registerWorkflow(turn, { ...defaults, ...rules });
      extendWorkflow(turn, workflow, { seeds, edges });
      if (!rules.open) closeWorkflow(turn, workflow);
      return workflow;
    });
  }

  launch(): void {
    this.turn((turn) => launchTasks(turn, 10_000));
  }

  task(workflow: WorkflowId, index: number): TaskId {
    return this.cluster.findTask(workflow, index);
  }

  state(workflow: WorkflowId, index: number): TaskState {
    return this.cluster.tasks.state(this.task(workflow, index));
  }

  states(workflow: WorkflowId): TaskState[] {
    return [...this.cluster.workflow(workflow).tasks()].map((task) => this.cluster.tasks.state(task));
  }

  start(workflow: WorkflowId, index: number): void {
    const attempt = this.cluster.tasks.lastAttempt(this.task(workflow, index));
    if (attempt !== undefined) this.turn((turn) => startAttempt(turn, attempt, workerId(1), this.now));
  }

  /** Ends the last attempt of a task; returns whether that changed anything. */
  end(workflow: WorkflowId, index: number, outcome: Outcome = succeeded): boolean {
    const attempt = this.cluster.tasks.lastAttempt(this.task(workflow, index));
    const worker = attempt === undefined ? undefined : this.workerOf(workflow, index);
    if (attempt === undefined) return false;
    return this.turn((turn) => endAttempt(turn, { attempt, worker: worker ?? workerId(1), outcome }));
  }

  /** Which worker has its last attempt; undefined when that has ended. */
  workerOf(workflow: WorkflowId, index: number): WorkerId | undefined {
    const attempt = this.cluster.tasks.lastAttempt(this.task(workflow, index));
    return attempt === undefined ? undefined : this.cluster.attempts.get(attempt)?.worker;
  }

  /** Launches and ends what can be, until nothing moves. */
  finish(workflow: WorkflowId, outcomeOf: (index: number) => Outcome = () => succeeded): void {
    for (let moved = true; moved; ) {
      this.launch();
      moved = false;
      for (const task of this.cluster.workflow(workflow).tasks()) {
        const index = this.cluster.tasks.index(task);
        if (this.cluster.tasks.state(task) !== 'launched') continue;
        this.end(workflow, index, outcomeOf(index));
        moved = true;
      }
    }
  }

  loseWorker(): void {
    this.turn((turn) => loseAttempts(turn, workerId(1)));
  }

  pass(ms: number): void {
    this.now += ms;
    this.turn(() => {});
  }
}
