/**
 * Which rows the next commit has to write.
 *
 * Owns: the ids of what changed since rows were last taken, and of tasks that changed while their workflow was registering.
 * 1. A task that changed early is written with what activates or aborts its workflow: before that it needs no row.
 */
import type { AttemptId, TaskId, WorkerId, WorkflowId } from '../model/ids.ts';
import { type AttemptRecord, type AttemptRow, attemptRow } from './attempt/record.ts';
import type { TaskColumns, TaskRow } from './task/columns.ts';
import type { WorkerRecord, WorkerRow } from './worker.ts';
import type { WorkflowRecord, WorkflowRow } from './workflow/record.ts';

/** The rows that changed since they were last taken. */
export interface DirtyRows {
  readonly workflows: readonly WorkflowRow[];
  readonly tasks: readonly TaskRow[];
  readonly attempts: readonly AttemptRow[];
  readonly workers: readonly WorkerRow[];
}

/** What rows are made of. */
interface Records {
  readonly tasks: TaskColumns;
  readonly attempts: ReadonlyMap<AttemptId, AttemptRecord>;
  readonly workers: ReadonlyMap<WorkerId, WorkerRecord>;
  workflow(id: WorkflowId): WorkflowRecord;
}

export class Dirty {
  readonly workflows = new Set<WorkflowId>();
  readonly tasks = new Set<TaskId>();
  readonly attempts = new Set<AttemptId>();
  readonly workers = new Set<WorkerId>();
  readonly #early = new Set<TaskId>();

  noteEarly(task: TaskId): void {
    this.#early.add(task);
  }

  writeIfEarly(task: TaskId): void {
    if (this.#early.size > 0 && this.#early.delete(task)) this.tasks.add(task);
  }

  /** As they are now, tasks in the order of their ids. */
  rows(records: Records): DirtyRows {
    const tasks: TaskRow[] = [];
    for (const id of this.tasks) tasks.push(records.tasks.row(id));
    tasks.sort((a, b) => a.id - b.id);
    const attempts: AttemptRow[] = [];
    for (const id of this.attempts) {
      const record = records.attempts.get(id);
      if (record !== undefined) attempts.push(attemptRow(record));
    }
    return {
      workflows: Array.from(this.workflows, (id) => records.workflow(id).row()),
      tasks,
      attempts,
      workers: [...this.workers].flatMap((id) => records.workers.get(id)?.row() ?? []),
    };
  }

  clear(): void {
    this.workflows.clear();
    this.tasks.clear();
    this.attempts.clear();
    this.workers.clear();
  }
}
