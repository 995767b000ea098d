/** What a path names. */
import type { Cluster } from '../core/cluster.ts';
import { DroverError } from '../model/errors.ts';
import { parseReference, type TaskId, type WorkflowId } from '../model/ids.ts';

export function workflowOf(text: string): WorkflowId {
  const reference = parseReference(text);
  if (reference === undefined || reference.index !== undefined) {
    throw new DroverError('bad-reference', `'${text}' is not the name of a workflow`);
  }
  return reference.workflow;
}

export function taskOf(cluster: Cluster, text: string): TaskId {
  const reference = parseReference(text);
  if (reference?.index === undefined || reference.attempt !== undefined) {
    throw new DroverError('bad-reference', `'${text}' is not the name of a task`);
  }
  return cluster.findTask(reference.workflow, reference.index);
}
