/** The API of a controller, typed. Owns no state: any number of clients may talk to one controller. */
import type { HaltMode, TaskState } from '../model/states.ts';
import type { TokenRole } from '../model/tokens.ts';
import type { TaskBatch, WorkflowSpec } from '../protocol/spec.ts';
import {
  type Comparison,
  type FailureList,
  type NewTokenView,
  outputHeaders,
  type RetryResult,
  type ServerView,
  type TaskDetail,
  type TaskList,
  type TaskView,
  type TokenList,
  type WorkerList,
  type WorkerView,
  type WorkflowList,
  type WorkflowView,
} from '../protocol/views.ts';
import { type Access, type Patience, parseJson, Transport } from './transport.ts';

export interface Extended {
  readonly firstIndex: number;
  readonly count: number;
  /** Where the workflow is like an earlier one. */
  readonly comparison?: Comparison;
}

export interface OutputQuery {
  readonly stream: 'stdout' | 'stderr';
  /** The last attempt when absent. */
  readonly attempt?: number;
  /** Wait for what is yet to be written, until the attempt has ended. */
  readonly follow?: boolean;
  /** Told of bytes that are lost: their worker ended before the controller had them, or their file is gone. */
  readonly onMissing?: (bytes: number) => void;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** How long one read that follows output waits for more. */
const followWaitMs = 10_000;

export class Client {
  private readonly transport: Transport;

  constructor(access: Access, patience?: Patience) {
    this.transport = new Transport(access, patience);
  }

  /** Asked once, without retries: this is how one finds out whether a controller is there. */
  async server(): Promise<ServerView> {
    const { body } = await this.transport.probe(path('server', {}));
    return parseJson(body) as ServerView;
  }

  /** Also asked once: work will follow, so a host that is about to end waits until `leave`, or refuses now. */
  async announce(): Promise<ServerView> {
    const { body } = await this.transport.post(path('server/announce', {}));
    return parseJson(body) as ServerView;
  }

  /** What was announced is over. */
  async leave(): Promise<void> {
    await this.transport.post(path('server/leave', {}));
  }

  /** From now on `loopDelayMs` of `server()` covers what comes after this. For all who ask, so use it for measurements. */
  restartLoopDelay(): Promise<ServerView> {
    return this.change('server/loop-delay');
  }

  /** Ends the controller; workers and what they run stay, for the next one. */
  stopServer(): Promise<ServerView> {
    return this.change('server/stop');
  }

  workers(all = false): Promise<WorkerList> {
    return this.read('workers', all ? { all: 'true' } : {});
  }

  drainWorker(worker: string): Promise<WorkerView> {
    return this.change(`workers/${worker}/drain`);
  }

  releaseWorker(worker: string): Promise<WorkerView> {
    return this.change(`workers/${worker}/release`);
  }

  /** When it has ended what it runs; with `now`, at once: what it runs is lost, and tried elsewhere. */
  stopWorker(worker: string, now: boolean): Promise<WorkerView> {
    return this.change(`workers/${worker}/stop`, { now });
  }

  resizeWorker(worker: string, slots: number): Promise<WorkerView> {
    return this.change(`workers/${worker}/slots`, { slots });
  }

  /** The token itself is in this answer only. Without `expiresInMs` it is valid until it is revoked. */
  addToken(token: {
    readonly role: TokenRole;
    readonly name?: string;
    readonly expiresInMs?: number;
  }): Promise<NewTokenView> {
    return this.change('tokens', token);
  }

  tokens(): Promise<TokenList> {
    return this.read('tokens', {});
  }

  /** From now on it opens nothing; what was opened with it is closed. */
  async revokeToken(token: string): Promise<void> {
    await this.transport.delete(path(`tokens/${token}`, {}));
  }

  /** Tries all failed tasks of a workflow again. */
  retryFailed(workflow: string): Promise<RetryResult> {
    return this.change(`workflows/${workflow}/retry`);
  }

  retryTask(task: string): Promise<TaskView> {
    return this.change(`tasks/${task}/retry`);
  }

  /** Tasks are then added in batches; none starts before `close`. */
  register(spec: WorkflowSpec): Promise<{ readonly id: string }> {
    return this.make('workflows', { spec });
  }

  /** A workflow that one batch holds: registered, filled and closed at once. */
  submitWhole(spec: WorkflowSpec, batch: TaskBatch): Promise<WorkflowView & { readonly comparison?: Comparison }> {
    return this.make('workflows', { spec, batch });
  }

