/** What the fields of a filter mean for a task, by where it is known: in memory, or in its definition in the store. */
import type { Cluster } from '../../core/cluster.ts';
import { printTask, type TaskId } from '../../model/ids.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';
import type { TaskSpec } from '../../protocol/spec.ts';

export type MemoryValue = (cluster: Cluster, task: TaskId) => FilterValue | undefined;
export type DefinitionValue = (spec: TaskSpec, member: string) => FilterValue | undefined;

export const memoryValues: Readonly<Record<string, MemoryValue>> = {
  id: ({ tasks }, task) => printTask(tasks.workflow(task), tasks.index(task)),
  workflow: ({ tasks }, task) => tasks.workflow(task),
  index: ({ tasks }, task) => tasks.index(task),
  state: ({ tasks }, task) => tasks.state(task),
  reason: ({ tasks }, task) => tasks.reason(task),
  held: ({ tasks }, task) => tasks.isHeld(task),
  attempts: ({ tasks }, task) => tasks.attemptNumber(task),
  priority: ({ tasks }, task) => tasks.priority(task),
  pendingDependencies: ({ tasks }, task) => (tasks.state(task) === 'waiting' ? tasks.pending(task) : 0),
  hasContinuations: ({ graph }, task) => graph.firstFrom(task) !== 0,
  createdAt: (cluster, task) => cluster.workflow(cluster.tasks.workflow(task)).createdAt,
};

const own = <V>(record: Readonly<Record<string, V>> | undefined, name: string): V | undefined =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

export const definitionValues: Readonly<Record<string, DefinitionValue>> = {
  name: ({ name }) => name,
  command: ({ command }) => command,
  'tag.*': ({ tags }, member) => own(tags, member),
  expectedDuration: ({ expectedDurationMs }) => expectedDurationMs,
  'requestedResources.cpus': ({ resources }) => resources?.cpus,
  'requestedResources.memory': ({ resources }) => resources?.memoryBytes,
  'requestedResources.gpus': ({ resources }) => resources?.gpus,
  'requestedResources.runtime': ({ resources }) => resources?.runtimeMs,
  'requestedResources.pools.*': ({ resources }, member) => own(resources?.pools, member),
};
