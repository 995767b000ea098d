/** What a path names. */
import type { AttemptName } from '../controller/messages.ts';
import type { Cluster } from '../core/cluster.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { DroverError } from '../model/errors.ts';
import { parseReference, type TaskId, type WorkflowId, workerId } from '../model/ids.ts';
import { type Identity, mustBeOwn } from './gate.ts';

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

/** Of those that take part by requests; one that is gone, too, since its last words count. */
function httpWorkerOf(cluster: Cluster, name: string): WorkerRecord {
  const worker = workerOf(cluster, name);
  if (worker.kind === 'http') return worker;
  throw new DroverError('worker-wrong', `${name} is no worker over HTTP`);
}

/** The worker that somebody speaks for: one that was registered with the same token, unless an admin asks. */
export function speakerOf(cluster: Cluster, identity: Identity, name: string): WorkerRecord {
  const worker = httpWorkerOf(cluster, name);
  mustBeOwn(identity, worker.owner ?? '', name);
  return worker;
}

/** An attempt by its name, as in `w3.14#2`, or `w3.14.2` where `#` means something else. */
export function attemptNameOf(cluster: Cluster, text: string): AttemptName {
  const reference = parseReference(text.replace(/^(w\d+\.\d+)\.(\d+)$/, '$1#$2'));
  const { workflow, index, attempt } = reference ?? {};
  if (workflow === undefined || index === undefined || attempt === undefined) {
    throw new DroverError('bad-reference', `'${text}' is not the name of an attempt`);
  }
  return { task: cluster.findTask(workflow, index), number: attempt };
}
