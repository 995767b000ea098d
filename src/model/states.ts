/**
 * The one vocabulary of states, causes and roles. The order of a list is its encoding in columns and in the store:
 * append at the end, never reorder.
 */
export const taskStates = [
  'registering',
  'waiting',
  'queued',
  'launched',
  'running',
  'triaging',
  'adjusting',
  'cancelling',
  'done',
  'failed',
  'cancelled',
  'aborted',
] as const;
export type TaskState = (typeof taskStates)[number];

export const endedTaskStates = ['done', 'failed', 'cancelled', 'aborted'] as const satisfies readonly TaskState[];
export const isEndedTask = (state: TaskState): boolean => (endedTaskStates as readonly TaskState[]).includes(state);

/** States in which the task's last attempt may still have a process. */
const heldByWorkerStates = ['launched', 'running', 'cancelling'] as const satisfies readonly TaskState[];

export const isHeldByWorker = (state: TaskState): boolean =>
  (heldByWorkerStates as readonly TaskState[]).includes(state);

export const workflowStates = [
  'registering',
  'queued',
  'instantiating',
  'launched',
  'running',
  'halting',
  'halted',
  'done',
  'failed',
  'cancelled',
  'aborted',
] as const;
export type WorkflowState = (typeof workflowStates)[number];

export const endedWorkflowStates = [
  'halted',
  'done',
  'failed',
  'cancelled',
  'aborted',
] as const satisfies readonly WorkflowState[];
export type EndedWorkflowState = (typeof endedWorkflowStates)[number];
export const isEndedWorkflow = (state: WorkflowState): boolean =>
  (endedWorkflowStates as readonly WorkflowState[]).includes(state);

/** `recorded` is durable and not yet sent; `unsure` is a send whose fate is not known. */
export const attemptStates = ['recorded', 'sent', 'unsure', 'accepted', 'running', 'ended'] as const;
export type AttemptState = (typeof attemptStates)[number];

export const outcomeKinds = [
  'succeeded',
  'exited',
  'signalled',
  'resource',
  'lost',
  'never-started',
  'cancelled',
] as const;

export const failReasons = ['attempts', 'deadline', 'resources', 'lost', 'not-startable', 'check'] as const;
export type FailReason = (typeof failReasons)[number];

/** `unneeded`: it was there for a failure that did not happen. */
export const cancelReasons = ['user', 'upstream', 'fail-fast', 'unneeded'] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** The budgets; each cause of a bad end eats its own. */
export const causes = ['attempts', 'resources', 'lost', 'never-started'] as const;
export type Cause = (typeof causes)[number];

/** When an edge counts as met: after a good end, after any end, or after a bad one. */
export const edgeKinds = ['success', 'any', 'failure'] as const;
export type EdgeKind = (typeof edgeKinds)[number];

export const roles = ['definer', 'controller', 'distributor', 'operator'] as const;
export type Role = (typeof roles)[number];

export const haltModes = ['drain', 'kill'] as const;
export type HaltMode = (typeof haltModes)[number];

/** As the controller sees it: its health, or that it was given up for good. */
export const workerStates = ['new', 'healthy', 'gone', 'unhealthy', 'must-die'] as const;
export type WorkerState = (typeof workerStates)[number];

/** `native` speaks the protocol of workers over a socket; `http` takes tasks by requests, and has a lease only. */
export const workerKinds = ['native', 'http'] as const;
export type WorkerKind = (typeof workerKinds)[number];

/** What is sampled while an attempt runs: bytes of memory, cores in use, GPUs in use. */
export const usageMetrics = ['memory', 'cpu', 'gpu'] as const;
export type UsageMetric = (typeof usageMetrics)[number];

/** What becomes of a task whose worker was lost: tried again, kept for its owner to decide, or failed. */
export const lossPolicies = ['requeue', 'hold', 'fail'] as const;
export type LossPolicy = (typeof lossPolicies)[number];

export const outputStreams = ['stdout', 'stderr'] as const;
export type OutputStream = (typeof outputStreams)[number];
