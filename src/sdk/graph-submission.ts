/**
 * Registers a workflow whose tasks and edges are at hand, in as many batches as it takes. Nothing runs unless all of it
 * was taken: tasks start with `close`, and a failure before it aborts.
 */
import { DroverError } from '../model/errors.ts';
import { submitEdgesMax, submitTasksMax } from '../model/limits.ts';
import type { EdgeSpec, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from './client.ts';

export interface GraphSubmission {
  readonly spec: WorkflowSpec;
  /** Parents before their children. */
  readonly tasks: readonly TaskSpec[];
  /** By the indices of tasks, from 1, in the order of their first child. */
  readonly edges: readonly EdgeSpec[];
  readonly signal?: AbortSignal;
}

const batchCharsMax = 1_000_000;

export async function submitGraph(
  client: Client,
  { spec, tasks, edges, signal }: GraphSubmission,
): Promise<WorkflowView> {
  const batches = [...batchesOf(tasks, edges)];
  const [first] = batches;
  signal?.throwIfAborted();
  if (first === undefined) return client.submitWhole(spec, { tasks: [], edges: [] });
  if (batches.length === 1) return client.submitWhole(spec, first);
  const { id } = await client.register(spec);
  try {
    for (const batch of batches) {
      signal?.throwIfAborted();
      await client.extend(id, batch);
    }
    signal?.throwIfAborted();
  } catch (error) {
    // What went wrong before is what the caller must hear of; the controller gives up what nobody closes.
    await client.abort(id).catch(() => undefined);
    throw error;
  }
  return client.close(id);
}

/** An edge goes with its children; one to a range of them is cut where a batch ends. */
function* batchesOf(tasks: readonly TaskSpec[], edges: readonly EdgeSpec[]): Generator<TaskBatch> {
  const byChild = Map.groupBy(edges, ({ children: [from] }) => from);
  let batch: TaskBatch = { tasks: [], edges: [] };
  let chars = 0;
  /** Ranges of children that reach beyond the last task. */
  let reaching: EdgeSpec[] = [];
  for (const [at, task] of tasks.entries()) {
    const index = at + 1;
    const own = byChild.get(index) ?? [];
    if (own.length > submitEdgesMax) {
      throw new DroverError('too-large', `task ${index} waits for tasks in more than ${submitEdgesMax} places`, {
        hint: 'let it wait for joins, each of some of them',
      });
    }
    const isFull =
      batch.tasks.length >= submitTasksMax ||
      batch.edges.length + own.length + reaching.length > submitEdgesMax ||
      chars >= batchCharsMax;
    if (isFull) {
      yield { tasks: batch.tasks, edges: batch.edges.map((edge) => upTo(edge, index - 1)) };
      batch = { tasks: [], edges: reaching.map((edge) => from(edge, index)) };
      chars = 0;
    }
    batch.tasks.push(task);
    batch.edges.push(...own);
    chars += task.command?.length ?? 0;
    reaching = [...reaching, ...own].filter(({ children: [, last] }) => last > index);
  }
  if (batch.tasks.length > 0) yield batch;
}

const upTo = (edge: EdgeSpec, last: number): EdgeSpec => ({
  ...edge,
  children: [edge.children[0], Math.min(edge.children[1], last)],
});

const from = (edge: EdgeSpec, first: number): EdgeSpec => ({
  ...edge,
  children: [Math.max(edge.children[0], first), edge.children[1]],
});
