/** How the spawner is told of an attempt that it is to start. */
import type { OutputFiles, QueueTask } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import { needVariables, taskVariables } from '../protocol/task-environment.ts';
import type { Order } from '../protocol/worker.ts';
import type { Grant } from './admission.ts';

/** Without a grant it waits for a slot; with one there is room for it. */
export function queueMessage(order: Order, spec: WorkflowSpec, grant: Grant | undefined): QueueTask {
  const { attempt, command, workflow } = order;
  const { shell, cwd, stdin } = spec;
  const files = plainFilesOf(order, spec);
  return {
    ...{ t: 'queue', key: attempt, env: workflow, vars: taskVariables(order), command, shell, cwd },
    ...(stdin === undefined ? {} : { stdin }),
    ...(files === undefined ? {} : { files }),
    ...(grant === undefined ? {} : besideSlots(order, grant)),
  };
}

function besideSlots(order: Order, { need, gpus }: Grant): Pick<QueueTask, 'vars' | 'beside'> {
  const { memoryBytes } = need;
  return {
    vars: [...taskVariables(order), ...needVariables(need, gpus)],
    beside: memoryBytes === undefined ? {} : { memoryBytes },
  };
}

/** Where the user wants them: a file per stream and attempt. */
function plainFilesOf({ workflow, index, number }: Order, { outputDir }: WorkflowSpec): OutputFiles | undefined {
  if (outputDir === undefined) return undefined;
  const base = `${outputDir}/w${workflow}.${index}${number === 1 ? '' : `.${number}`}`;
  return { stdout: `${base}.out`, stderr: `${base}.err` };
}
