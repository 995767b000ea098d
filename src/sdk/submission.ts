/**
 * Registers a workflow from a stream of items of any length.
 *
 * Owns the batch being filled and the place of the last barrier; not the stream, which is read only as fast as the
 * controller takes it.
 * 1. Memory is bounded by one batch.
 * 2. Nothing runs unless the whole stream was read: tasks start with `close`, and a failure before it aborts.
 * 3. The workflow is registered with its first batch, so a short stream that fails leaves no trace.
 * 4. The controller hears something at least every `keepAliveMs`, else it would take the definer for dead.
 */
import { registrationIdleMs, submitTasksMax } from '../model/limits.ts';
import type { EdgeSpec, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import type { Comparison } from '../protocol/views/submissions.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from './client.ts';
import { IntakeNotes } from './intake-notes.ts';

/** Tasks after a barrier start when all before it have ended; with `check`, only when all of them succeeded. */
export type SubmissionItem =
  | {
      readonly command: string;
      readonly arrayIndex?: number;
      readonly name?: string;
      /** Why it need not run. */
      readonly skipped?: string;
    }
  | { readonly barrier: true; readonly check?: true };

export interface SubmitOptions {
  readonly spec: WorkflowSpec;
  readonly items: Iterable<SubmissionItem> | AsyncIterable<SubmissionItem>;
  /** Called after each batch with the number of tasks so far, barriers not counted. */
  readonly onProgress?: (tasks: number) => void;
  /** Called when all of it is there. */
  readonly onSubmitted?: (submission: Submission) => void;
  readonly signal?: AbortSignal;
}

/** What was submitted. */
export interface Submission {
  /** Barriers not counted. */
  readonly tasks: number;
  /** Of these: the submitter knew that they need not run. */
  readonly skipped: number;
  /** With an earlier workflow, where the new one is like it. */
  readonly comparison?: Comparison;
  /** Of tasks that nobody could run now, and of limits: one for each thing that is wrong. */
  readonly warnings: readonly string[];
}

const batchCharsMax = 1_000_000;
const keepAliveMs = registrationIdleMs / 3;

export async function submit(client: Client, options: SubmitOptions): Promise<WorkflowView> {
  const registration = new Registration(client, options.spec);
  const ticks = new Ticks();
  options.signal?.addEventListener('abort', ticks.fire, { once: true });
  try {
    for await (const item of withTicks(options.items, ticks)) {
      options.signal?.throwIfAborted();
      if (item !== tick) registration.add(item);
      const isDue = item === tick ? registration.hasBegun : registration.isFull;
      if (isDue) await registration.flush();
      if (isDue || item === tick) ticks.restart();
      if (isDue) options.onProgress?.(registration.tasks);
    }
    options.signal?.throwIfAborted();
    const view = await registration.close();
    options.onSubmitted?.(registration.result);
    return view;
  } catch (error) {
    await registration.abort();
    throw error;
  } finally {
    ticks.stop();
    options.signal?.removeEventListener('abort', ticks.fire);
  }
}

class Registration {
  /** Tasks so far, without barriers. */
  tasks = 0;
  private readonly client: Client;
  private readonly spec: WorkflowSpec;
  private skipped = 0;
  private id: string | undefined;
  private readonly notes = new IntakeNotes();
  private batch: TaskSpec[] = [];
  private edges: EdgeSpec[] = [];
  private batchChars = 0;
  private lastIndex = 0;
  private barrier: number | undefined;
  /** Index of the first task, or of the next one, since the last barrier. */
  private stageStart = 1;

  constructor(client: Client, spec: WorkflowSpec) {
    this.client = client;
    this.spec = spec;
  }

  get hasBegun(): boolean {
    return this.id !== undefined;
  }

  get isFull(): boolean {
    return this.batch.length >= submitTasksMax || this.batchChars >= batchCharsMax;
  }

  add(item: SubmissionItem): void {
    this.lastIndex += 1;
    if ('barrier' in item) {
      this.addBarrier(item.check === true);
      return;
    }
    this.batch.push(item);
    this.batchChars += item.command.length;
    this.tasks += 1;
    if (item.skipped !== undefined) this.skipped += 1;
  }

  async flush(): Promise<string> {
    const batch = this.takeBatch();
    this.id ??= (await this.client.register(this.spec)).id;
    this.notes.take(await this.client.extend(this.id, batch));
    return this.id;
  }

  /** What fits into one batch is registered and closed with it, in one request. */
  async close(): Promise<WorkflowView> {
    if (this.id !== undefined) return this.client.close(await this.flush());
    const { comparison, warnings, ...view } = await this.client.submitWhole(this.spec, this.takeBatch());
    this.notes.take({ ...(comparison && { comparison }), ...(warnings && { warnings }) });
    return view;
  }

  get result(): Submission {
    const { tasks, skipped } = this;
    return { tasks, skipped, ...this.notes.result };
  }

  private takeBatch(): TaskBatch {
    this.linkToBarrier(this.lastIndex);
    const { batch: tasks, edges } = this;
    this.batch = [];
    this.edges = [];
    this.batchChars = 0;
    return { tasks, edges };
  }

  /** What went wrong before is what the caller must hear of; an abort that fails too is made up for by the controller. */
  async abort(): Promise<void> {
    if (this.id !== undefined) await this.client.abort(this.id).catch(() => undefined);
  }

  private addBarrier(check: boolean): void {
    const index = this.lastIndex;
    this.linkToBarrier(index - 1);
    this.batch.push(check ? { check: true } : {});
    const children: EdgeSpec['children'] = [index, index];
    if (this.stageStart < index) this.edges.push({ parents: [this.stageStart, index - 1], children, after: 'any' });
    if (this.barrier !== undefined)
      this.edges.push({ parents: [this.barrier, this.barrier], children, after: 'success' });
    this.barrier = index;
    this.stageStart = index + 1;
  }

  /** The tasks of this batch up to `last`, as far as they come after the barrier, wait for it. */
  private linkToBarrier(last: number): void {
    const firstOfBatch = last - this.batch.length + 1;
    const from = Math.max(this.stageStart, firstOfBatch);
    if (this.barrier === undefined || from > last) return;
    this.edges.push({ parents: [this.barrier, this.barrier], children: [from, last], after: 'success' });
  }
}

const tick = Symbol('tick');

/** Tells when to look up from a silent source. One timer lasts from batch to batch. */
class Ticks {
  private isDue = false;
  private onFire: (() => void) | undefined;
  private timer = setTimeout(() => this.fire(), keepAliveMs);

  readonly fire = (): void => {
    this.isDue = true;
    this.onFire?.();
  };

  /** A promise of its own for each wait: one that lasts would keep all that ever waited for it. */
  orSooner<T>(awaited: Promise<T>): Promise<T | typeof tick> {
    if (this.isDue) {
      // A failure that comes meanwhile is met by the next wait, if there is one, not by the process.
      awaited.catch(() => undefined);
      return Promise.resolve(tick);
    }
    return new Promise((resolve, reject) => {
      this.onFire = () => resolve(tick);
      awaited.then(resolve, reject);
    });
  }

  restart(): void {
    this.stop();
    this.isDue = false;
    this.timer = setTimeout(this.fire, keepAliveMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** Yields the items, and a tick when one is due while the source is silent. */
async function* withTicks<Item>(
  source: Iterable<Item> | AsyncIterable<Item>,
  ticks: Ticks,
): AsyncGenerator<Item | typeof tick, void> {
  if (!(Symbol.asyncIterator in source)) {
    yield* source;
    return;
  }
  const iterator = source[Symbol.asyncIterator]();
  try {
    let next: Promise<IteratorResult<Item>> | undefined;
    for (;;) {
      next ??= iterator.next();
      const result = await ticks.orSooner(next);
      if (result !== tick) {
        next = undefined;
        if (result.done === true) return;
      }
      yield result === tick ? tick : result.value;
    }
  } finally {
    // Not awaited: a source that is waiting for its own input would answer only after that.
    iterator.return?.().catch(() => undefined);
  }
}
