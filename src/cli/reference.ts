/** What users name on the command line, checked before a controller is asked. */
import { DroverError } from '../model/errors.ts';
import { parseReference, printTask, printWorkflow } from '../model/ids.ts';

export interface Named {
  readonly workflow: string;
  /** Absent where a workflow is named. */
  readonly task?: string;
  readonly attempt?: number;
}

export function named(text: string): Named {
  const reference = parseReference(text);
  if (reference === undefined) throw new DroverError('bad-reference', `'${text}' names no workflow or task`);
  const { workflow, index, attempt } = reference;
  return {
    workflow: printWorkflow(workflow),
    ...(index === undefined ? {} : { task: printTask(workflow, index) }),
    ...(attempt === undefined ? {} : { attempt }),
  };
}

export function workflowNamed(text: string): string {
  const { workflow, task } = named(text);
  if (task === undefined) return workflow;
  throw new DroverError('bad-reference', `${text} is a task`, { hint: `name its workflow: ${workflow}` });
}
