/** Rows, changes and batches to try stores with. */
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Change, TaskSeed } from '../core/change.ts';
import type { DirtyRows } from '../core/dirty-rows.ts';
import type { TaskRow } from '../core/task/columns.ts';
import type { WorkerRow } from '../core/worker.ts';
import type { WorkflowRow } from '../core/workflow/record.ts';
import { attemptId, taskId, workerId, workflowId } from '../model/ids.ts';
import type { TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import type { Batch, TaskDefinition } from './store.ts';
import type { TokenRow } from './token-row.ts';

type Contents = Omit<Partial<Batch>, 'rows'> & { readonly rows?: Partial<DirtyRows> };

export function batchOf({ rows, ...rest }: Contents): Batch {
  const none = { workflows: [], tasks: [], attempts: [], workers: [] };
  return { at: 1_000, changes: [], specs: [], definitions: [], output: [], ...rest, rows: { ...none, ...rows } };
}

export const w1 = workflowId(1);
export const k1 = workerId(1);
export const rules = {
  maxAttempts: 3,
  failFast: false,
  open: true,
  need: { queue: 'default', cpus: 1, memoryBytes: 100_000_000, runtimeMs: 1_000 },
};
export const command: TaskSeed = { kind: 'command' };

export const workflowRow = (id: number, changed: Partial<WorkflowRow> = {}): WorkflowRow => ({
  id: workflowId(id),
  rules,
  state: 'registering',
  open: true,
  stop: undefined,
  haltMode: undefined,
  run: 0,
  createdAt: 1_000,
  startedAt: 0,
  endedAt: 0,
  concurrency: undefined,
  attemptsBefore: 0,
  ...changed,
});

export const taskRow = (id: number, changed: Partial<TaskRow> = {}): TaskRow => ({
  id: taskId(id),
  state: 'queued',
  reason: 0,
  held: false,
  priority: 0,
  used: { attempts: 0, resources: 0, lost: 0, 'never-started': 0 },
  attemptNumber: 0,
  lastAttempt: 0,
  notBefore: 0,
  ...changed,
});

export const attemptRow = (id: number, task: number, changed: Partial<AttemptRow> = {}): AttemptRow => ({
  id: attemptId(id),
  task: taskId(task),
  number: 1,
  previous: 0,
  worker: k1,
  recordedAt: 1_000,
  startedAt: 0,
  endedAt: 0,
  outcome: undefined,
  usage: undefined,
  signalledFor: undefined,
  ...changed,
});

export const workerRow = (id: number, changed: Partial<WorkerRow> = {}): WorkerRow => ({
  id: workerId(id),
  kind: 'native',
  owner: undefined,
  shard: 'shard',
  lock: 'host:1',
  instance: 'instance',
  host: 'höst',
  slots: 8,
  capacity: { queue: 'default' },
  state: 'new',
  joinedAt: 1_000,
  goneFor: undefined,
  bar: undefined,
  silenceMs: 0,
  ...changed,
});

export const tokenRow = (id: number, changed: Partial<TokenRow> = {}): TokenRow => ({
  id,
  name: 'nïght',
  role: 'submit',
  hash: `hash of ${id}`,
  createdAt: 1_000,
  expiresAt: 2_000,
  revokedAt: undefined,
  ...changed,
});

export const spec: WorkflowSpec = {
  cwd: '/user',
  shell: '/bin/bash',
  env: { HOME: '/user', EMPTY: '', 'odd=\n"key"': 'line\nline\ttab "quoted" ünïcode 🐑', __proto__x: 'y' },
  maxAttempts: 3,
  terminationMs: 3_000,
  failFast: false,
  open: true,
};

export const added = (first: number, firstIndex: number, seeds: readonly TaskSeed[], workflow = w1): Change => ({
  type: 'tasks-added',
  workflow,
  first: taskId(first),
  firstIndex,
  seeds,
});

export const definition = (id: number, taskSpec: TaskSpec): TaskDefinition => ({
  id: taskId(id),
  workflow: w1,
  index: id,
  spec: taskSpec,
});

export const edges = (parents: [number, number], children: [number, number], after: 'success' | 'any' | 'failure') => ({
  parents: { from: taskId(parents[0]), to: taskId(parents[1]) },
  children: { from: taskId(children[0]), to: taskId(children[1]) },
  after,
});
