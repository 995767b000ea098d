/** The fields that each list can be filtered by: parser, documentation and refusals are made of these tables. */
import { changeTypes } from '../../model/change-types.ts';
import {
  attemptStates,
  cancelReasons,
  failReasons,
  outcomeKinds,
  taskStates,
  workerStates,
  workflowStates,
} from '../../model/states.ts';
import type { Field, FieldTable } from './language.ts';
import type { FieldType } from './types.ts';

const field = (name: string, type: FieldType, about: string, example: string): Field => ({
  name,
  type,
  about,
  example,
});

const words = <const N extends string>(name: N, values: readonly string[], about: string, example: string) =>
  ({ ...field(name, 'enum', about, example), values }) satisfies Field;

/** Of an attempt, or of a task's last one. */
export const endFields = [
  field('exit', 'integer', 'exit status', 'exit=137'),
  field('signal', 'integer', 'the signal that ended it', 'signal=9'),
  words('outcome', outcomeKinds, 'how it ended', 'outcome=lost,resource'),
  field('host', 'text', 'the machine of its worker', 'host=n1'),
  field('worker', 'worker', 'its worker', 'worker=k3'),
  field('startedAt', 'time', 'when it was started', 'startedAt>-1h'),
  field('endedAt', 'time', 'when it ended', 'endedAt<2026-01-31'),
  field('wall', 'duration', 'how long it ran', 'wall>10m'),
  field('peak', 'bytes', 'the most memory that it had', 'peak>2GiB'),
];

export const taskFields = [
  field('id', 'task', 'the task', 'id=w3.14,w3.15'),
  field('workflow', 'workflow', 'its workflow', 'workflow=w3'),
  field('index', 'integer', 'its number within the workflow', 'index>1000'),
  words('state', taskStates, 'where it stands', 'state=failed,queued'),
  words('reason', [...failReasons, ...cancelReasons], 'why it failed or was cancelled', 'reason=lost'),
  field('held', 'boolean', 'whether it is held', 'held=true'),
  field('attempts', 'integer', 'how many attempts it has had', 'attempts>=2'),
  field('pendingDependencies', 'integer', 'dependencies that are not met', 'pendingDependencies>0'),
  field('hasContinuations', 'boolean', 'whether other tasks wait for it', 'hasContinuations=true'),
  field('priority', 'integer', 'the higher, the sooner', 'priority>0'),
  field('createdAt', 'time', 'when its workflow was registered', 'createdAt>-1d'),
  field('name', 'text', 'its label', 'name=train'),
  field('command', 'text', 'its command line', 'command~gzip'),
  field('tag.*', 'text', 'a label of the user', 'tag.model=x'),
  field('expectedDuration', 'duration', 'how long it is expected to run', 'expectedDuration<60s'),
  field('requestedResources.cpus', 'number', 'processors that it asks for', 'requestedResources.cpus>=2.5'),
  field('requestedResources.memory', 'bytes', 'memory that it asks for', 'requestedResources.memory>1GB'),
  field('requestedResources.gpus', 'integer', 'GPUs that it asks for', 'requestedResources.gpus=0'),
  field('requestedResources.runtime', 'duration', 'time that it asks for', 'requestedResources.runtime<1h'),
  field(
    'requestedResources.pools.*',
    'number',
    'what it asks for of a pool of its worker',
    'requestedResources.pools.scratch>1',
  ),
  field('cause', 'cause', 'why it failed, or its last attempt did', 'cause=exit:137,memory'),
  field('fingerprint', 'fingerprint', 'what its last attempt wrote when it failed', 'fingerprint=f3a9'),
  ...endFields.map((one) => ({ ...one, about: `of its last attempt: ${one.about}` })),
] as const satisfies FieldTable;

export const attemptFields = [
  field('id', 'attempt', 'the attempt', 'id=w3.14#2'),
  field('task', 'task', 'its task', 'task=w3.14'),
  field('workflow', 'workflow', 'the workflow of its task', 'workflow=w3'),
  field('number', 'integer', 'its number among those of its task', 'number>1'),
  words('state', attemptStates, 'where it stands', 'state=running'),
  field('recordedAt', 'time', 'when it was decided on', 'recordedAt>-1h'),
  field('cpu', 'duration', 'CPU time', 'cpu>1h'),
  field('cause', 'cause', 'why it failed', 'cause=exit:137,memory'),
  ...endFields,
] as const satisfies FieldTable;

export const workerFields = [
  field('id', 'worker', 'the worker', 'id=k3'),
  words('state', workerStates, 'its health', 'state=unhealthy,must-die'),
  field('host', 'text', 'its machine', 'host=n1'),
  field('shard', 'text', 'its name beyond restarts', 'shard~gpu'),
  words('bar', ['drained', 'stopping', 'quarantined'], 'why it gets no tasks', 'bar=quarantined'),
  field('slots', 'integer', 'how many tasks it runs at a time', 'slots>=16'),
  field('queue', 'text', 'whose tasks it gets', 'queue=big'),
  field('memory', 'bytes', 'memory for its tasks', 'memory>=64GB'),
  field('gpus', 'integer', 'how many GPUs it has', 'gpus>0'),
  field('attempts', 'integer', 'how many it has', 'attempts=0'),
  field('joinedAt', 'time', 'when it came', 'joinedAt>-1h'),
] as const satisfies FieldTable;

export const workflowFields = [
  field('id', 'workflow', 'the workflow', 'id=w3,w4'),
  words('state', workflowStates, 'where it stands', 'state=running,halted'),
  field('name', 'text', 'its label', 'name~nightly'),
  field('run', 'integer', 'the number of its last run', 'run>1'),
  field('total', 'integer', 'its tasks', 'total>1000'),
  field('done', 'integer', 'those that are done', 'done=0'),
  field('failed', 'integer', 'those that failed', 'failed>0'),
  field('createdAt', 'time', 'when it was registered', 'createdAt>-7d'),
  field('startedAt', 'time', 'when its last run began', 'startedAt>-1h'),
  field('endedAt', 'time', 'when its last run ended', 'endedAt>-1h'),
] as const satisfies FieldTable;

export const eventFields = [
  words('type', changeTypes, 'what happened', 'type=task-changed,attempt-ended'),
  field('workflow', 'workflow', 'the workflow that it is about', 'workflow=w3'),
  field('task', 'task', 'the task that it is about', 'task=w3.14'),
  field('attempt', 'attempt', 'the attempt that it is about', 'attempt=w3.14#2'),
  words(
    'state',
    [...new Set([...taskStates, ...workflowStates])],
    'where the task or the workflow stands after it',
    'state=failed',
  ),
  words('outcome', outcomeKinds, 'how the attempt ended', 'outcome=lost'),
  field('exit', 'integer', 'exit status of the attempt that ended', 'exit=137'),
  field('worker', 'worker', 'the worker that it is about, or that has the attempt', 'worker=k3'),
  field('host', 'text', 'the machine of that worker', 'host=n1'),
  field('at', 'time', 'when it happened', 'at>-1h'),
] as const satisfies FieldTable;

export const filterTables = {
  tasks: taskFields,
  attempts: attemptFields,
  workers: workerFields,
  workflows: workflowFields,
  events: eventFields,
} as const;
export type FilteredList = keyof typeof filterTables;