  extend(workflow: string, batch: TaskBatch): Promise<Extended> {
    return this.make(`workflows/${workflow}/tasks`, batch);
  }

  close(workflow: string): Promise<WorkflowView> {
    return this.make(`workflows/${workflow}/close`, {});
  }

  abort(workflow: string): Promise<WorkflowView> {
    return this.change(`workflows/${workflow}/abort`);
  }

  cancel(workflow: string): Promise<WorkflowView> {
    return this.change(`workflows/${workflow}/cancel`);
  }

  halt(workflow: string, mode: HaltMode): Promise<WorkflowView> {
    return this.change(`workflows/${workflow}/halt`, { mode });
  }

  resume(workflow: string, how: 'hot' | 'cold'): Promise<WorkflowView> {
    return this.change(`workflows/${workflow}/resume`, { how });
  }

  /** Newest first. */
  workflows(page: { readonly limit?: number; readonly before?: string } = {}): Promise<WorkflowList> {
    return this.read('workflows', page);
  }

  /** With `after`, waits up to `waitMs` for a version beyond it, unless the workflow has ended. */
  workflow(workflow: string, wait: { readonly after?: number; readonly waitMs?: number } = {}): Promise<WorkflowView> {
    return this.read(`workflows/${workflow}`, wait, wait.waitMs);
  }

  tasks(
    workflow: string,
    page: { readonly states?: readonly TaskState[]; readonly after?: number; readonly limit?: number } = {},
  ): Promise<TaskList> {
    const { states, ...rest } = page;
    return this.read(`workflows/${workflow}/tasks`, { ...rest, state: states?.join(',') });
  }

  failures(workflow: string): Promise<FailureList> {
    return this.read(`workflows/${workflow}/failures`, {});
  }

  task(task: string): Promise<TaskDetail> {
    return this.read(`tasks/${task}`, {});
  }

  cancelTask(task: string): Promise<TaskView> {
    return this.change(`tasks/${task}/cancel`);
  }

  /** Keeps a task from being started until it is released. */
  holdTask(task: string): Promise<TaskView> {
    return this.change(`tasks/${task}/hold`);
  }

  releaseTask(task: string): Promise<TaskView> {
    return this.change(`tasks/${task}/release`);
  }

  setPriority(task: string, priority: number): Promise<TaskView> {
    return this.change(`tasks/${task}/priority`, { priority });
  }

  /** The bytes as the task wrote them, piece by piece: what is there now or, with `follow`, all until its end. */
  async *output(
    task: string,
    { stream, attempt, follow = false, onMissing }: OutputQuery,
  ): AsyncGenerator<Uint8Array, void> {
    const waitMs = follow ? followWaitMs : 0;
    let offset = 0;
    // Once the first answer has named the attempt it is held on to, so that a retry can't splice two outputs.
    let number = attempt;
    let missing = 0;
    const tellMissing = (): void => {
      if (missing > 0) onMissing?.(missing);
      missing = 0;
    };
    for (;;) {
      const query = { stream, attempt: number, offset, waitMs: follow ? waitMs : undefined };
      const { headers, body } = await this.transport.get(path(`tasks/${task}/output`, query), waitMs);
      const next = Number(headers.get(outputHeaders.nextOffset) ?? offset + body.length);
      missing += next - offset - body.length;
      const isStuck = next === offset && !follow;
      const isOver = headers.get(outputHeaders.isComplete) === 'true' || isStuck;
      if (body.length > 0 || isOver) tellMissing();
      if (body.length > 0) yield body;
      if (isOver) return;
      offset = next;
      number ??= Number(headers.get(outputHeaders.attempt)) || undefined;
    }
  }

  private async read<View>(route: string, query: Query, waitMs?: number): Promise<View> {
    const { body } = await this.transport.get(path(route, query), waitMs);
    return parseJson(body) as View;
  }

  /** A change that is made once, however often it has to be asked for. */
  private async make<View>(route: string, content: unknown): Promise<View> {
    const { body } = await this.transport.postOnce(path(route, {}), content);
    return parseJson(body) as View;
  }

  private async change<View>(route: string, content?: unknown): Promise<View> {
    const { body } = await this.transport.post(path(route, {}), content);
    return parseJson(body) as View;
  }
}

function path(route: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `/api/v1/${route}${search.size === 0 ? '' : `?${search}`}`;
}
