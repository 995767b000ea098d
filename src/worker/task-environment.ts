/** The variables that a task finds in its environment beside those of its submitter. */
import { attemptId, printTask, printWorker, printWorkflow, type WorkerId, workflowId } from '../model/ids.ts';
import type { Order } from '../protocol/worker.ts';

export interface TaskPlace {
  readonly worker: WorkerId;
  readonly slot: number;
  readonly scratch: string;
  /** Names the worker's host lock: whoever holds that lock next finds what an earlier holder left alive. */
  readonly tag: string;
}

export const reapVariable = 'DROVER_REAP';

export function taskVariables(order: Order, { worker, slot, scratch, tag }: TaskPlace): string[] {
  const workflow = workflowId(order.workflow);
  const task = printTask(workflow, order.index);
  return [
    `DROVER_WORKFLOW_ID=${printWorkflow(workflow)}`,
    `DROVER_TASK_ID=${task}`,
    `DROVER_TASK_NAME=${order.name ?? task}`,
    `DROVER_INDEX=${order.arrayIndex ?? order.index}`,
    `DROVER_ATTEMPT=${order.number}`,
    `DROVER_WORKER=${printWorker(worker)}`,
    `DROVER_SLOT=${slot}`,
    'DROVER_CPUS=1',
    `DROVER_TASK_DIR=${scratch}`,
    `${reapVariable}=${tag}`,
    `DROVER_ATTEMPT_ID=${attemptId(order.attempt)}`,
  ];
}

/** Inherited variables of an outer Drover would mislead: a nested run is a run of its own. */
export const isInherited = (name: string): boolean => !name.startsWith('DROVER_');
