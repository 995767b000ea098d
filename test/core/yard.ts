/** Workers and tasks brought into a state by real turns, to be asked why they wait. */
import type { TaskSeed } from '../../src/core/change.ts';
import { Turn } from '../../src/core/turn.ts';
import { whyTask } from '../../src/core/why/analyst.ts';
import type { Outlook, TaskWhy } from '../../src/core/why/reason.ts';
import type { WorkerRecord } from '../../src/core/worker.ts';
import { extendWorkflow, registerWorkflow } from '../../src/core/workflow/registration.ts';
import { type WorkerId, type WorkflowId, workerId } from '../../src/model/ids.ts';
import { reserveAfterMs } from '../../src/model/limits.ts';
import { type Need, plainNeed } from '../../src/model/need.ts';
import type { Outcome } from '../../src/model/outcome.ts';
import type { ReasonKind } from '../../src/model/reasons.ts';
import { command, Herd } from './herd.ts';

export const failed: Outcome = { kind: 'exited', code: 1 };
export const held: TaskSeed = { kind: 'command', held: true };
export const rules = { maxAttempts: 1, failFast: false, open: false } as const;
export const needing = (need: Partial<Need>, more: Partial<TaskSeed> = {}): TaskSeed => ({
  ...{ kind: 'command', need: { ...plainNeed, ...need } },
  ...more,
});
export const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

export class Yard extends Herd {
  /** What the controller knows beyond the cluster. */
  wait: Outlook['initialWait'];

  get outlook(): Outlook {
    return { now: this.now, initialWait: this.wait, lateMs: 3_000, givenUpAt: () => this.now + 7_000 };
  }

  why(workflow: WorkflowId, index = 1): TaskWhy {
    return whyTask(this.cluster, this.task(workflow, index), this.outlook);
  }

  kinds(workflow: WorkflowId, index = 1): ReasonKind[] {
    return this.why(workflow, index).reasons.map(({ kind }) => kind);
  }

  worker(id = 1): WorkerRecord {
    return this.cluster.workers.get(workerId(id)) as WorkerRecord;
  }

  bar(kind: 'drained' | 'stopping' | 'quarantined', id = 1): void {
    this.turn((turn) => turn.emit({ type: 'worker-barred', worker: workerId(id), bar: { kind, why: 'by command' } }));
  }

  loseAll(): void {
    for (const worker of [...this.cluster.liveWorkers.keys()])
      this.turn((turn) => turn.emit({ type: 'worker-gone', worker, why: 'x' }));
  }

  limit(name: string, max: number): void {
    this.turn((turn) => turn.emit({ type: 'limit-set', name, max }));
  }

  register(seeds: readonly TaskSeed[]): WorkflowId {
    return this.turn((turn) => {
      const workflow = registerWorkflow(turn, rules);
      extendWorkflow(turn, workflow, { seeds, edges: [] });
      return workflow;
    });
  }

  /** A turn that is cut before anything is settled. */
  unsettled(act: (turn: Turn) => void): void {
    act(new Turn(this.cluster, this.now));
  }

  /** Tasks of two workers with four slots; those on the first fail one after the other while the second does well. */
  suspicion(): { workflow: WorkflowId; trial: number; waiting: number } {
    this.addWorker(4);
    const workflow = this.submit(times(12, command));
    this.launch();
    const on = (id: WorkerId) =>
      [...times(12, 0).keys()].map((at) => at + 1).filter((at) => this.workerOf(workflow, at) === id);
    const [well] = on(workerId(2));
    this.end(workflow, well ?? 0);
    const [one = 0, two = 0, trial = 0, waiting = 0] = on(workerId(1));
    for (const index of [one, two, trial, waiting]) this.end(workflow, index, failed);
    return { workflow, trial, waiting };
  }
}

/** Two slots: a task of two waits while small ones come and go, until a worker is kept for it. One of them still runs. */
export function reservation(): { yard: Yard; small: WorkflowId; large: WorkflowId } {
  const yard = new Yard(2);
  const small = yard.submit(times(4, command));
  yard.launch();
  const large = yard.submit([needing({ cpus: 2 })]);
  yard.launch();
  yard.end(small, 1);
  yard.launch();
  yard.pass(reserveAfterMs);
  yard.launch();
  yard.end(small, 2);
  yard.launch();
  return { yard, small, large };
}
