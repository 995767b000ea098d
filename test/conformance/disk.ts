/** What a controller has made durable, kept so that another one, or the same at another time, can begin from it. */
import type { AttemptRow } from '../../src/core/attempt/record.ts';
import type { Change } from '../../src/core/change.ts';
import { Cluster } from '../../src/core/cluster.ts';
import type { TaskRow } from '../../src/core/task/columns.ts';
import type { WorkerRow } from '../../src/core/worker.ts';
import type { WorkflowRow } from '../../src/core/workflow/record.ts';
import type { Batch, TaskDefinition } from '../../src/store/store.ts';

type TasksAdded = Extract<Change, { readonly type: 'tasks-added' }>;

/** Like the store in memory (src/store/memory), but synchronous, and it can be copied: a backup. */
export class Disk {
  generation: string;
  #workflows = new Map<number, WorkflowRow>();
  #tasks = new Map<number, TaskRow>();
  #attempts = new Map<number, AttemptRow>();
  #workers = new Map<number, WorkerRow>();
  #added: TasksAdded[] = [];
  readonly definitions = new Map<number, TaskDefinition>();
  /** In its history. */
  changes = 0;

  constructor(generation: string) {
    this.generation = generation;
  }

  commit(batch: Batch): void {
    const { rows, changes, definitions, generation = this.generation } = structuredClone(batch);
    this.generation = generation;
    this.changes += changes.length;
    for (const row of rows.workflows) this.#workflows.set(row.id, row);
    for (const row of rows.tasks) this.#tasks.set(row.id, row);
    for (const row of rows.attempts) this.#attempts.set(row.id, row);
    for (const row of rows.workers) this.#workers.set(row.id, row);
    for (const definition of definitions) this.definitions.set(definition.id, definition);
    for (const change of changes) if (change.type === 'tasks-added') this.#added.push(change);
  }

  load(now: number): Cluster {
    const cluster = new Cluster();
    const loading = cluster.load();
    for (const row of structuredClone([...this.#workflows.values()])) loading.workflow(row, now);
    for (const change of this.#added) loading.tasks(change);
    for (const row of structuredClone([...this.#tasks.values()])) loading.taskRow(row);
    for (const row of structuredClone([...this.#workers.values()])) loading.worker(row, now);
    const attempts = structuredClone([...this.#attempts.values()]);
    for (const row of attempts) if (row.outcome === undefined || row.outcome.kind === 'lost') loading.attempt(row);
    cluster.skipAttempts(Math.max(0, ...this.#attempts.keys()));
    loading.finish();
    return cluster;
  }

  copy(): Disk {
    const copy = new Disk(this.generation);
    copy.#workflows = new Map(this.#workflows);
    copy.#tasks = new Map(this.#tasks);
    copy.#attempts = new Map(this.#attempts);
    copy.#workers = new Map(this.#workers);
    copy.#added = [...this.#added];
    copy.changes = this.changes;
    for (const [id, definition] of this.definitions) copy.definitions.set(id, definition);
    return copy;
  }
}
