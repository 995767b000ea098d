/**
 * The controller's disk: a memory store that outlives controllers, whose commits take time, fail, and are torn.
 *
 * Owns: the content, every batch that was committed, what is durable by attempt and workflow.
 * 1. A batch is durable as a whole or not at all, whenever the controller dies.
 * 2. A commit that resolves is durable before anyone hears of it.
 * 3. A backup is a prefix of the batches.
 */
import type { OutputPacks } from '../src/controller/shell.ts';
import type { AttemptRow } from '../src/core/attempt/record.ts';
import type { WorkflowRow } from '../src/core/workflow/record.ts';
import { MemoryDisk } from '../src/store/memory/store.ts';
import type { Batch, Store } from '../src/store/store.ts';
import { memoryOutputPacks } from '../test/controller/memory-files.ts';
import type { Kernel } from './kernel.ts';
import type { Process } from './process.ts';
import type { Random } from './random.ts';

export type CommitFault =
  | { readonly type: 'slow'; readonly ms: number }
  | { readonly type: 'fails' }
  /** The controller dies: before all of it is written (a torn tail, which is dropped), or after, but before anyone is told. */
  | { readonly type: 'crash'; readonly isWritten: boolean };

export interface DiskWatcher {
  /** It is durable; what the disk tells by attempt and workflow is still as it was before. */
  onCommit(batch: Batch): void;
  /** Which fault strikes the next commit. */
  nextFault(): CommitFault | undefined;
  crash(why: string): void;
}

const commitMs = { least: 0.3, most: 6 } as const;
const generation = 'generation';

export class Disk {
  readonly #kernel: Kernel;
  readonly #random: Random;
  readonly packs: OutputPacks = memoryOutputPacks();
  readonly attempts = new Map<number, AttemptRow>();
  readonly workflows = new Map<number, WorkflowRow>();
  readonly sizes = new Map<number, number>();
  #memory = new MemoryDisk(generation);
  #batches: { readonly at: number; readonly batch: Batch }[] = [];
  watcher: DiskWatcher | undefined;
  lastAttempt = 0;

  constructor(kernel: Kernel, random: Random) {
    this.#kernel = kernel;
    this.#random = random;
  }

  /** Batches that were durable at a time. */
  commitsAt(time: number): number {
    return this.#batches.filter(({ at }) => at <= time).length;
  }

  /** Changes in its history. */
  get version(): number {
    return this.#batches.reduce((sum, { batch }) => sum + batch.changes.length, 0);
  }

  open(process: Process): Store {
    const store = this.#memory.open();
    return {
      epoch: store.epoch,
      generation: store.generation,
      commit: (batch) => this.#commit(store, process, batch),
      close: () => store.close(),
      lastChange: () => store.lastChange(),
      lastAttempt: () => store.lastAttempt(),
      workflowRows: () => store.workflowRows(),
      seedRuns: () => store.seedRuns(),
      edgeRows: () => store.edgeRows(),
      taskRows: () => store.taskRows(),
      adjustmentRows: () => store.adjustmentRows(),
      groupingRows: () => store.groupingRows(),
      limitRows: () => store.limitRows(),
      openAttempts: () => store.openAttempts(),
      workerRows: () => store.workerRows(),
      workflowSpec: (workflow) => store.workflowSpec(workflow),
      definitions: (tasks) => store.definitions(tasks),
      addedAt: (task) => store.addedAt(task),
      adjustmentsOf: (tasks) => store.adjustmentsOf(tasks),
      attempts: (ids) => store.attempts(ids),
      attemptsFrom: (after, limit, isDescending) => store.attemptsFrom(after, limit, isDescending),
      attemptsBack: (last) => store.attemptsBack(last),
      failedAttempts: (after, limit) => store.failedAttempts(after, limit),
      fingerprints: () => store.fingerprints(),
      tagsBetween: (from, to) => store.tagsBetween(from, to),
      outputPieces: (attempt) => store.outputPieces(attempt),
      usageSamples: (attempt) => store.usageSamples(attempt),
      outputEnd: () => store.outputEnd(),
      history: (after, limit) => store.history(after, limit),
      tokens: () => store.tokens(),
      answers: () => store.answers(),
      notices: () => store.notices(),
      workflowsNamed: (name) => store.workflowsNamed(name),
    };
  }

  /** Forgets what was committed after that many batches. */
  async restore(commits: number): Promise<void> {
    const kept = this.#batches.slice(0, commits);
    this.#memory = new MemoryDisk(generation);
    this.#batches = [];
    this.attempts.clear();
    this.workflows.clear();
    this.sizes.clear();
    this.lastAttempt = 0;
    const store = this.#memory.open();
    for (const { at, batch } of kept) {
      await store.commit(batch);
      this.#note(batch, at);
    }
  }

  #commit(store: Store, process: Process, batch: Batch): Promise<void> {
    const fault = this.watcher?.nextFault();
    const usual = this.#random.between(commitMs.least, commitMs.most);
    const ms = fault?.type === 'slow' ? fault.ms : usual;
    return new Promise((resolve, reject) => {
      this.#kernel.post(process, ms, 'commit', () => {
        if (fault?.type === 'fails') return reject(new Error('the disk is full, as the seed says'));
        if (fault?.type === 'crash' && !fault.isWritten) return this.watcher?.crash('during a commit, unwritten');
        store.commit(batch).then(() => {
          this.watcher?.onCommit(batch);
          this.#note(batch, this.#kernel.now);
          if (fault?.type === 'crash') this.watcher?.crash('between commit and perform');
          else resolve();
        }, reject);
      });
    });
  }

  #note(batch: Batch, at: number): void {
    this.#batches.push({ at, batch });
    for (const row of batch.rows.attempts) {
      this.attempts.set(row.id, row);
      this.lastAttempt = Math.max(this.lastAttempt, row.id);
    }
    for (const row of batch.rows.workflows) this.workflows.set(row.id, row);
    for (const { workflow, index } of batch.definitions) {
      this.sizes.set(workflow, Math.max(index, this.sizes.get(workflow) ?? 0));
    }
  }
}
