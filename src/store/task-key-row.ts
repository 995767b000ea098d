import type { TaskId, WorkflowId } from '../model/ids.ts';

/** By which a task is found again in a later workflow that has it, too. */
export interface TaskKeyRow {
  readonly workflow: WorkflowId;
  /** 16 bytes in hex; empty in the row that says that all tasks of the workflow have theirs. */
  readonly key: string;
  /** 0 in that row. */
  readonly task: TaskId | 0;
}

export const allKeyed = (workflow: WorkflowId): TaskKeyRow => ({ workflow, key: '', task: 0 });
