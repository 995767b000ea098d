/** What Drover itself says in the end: read through its API and its logs, to be held against what happened outside. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskDetail } from '../../src/protocol/views/tasks.ts';
import type { WorkflowView } from '../../src/protocol/views/workflows.ts';
import type { Client } from '../../src/sdk/client.ts';

export interface Records {
  readonly workflows: readonly RecordedWorkflow[];
  /** The process of each worker, by its id. */
  readonly workerPids: ReadonlyMap<string, number>;
}

export interface RecordedWorkflow {
  readonly view: WorkflowView;
  readonly tasks: readonly RecordedTask[];
}

export interface RecordedTask extends TaskDetail {
  /** Of its last attempt. */
  readonly stdout: string;
}

export async function readRecords(client: Client, folder: string): Promise<Records> {
  const workflows: RecordedWorkflow[] = [];
  for (const view of await listWorkflows(client)) workflows.push({ view, tasks: await readTasks(client, view.id) });
  return { workflows, workerPids: await readWorkerPids(client, folder) };
}

export const listWorkflows = (client: Client): Promise<WorkflowView[]> => Array.fromAsync(client.eachWorkflow());

/** A workflow here has fewer tasks than a page. */
async function readTasks(client: Client, workflow: string): Promise<RecordedTask[]> {
  const { tasks } = await client.tasksOf(workflow, { limit: 1_000 });
  const read = async (id: string): Promise<RecordedTask> => {
    const detail = await client.task(id);
    return { ...detail, stdout: detail.attempts === 0 ? '' : await readOutput(client, id) };
  };
  return Promise.all(tasks.map(({ id }) => read(id)));
}

async function readOutput(client: Client, task: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of client.output(task, { stream: 'stdout' })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** A worker's lock is held by one process at a time: the one that had said last that it is ready when the worker joined. */
async function readWorkerPids(client: Client, folder: string): Promise<Map<string, number>> {
  const ready = globSync(['.drover/workers/*.log', 'state/**/*.log'], { cwd: folder })
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').split('\n'))
    .filter((line) => line.includes('"the worker is ready"'))
    .map((line) => JSON.parse(line) as { time: string; pid: number; directory: string });
  const pids = new Map<string, number>();
  for (const { id, shard, joinedAt } of await Array.fromAsync(client.eachWorker({ all: true }))) {
    const holder = ready.findLast(({ time, directory }) => shard.endsWith(directory) && time <= joinedAt);
    if (holder !== undefined) pids.set(id, holder.pid);
  }
  return pids;
}
