/**
 * Identities. In memory and in the store they are dense integers; people see `w12`, `w12.345`, `w12.345#2`, `k3`.
 * A task's number within its workflow (its index) counts from 1.
 */
declare const brand: unique symbol;
type Id<Name extends string> = number & { readonly [brand]: Name };

export type WorkflowId = Id<'workflow'>;
export type TaskId = Id<'task'>;
/** Never reused, and sent to a worker at most once. */
export type AttemptId = Id<'attempt'>;
export type WorkerId = Id<'worker'>;

export const workflowId = (value: number): WorkflowId => value as WorkflowId;
export const taskId = (value: number): TaskId => value as TaskId;
export const attemptId = (value: number): AttemptId => value as AttemptId;
export const workerId = (value: number): WorkerId => value as WorkerId;

export const printWorkflow = (workflow: WorkflowId): string => `w${workflow}`;
export const printTask = (workflow: WorkflowId, index: number): string => `w${workflow}.${index}`;
export const printAttempt = (workflow: WorkflowId, index: number, number: number): string =>
  `w${workflow}.${index}#${number}`;
export const printWorker = (worker: WorkerId): string => `k${worker}`;

/** What a person may name: a workflow, one of its tasks, or one attempt of a task. */
export interface Reference {
  readonly workflow: WorkflowId;
  readonly index?: number;
  readonly attempt?: number;
}

const referencePattern = /^w([1-9]\d{0,8})(?:\.([1-9]\d{0,8})(?:#([1-9]\d{0,5}))?)?$/;

export function parseReference(text: string): Reference | undefined {
  const match = referencePattern.exec(text);
  if (match === null) return undefined;
  const [, workflow, index, attempt] = match;
  return {
    workflow: workflowId(Number(workflow)),
    ...(index === undefined ? {} : { index: Number(index) }),
    ...(attempt === undefined ? {} : { attempt: Number(attempt) }),
  };
}
