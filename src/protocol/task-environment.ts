/** The variables that a task finds in its environment beside those of its submitter. */
import { attemptId, printTask, printWorker, printWorkflow, type WorkerId, workflowId } from '../model/ids.ts';
import type { Order, OrderNeed } from './worker.ts';

/** Names the host lock of a native worker: its next holder finds what this one left alive. */
export const reapVariable = 'DROVER_REAP';

/** The same for all tasks of a workflow. */
export function workflowVariables(workflow: number, worker: WorkerId): string[] {
  return [
    `DROVER_WORKFLOW_ID=${printWorkflow(workflowId(workflow))}`,
    `DROVER_WORKER=${printWorker(worker)}`,
    'DROVER_CPUS=1',
  ];
}

/** By which programs know which GPUs they may use. */
export const gpusVariable = 'CUDA_VISIBLE_DEVICES';

/** In the place of those of the workflow, for one that asked for more, or for other things, than a slot. */
export function needVariables({ cpus, memoryBytes, gpus }: OrderNeed, gpuNames: readonly string[]): string[] {
  return [
    `DROVER_CPUS=${cpus}`,
    ...(memoryBytes === undefined ? [] : [`DROVER_MEMORY_BYTES=${memoryBytes}`]),
    ...(gpus ? [`DROVER_GPUS=${gpuNames.length}`, `${gpusVariable}=${gpuNames.join(',')}`] : []),
  ];
}

/** The slot and its directory are added by the spawner, which knows them. */
export function taskVariables(order: Omit<Order, 'task' | 'command'>): string[] {
  const task = printTask(workflowId(order.workflow), order.index);
  return [
    `DROVER_TASK_ID=${task}`,
    `DROVER_TASK_NAME=${order.name ?? task}`,
    `DROVER_INDEX=${order.arrayIndex ?? order.index}`,
    `DROVER_ATTEMPT=${order.number}`,
    `DROVER_ATTEMPT_ID=${attemptId(order.attempt)}`,
  ];
}

/** Names of all that a task may find, but those that only some resources bring. */
export const taskVariableNames = [
  ...[
    'DROVER_WORKFLOW_ID',
    'DROVER_TASK_ID',
    'DROVER_TASK_NAME',
    'DROVER_INDEX',
    'DROVER_ATTEMPT',
    'DROVER_ATTEMPT_ID',
  ],
  ...['DROVER_WORKER', 'DROVER_SLOT', 'DROVER_TASK_DIR', 'DROVER_CPUS', 'DROVER_MEMORY_BYTES', 'DROVER_GPUS'],
] as const;

/** Inherited variables of an outer Drover would mislead: a nested run is a run of its own. */
export const isInherited = (name: string): boolean => !name.startsWith('DROVER_');
