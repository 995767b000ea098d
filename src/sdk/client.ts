/**
 * The API of a controller, typed. Owns no state: any number of clients may talk to one controller.
 * A method is a request; what takes several, or a stream, has a file of its own. They stand by what they are about: the
 * controller itself, workers, tokens, submitting, workflows, tasks, attempts, resources, limits, what explains, events, output.
 */
import type { EdgeKind, HaltMode } from '../model/states.ts';
import type { TokenRole } from '../model/tokens.ts';
import type { AvailableField, AvailableList, ExecutionHistory, ExecutionInfo } from '../protocol/http-worker.ts';
import type { EdgeSpec, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import type { AttemptList, AttemptView } from '../protocol/views/attempts.ts';
import type { EventList, EventView } from '../protocol/views/events.ts';
import type { ConcurrencyView, LimitList, LimitView } from '../protocol/views/limits.ts';
import type { NotificationList } from '../protocol/views/notifications.ts';
import type { SearchEnd, SearchLine } from '../protocol/views/output.ts';
import type { ResourceList, TaskResources } from '../protocol/views/resources.ts';
import type { ServerView } from '../protocol/views/server.ts';
import type { FailureList, StatisticsView } from '../protocol/views/statistics.ts';
import type { Difference, Submitted } from '../protocol/views/submissions.ts';
import type { BulkResult, EdgeList, TaskDetail, TaskList, TaskView } from '../protocol/views/tasks.ts';
import type { NewTokenView, TokenList } from '../protocol/views/tokens.ts';
import type { TaskWhyView, WorkflowWhyView } from '../protocol/views/why.ts';
import type { WorkerList, WorkerView } from '../protocol/views/workers.ts';
import type {
  ResetResult,
  RetryResult,
  WorkflowList,
  WorkflowSurroundings,
  WorkflowView,
} from '../protocol/views/workflows.ts';
import { type BulkOptions, type BulkVerb, type ConcurrencyPatch, setConcurrency, steerTasks } from './bulk.ts';
import { type EventStreamOptions, eventStream } from './event-stream.ts';
import { type OutputQuery, outputOf, type SearchOptions, searchLines, searchPieces } from './output.ts';
import { type EventOptions, type PageOptions, pageQuery, rowsOf, withCursor } from './pages.ts';
import { apiPath, type Query } from './paths.ts';
import type { DefinitionRequest, Extended, StatisticsOptions, WorkflowWait } from './requests.ts';
import { type Access, type Patience, parseJson, Transport } from './transport.ts';
import { type UsageOverTime, usageIn } from './usage-series.ts';

export class Client {
  private readonly transport: Transport;

  constructor(access: Access, patience?: Patience) {
    this.transport = new Transport(access, patience);
  }

  /** Asked once, without retries: this is how one finds out whether a controller is there. */
  async server(): Promise<ServerView> {
    const { body } = await this.transport.probe(apiPath('server'));
    return parseJson(body) as ServerView;
  }

  /** Also asked once: work will follow, so a host that is about to end waits until `leave`, or refuses now. */
  async announce(): Promise<ServerView> {
    const { body } = await this.transport.post(apiPath('server/announce'));
    return parseJson(body) as ServerView;
  }

  /** What was announced is over. */
  async leave(): Promise<void> {
    await this.transport.post(apiPath('server/leave'));
  }

  /** From now on `loopDelayMs` of `server()` covers what comes after this. For all who ask, so use it for measurements. */
  restartLoopDelay(): Promise<ServerView> {
    return this.change('server/loop-delay');
  }

  /** Ends the controller; workers and what they run stay, for the next one. */
  stopServer(): Promise<ServerView> {
    return this.change('server/stop');
  }

  /** Those that are gone only with `all`, or where the filter names them. */
  workers({ all = false, ...page }: PageOptions & { readonly all?: boolean } = {}): Promise<WorkerList> {
    return this.read('workers', { ...pageQuery(page), all: all ? 'true' : undefined });
  }

  eachWorker(options: PageOptions & { readonly all?: boolean } = {}): AsyncGenerator<WorkerView, void> {
    return rowsOf(
      (cursor) => this.workers(withCursor(options, cursor)),
      ({ workers }) => workers,
    );
  }

  worker(worker: string): Promise<WorkerView> {
    return this.read(`workers/${worker}`, {});
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
    await this.transport.delete(apiPath(`tokens/${token}`));
  }

  /**
   * Tasks are then added in batches; none starts before `close`. One with a `graph` that is there already, by its name and
   * arguments, is `known` and takes none, unless the new one `replaces` it.
   */
  register(spec: WorkflowSpec, replaces?: boolean): Promise<{ readonly id: string; readonly known?: true }> {
    return this.make('workflows', { spec, ...(replaces ? { replaces } : {}) });
  }

  /** A workflow that one batch holds: registered, filled and closed at once. */
  submitWhole(
    spec: WorkflowSpec,
    batch: TaskBatch,
    replaces?: boolean,
  ): Promise<WorkflowView & Omit<Extended, 'firstIndex' | 'count'> & { readonly known?: true }> {
    return this.make('workflows', { spec, batch, ...(replaces ? { replaces } : {}) });
  }

  /** A definition that the controller compiles. */
  define(request: DefinitionRequest): Promise<Submitted> {
    return this.change('definitions', request);
  }

  /** What a definition and a workflow differ in; undefined where there is too much of either to say. */
  async difference(workflow: string, request: DefinitionRequest): Promise<Difference | undefined> {
    const answer = await this.change<{ readonly difference?: Difference }>(`workflows/${workflow}/difference`, request);
    return answer.difference;
  }

  /** Batches are taken in their order: one that is given while another is `before` it is encoded at once, and sent then. */
  extend(workflow: string, batch: TaskBatch, before?: Promise<unknown>): Promise<Extended> {
    return this.make(`workflows/${workflow}/tasks`, batch, before);
  }

  /**
   * The same as a stream, of any length that a minute suffices for. Indices of edges count all tasks of the workflow; an
   * edge comes before its first child, or directly after it. A refusal has `details.line`, and `details.nextIndex` from
   * where to go on.
   */
  async extendByLines(
    workflow: string,
    lines: AsyncIterable<TaskSpec | EdgeSpec> | Iterable<TaskSpec | EdgeSpec>,
  ): Promise<{ readonly firstIndex: number; readonly count: number; readonly lines: number }> {
    const { body } = await this.transport.postLines(apiPath(`workflows/${workflow}/tasks`), lines);
    return parseJson(body) as { firstIndex: number; count: number; lines: number };
  }

  /** A whole workflow as a stream: registered, filled and closed; or, where a line is refused, aborted. */
  async submitByLines(
    spec: WorkflowSpec,
    lines: AsyncIterable<TaskSpec | EdgeSpec> | Iterable<TaskSpec | EdgeSpec>,
  ): Promise<WorkflowView> {
    async function* all(): AsyncGenerator<unknown, void> {
      yield spec;
      yield* lines;
    }
    const { body } = await this.transport.postLines(apiPath('workflows'), all());
    return parseJson(body) as WorkflowView;
  }

  close(workflow: string): Promise<WorkflowView> {
    return this.make(`workflows/${workflow}/close`, {});
  }

  abort(workflow: string): Promise<WorkflowView> {
    return this.change(`workflows/${workflow}/abort`);
  }

  /** Newest first. */
  workflows(page: PageOptions = {}): Promise<WorkflowList> {
    return this.read('workflows', pageQuery(page));
  }

  /** All of them, read page by page. Of a page `limit` is the size; the other lists have the same. */
  eachWorkflow(options: PageOptions = {}): AsyncGenerator<WorkflowView, void> {
    return rowsOf(
      (cursor) => this.workflows(withCursor(options, cursor)),
      ({ workflows }) => workflows,
    );
  }

  /** With `after`, waits up to `waitMs` for a version beyond it, or for the end. */
  workflow(workflow: string, wait: WorkflowWait = {}): Promise<WorkflowView> {
    return this.read(`workflows/${workflow}`, { ...wait }, wait.waitMs);
  }

  /** Where and how its tasks run. */
  surroundings(workflow: string): Promise<WorkflowSurroundings> {
    return this.read(`workflows/${workflow}/surroundings`, {});
  }

  /** Whom it tells what, and how far that has come. */
  notifications(workflow: string): Promise<NotificationList> {
    return this.read(`workflows/${workflow}/notifications`, {});
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

  /** What is not done begins anew, or with `all` all of it, when it is resumed. Only of one that has no live run. */
  reset(workflow: string, all = false): Promise<ResetResult> {
    return this.change(`workflows/${workflow}/reset`, { all });
  }

  /** Tries all failed tasks of a workflow again. */
  retryFailed(workflow: string): Promise<RetryResult> {
    return this.change(`workflows/${workflow}/retry`);
  }

  /** Of all workflows. */
  tasks(page: PageOptions = {}): Promise<TaskList> {
    return this.read('tasks', pageQuery(page));
  }

  tasksOf(workflow: string, page: PageOptions = {}): Promise<TaskList> {
    return this.read(`workflows/${workflow}/tasks`, pageQuery(page));
  }

  eachTask(options: PageOptions = {}): AsyncGenerator<TaskView, void> {
    return rowsOf(
      (cursor) => this.tasks(withCursor(options, cursor)),
      ({ tasks }) => tasks,
    );
  }

  task(task: string): Promise<TaskDetail> {
    return this.read(`tasks/${task}`, {});
  }

  /** What waits for what, by the indices of tasks: a row is a single task and a range of others. */
  edges(workflow: string, page: Pick<PageOptions, 'limit' | 'cursor'> = {}): Promise<EdgeList> {
    return this.read(`workflows/${workflow}/edges`, pageQuery(page));
  }

  eachEdge(workflow: string, page: Pick<PageOptions, 'limit'> = {}): AsyncGenerator<EdgeSpec, void> {
    return rowsOf(
      (cursor) => this.edges(workflow, withCursor(page, cursor)),
      ({ edges }) => edges,
    );
  }

  /** Tasks that could be claimed now, with what is asked for; by default what a worker needs to choose. */
  availableTasks(
    page: { readonly limit?: number; readonly fields?: readonly AvailableField[] } = {},
  ): Promise<AvailableList> {
    return this.read('tasks/available', { limit: page.limit, fields: page.fields?.join(',') });
  }

  cancelTask(task: string): Promise<TaskDetail> {
    return this.change(`tasks/${task}/cancel`);
  }

  retryTask(task: string): Promise<TaskDetail> {
    return this.change(`tasks/${task}/retry`);
  }

  /** Keeps a task from being started until it is released. */
  holdTask(task: string): Promise<TaskDetail> {
    return this.change(`tasks/${task}/hold`);
  }

  releaseTask(task: string): Promise<TaskDetail> {
    return this.change(`tasks/${task}/release`);
  }

  setPriority(task: string, priority: number): Promise<TaskDetail> {
    return this.change(`tasks/${task}/priority`, { priority });
  }

  /**
   * The same to all tasks that match, or with `dryRun` how many that would be. However many there are: the controller
   * does some with each answer, and what was done stays done if one of them does not come.
   */
  steerTasks(verb: BulkVerb, options: BulkOptions): Promise<BulkResult> {
    return steerTasks(this.transport, verb, options);
  }

  /** From now on these wait for the task, unless one of them no longer waits at all: then nothing is changed. */
  addContinuations(task: string, continuations: readonly string[], after: EdgeKind = 'success'): Promise<TaskDetail> {
    return this.change(`tasks/${task}/add_continuations`, { continuations, after });
  }

  removeContinuations(task: string, continuations: readonly string[]): Promise<TaskDetail> {
    return this.change(`tasks/${task}/remove_continuations`, { continuations });
  }

  attempts(page: PageOptions = {}): Promise<AttemptList> {
    return this.read('attempts', pageQuery(page));
  }

  eachAttempt(options: PageOptions = {}): AsyncGenerator<AttemptView, void> {
    return rowsOf(
      (cursor) => this.attempts(withCursor(options, cursor)),
      ({ attempts }) => attempts,
    );
  }

  /** How the last attempt goes, or another one. */
  executionInfo(task: string, attempt?: number): Promise<ExecutionInfo> {
    return this.read(`tasks/${task}/execution_info`, { attempt });
  }

  /** How all attempts go. */
  currentHistory(task: string): Promise<ExecutionHistory> {
    return this.read(`tasks/${task}/current_history`, {});
  }

  /** What the last attempt used over time, or another one. */
  async usage(task: string, attempt?: number): Promise<UsageOverTime> {
    return usageIn(await this.executionInfo(task, attempt));
  }

  /** What it asked for, what that came to, how it was raised, and what its attempts used. */
  taskResources(task: string): Promise<TaskResources> {
    return this.read(`tasks/${task}/resources`, {});
  }

  /** The same for all tasks of a workflow. */
  workflowResources(workflow: string, page: PageOptions = {}): Promise<ResourceList> {
    return this.read(`workflows/${workflow}/resources`, pageQuery(page));
  }

  eachResources(workflow: string, options: PageOptions = {}): AsyncGenerator<TaskResources, void> {
    return rowsOf(
      (cursor) => this.workflowResources(workflow, withCursor(options, cursor)),
      ({ tasks }) => tasks,
    );
  }

  /** Of what all workflows share. */
  limits(): Promise<LimitList> {
    return this.read('limits', {});
  }

  limit(name: string): Promise<LimitView> {
    return this.read(`limits/${encodeURIComponent(name)}`, {});
  }

  async setLimit(name: string, max: number): Promise<LimitView> {
    const { body } = await this.transport.repeat('PUT', apiPath(`limits/${encodeURIComponent(name)}`), { max });
    return parseJson(body) as LimitView;
  }

  async liftLimit(name: string): Promise<LimitView> {
    const { body } = await this.transport.delete(apiPath(`limits/${encodeURIComponent(name)}`));
    return parseJson(body) as LimitView;
  }

  /** How many tasks run at a time. However many tasks a limit on a tag concerns: the controller does some with each answer. */
  setConcurrency(workflow: string, patch: ConcurrencyPatch): Promise<ConcurrencyView> {
    return setConcurrency(this.transport, workflow, patch);
  }

  /** What a task waits for, or how it ended; with `root`, what is behind that. */
  why(task: string): Promise<TaskWhyView> {
    return this.read(`tasks/${task}/why`, {});
  }

  /** The tasks of a workflow that have not ended, by what they wait for. */
  whyOf(workflow: string): Promise<WorkflowWhyView> {
    return this.read(`workflows/${workflow}/why`, {});
  }

  /** Failed tasks in groups, the largest first; with `by: 'host'`, told apart by where they ran, too. */
  failures(workflow: string, options: { readonly by?: 'host' } = {}): Promise<FailureList> {
    return this.read(`workflows/${workflow}/failures`, options);
  }

  /** Of all workflows, or of the tasks that `where` lets through. */
  statistics(options: StatisticsOptions = {}): Promise<StatisticsView> {
    return this.read('statistics', { ...options }, options.waitMs);
  }

  statisticsOf(workflow: string, options: StatisticsOptions = {}): Promise<StatisticsView> {
    return this.read(`workflows/${workflow}/statistics`, { ...options }, options.waitMs);
  }

  /** What happens, and with `after` what has happened before: without an end, over connections that come and go. */
  events(options: EventStreamOptions = {}): AsyncGenerator<EventView, void> {
    return eventStream(this.transport, options);
  }

  /** The history beyond the cursor; with `waitMs`, waits as long for something to happen. */
  eventPage(options: EventOptions = {}): Promise<EventList> {
    return this.read('events', { ...options }, options.waitMs);
  }

  /** The bytes as the task wrote them, piece by piece: what is there now or, with `follow`, all until its end. */
  output(task: string, query: OutputQuery): AsyncGenerator<Uint8Array, void> {
    return outputOf(this.transport, task, query);
  }

  /** Lines of the output of tasks that match, in the order of the tasks; at the end how much was looked at. */
  searchOutput(options: SearchOptions): AsyncGenerator<SearchLine, SearchEnd> {
    return searchLines(this.transport, options);
  }

  /** The same, those that come together at a time: where many match, to print each by itself takes longer than to find it. */
  searchOutputPieces(options: SearchOptions): AsyncGenerator<readonly SearchLine[], SearchEnd> {
    return searchPieces(this.transport, options);
  }

  private async read<View>(route: string, query: Query, waitMs?: number): Promise<View> {
    const { body } = await this.transport.get(apiPath(route, query), waitMs);
    return parseJson(body) as View;
  }

  /** A change that is made once, however often it has to be asked for. */
  private async make<View>(route: string, content: unknown, before?: Promise<unknown>): Promise<View> {
    const { body } = await this.transport.postOnce(apiPath(route), content, before);
    return parseJson(body) as View;
  }

  private async change<View>(route: string, content?: unknown): Promise<View> {
    const { body } = await this.transport.post(apiPath(route), content);
    return parseJson(body) as View;
  }
}
