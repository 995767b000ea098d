/** What a path names. */
import type { Cluster } from '../core/cluster.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { DroverError } from '../model/errors.ts';
import { parseReference, type TaskId, type WorkflowId, workerId } from '../model/ids.ts';

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

/** A worker by its name, as in `k3`. */
export function workerOf(cluster: Cluster, name: string): WorkerRecord {
  const worker = /^k\d{1,9}$/.test(name) ? cluster.workers.get(workerId(Number(name.slice(1)))) : undefined;
  if (worker === undefined) throw new DroverError('worker-unknown', `there is no worker ${name}`);
  return worker;
}
