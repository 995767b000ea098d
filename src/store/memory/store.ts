/**
 * A store in memory, for tests and the simulator: a disk that outlives whoever opens it.
 * Owns: copies of what it was given; what the giver does to its objects later can't reach it.
 * 1. A batch is checked before any of it is taken, so that it is taken as a whole or not at all.
 */
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Change } from '../../core/change.ts';
import type { TaskRow } from '../../core/task/columns.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { WorkflowRow } from '../../core/workflow/record.ts';
import { assert } from '../../model/errors.ts';
import type { AttemptId, TaskId, WorkflowId } from '../../model/ids.ts';
import { outputStreams, usageMetrics } from '../../model/states.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import { type AdjustmentRow, adjustmentsIn } from '../adjustment-row.ts';
import type { AnswerRow } from '../answer-row.ts';
import type { FailedAttempt, FailureRow, FingerprintRow, TaggedTask } from '../failure-rows.ts';
import type { LimitRow } from '../limit-row.ts';
import type { NoticeRow } from '../notice-row.ts';
import type {
  Batch,
  EdgeRow,
  GroupingRow,
  HistoryEntry,
  OutputPiece,
  SeedRun,
  Store,
  TaskDefinition,
  UsageSample,
} from '../store.ts';
import { strideAt, superfluousAt } from '../thinning.ts';
import type { TokenRow } from '../token-row.ts';

const chunkRows = 10_000;

interface NumberedSample {
  readonly number: number;
  readonly sample: UsageSample;
}

/** What is on the disk. */
interface Content {
  readonly workflows: Map<number, WorkflowRow>;
  readonly specs: Map<number, WorkflowSpec>;
  readonly runs: SeedRun[];
  readonly definitions: Map<number, TaskDefinition>;
  readonly edges: EdgeRow[];
  readonly tasks: Map<number, TaskRow>;
  readonly attempts: Map<number, AttemptRow>;
  readonly workers: Map<number, WorkerRow>;
  readonly output: Map<string, OutputPiece>;
  /** By attempt and metric. */
  readonly samples: Map<string, NumberedSample[]>;
  readonly history: HistoryEntry[];
  /** When the tasks of each run were added. */
  readonly addedAt: number[];
  /** By task and number. */
  readonly adjustments: Map<string, AdjustmentRow>;
  readonly groupings: GroupingRow[];
  readonly limits: Map<string, number>;
  readonly tokens: Map<number, TokenRow>;
  readonly answers: Map<number, AnswerRow>;
  readonly notices: Map<number, NoticeRow>;
  noticesTo: number;
  readonly failures: Map<number, FailureRow>;
  readonly fingerprints: Map<number, FingerprintRow>;
  generation: string;
}

export class MemoryDisk {
  readonly #content: Content = {
    generation: '',
    workflows: new Map(),
    specs: new Map(),
    runs: [],
    definitions: new Map(),
    edges: [],
    tasks: new Map(),
    attempts: new Map(),
    workers: new Map(),
    output: new Map(),
    samples: new Map(),
    history: [],
    addedAt: [],
    adjustments: new Map(),
    groupings: [],
    limits: new Map(),
    tokens: new Map(),
    answers: new Map(),
    notices: new Map(),
    noticesTo: 0,
    failures: new Map(),
    fingerprints: new Map(),
  };
  #epoch = 0;

  constructor(generation: string) {
    this.#content.generation = generation;
  }

  open(): Store {
    return new MemoryStore(this.#content, ++this.#epoch);
  }
}

class MemoryStore implements Store {
  readonly epoch: number;
  readonly generation: string;
  readonly #content: Content;
  #isClosed = false;
  #hasFailed = false;

  constructor(content: Content, epoch: number) {
    this.#content = content;
    this.generation = content.generation;
    this.epoch = epoch;
  }

  async commit(batch: Batch): Promise<void> {
    assert(!this.#isClosed, 'a store that is closed takes nothing');
    assert(!this.#hasFailed, 'nothing is committed after a commit that failed');
    this.#hasFailed = true;
    const copy = structuredClone(batch);
    this.#check(copy);
    this.#take(copy);
    this.#hasFailed = false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async lastChange(): Promise<number> {
    return this.#content.history.length;
  }

  async lastAttempt(): Promise<number> {
    let last = 0;
    for (const id of this.#content.attempts.keys()) last = Math.max(last, id);
    return last;
  }

  workflowRows(): AsyncIterable<readonly WorkflowRow[]> {
    return chunks(byId(this.#content.workflows));
  }

  seedRuns(): AsyncIterable<readonly SeedRun[]> {
    return chunks(this.#content.runs);
  }

  edgeRows(): AsyncIterable<readonly EdgeRow[]> {
    return chunks(this.#content.edges);
  }

  taskRows(): AsyncIterable<readonly TaskRow[]> {
    return chunks(byId(this.#content.tasks));
  }

  adjustmentRows(): AsyncIterable<readonly AdjustmentRow[]> {
    const rows = [...this.#content.adjustments.values()];
    return chunks(rows.sort((a, b) => a.task - b.task || a.number - b.number));
  }

  groupingRows(): AsyncIterable<readonly GroupingRow[]> {
    return chunks(this.#content.groupings);
  }

  async limitRows(): Promise<LimitRow[]> {
    const rows = [...this.#content.limits].map(([name, max]) => ({ name, max }));
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async addedAt(task: TaskId): Promise<number> {
    const { runs, addedAt } = this.#content;
    return addedAt[runs.findLastIndex(({ first }) => first <= task)] ?? 0;
  }

  async adjustmentsOf(tasks: readonly TaskId[]): Promise<AdjustmentRow[]> {
    const rows = [...this.#content.adjustments.values()].sort((a, b) => a.number - b.number);
    return tasks.flatMap((task) => rows.filter((row) => row.task === task));
  }

  openAttempts(): AsyncIterable<readonly AttemptRow[]> {
    const { attempts, tasks } = this.#content;
    const isOpen = ({ id, task, outcome }: AttemptRow): boolean =>
      outcome === undefined || (outcome.kind === 'lost' && tasks.get(task)?.lastAttempt === id);
    return chunks(byId(attempts).filter(isOpen));
  }

  workerRows(): AsyncIterable<readonly WorkerRow[]> {
    return chunks(byId(this.#content.workers));
  }

  async workflowSpec(workflow: WorkflowId): Promise<WorkflowSpec | undefined> {
    return this.#content.specs.get(workflow);
  }

  async definitions(tasks: readonly TaskId[]): Promise<TaskDefinition[]> {
    return tasks.map((task) => {
      const definition = this.#content.definitions.get(task);
      assert(definition !== undefined, `task ${task} is defined`);
      return definition;
    });
  }

  async attempts(ids: readonly AttemptId[]): Promise<(AttemptRow | undefined)[]> {
    return ids.map((id) => this.#content.attempts.get(id));
  }

  async attemptsFrom(after: number, limit: number, isDescending: boolean): Promise<AttemptRow[]> {
    const rows = byId(this.#content.attempts);
    const beyond = isDescending ? rows.filter(({ id }) => id < after).reverse() : rows.filter(({ id }) => id > after);
    return beyond.slice(0, limit);
  }

  async attemptsBack(last: AttemptId): Promise<AttemptRow[]> {
    const { attempts } = this.#content;
    const found: AttemptRow[] = [];
    for (let row = attempts.get(last); row !== undefined; row = attempts.get(row.previous)) found.push(row);
    return found.reverse();
  }

  async failedAttempts(after: number, limit: number): Promise<FailedAttempt[]> {
    const { failures, attempts } = this.#content;
    const found: FailedAttempt[] = [];
    for (const { attempt, fingerprint } of [...failures.values()].sort((a, b) => a.attempt - b.attempt)) {
      const row = attempts.get(attempt);
      if (attempt > after && row !== undefined && found.length < limit) found.push({ row, fingerprint });
    }
    return found;
  }

  async fingerprints(): Promise<FingerprintRow[]> {
    return byId(this.#content.fingerprints);
  }

  async tagsBetween(from: number, to: number): Promise<TaggedTask[]> {
    const found: TaggedTask[] = [];
    for (let task = from; task <= to; task++) {
      const tags = this.#content.definitions.get(task)?.spec.tags;
      if (tags !== undefined) found.push({ task, tags });
    }
    return found;
  }

  async outputPieces(attempt: AttemptId): Promise<OutputPiece[]> {
    const order = (piece: OutputPiece): number => outputStreams.indexOf(piece.stream);
    return [...this.#content.output.values()]
      .filter((piece) => piece.attempt === attempt)
      .sort((a, b) => order(a) - order(b) || a.offset - b.offset);
  }

  async usageSamples(attempt: AttemptId): Promise<UsageSample[]> {
    const { samples } = this.#content;
    return usageMetrics.flatMap((metric) => (samples.get(`${attempt} ${metric}`) ?? []).map(({ sample }) => sample));
  }

  async outputEnd(): Promise<{ file: number; length: number }> {
    const end = { file: 0, length: 0 };
    for (const { file, position, length } of this.#content.output.values()) {
      if (file > end.file) Object.assign(end, { file, length: 0 });
      if (file === end.file) end.length = Math.max(end.length, position + length);
    }
    return end;
  }

  async history(after: number, limit: number): Promise<HistoryEntry[]> {
    return this.#content.history.slice(after, after + limit);
  }

  async tokens(): Promise<TokenRow[]> {
    return byId(this.#content.tokens);
  }

  async answers(): Promise<AnswerRow[]> {
    return byId(this.#content.answers);
  }

  async notices(): Promise<{ cursor: number; rows: NoticeRow[] }> {
    return { cursor: this.#content.noticesTo, rows: byId(this.#content.notices) };
  }

  async workflowsNamed(name: string): Promise<WorkflowId[]> {
    const named = [...this.#content.specs].filter(([, spec]) => spec.name === name);
    return named.map(([id]) => id as WorkflowId).sort((a, b) => b - a);
  }

  #check({ definitions, specs, changes }: Batch): void {
    const known = this.#content;
    for (const { id } of definitions) assert(!known.definitions.has(id), `task ${id} is defined once`);
    for (const { workflow } of specs) assert(!known.specs.has(workflow), `w${workflow} is specified once`);
    const lastRun = known.runs.at(-1);
    for (const change of changes) {
      if (change.type !== 'tasks-added' || lastRun === undefined) continue;
      assert(change.first >= lastRun.first + lastRun.seeds.length, `tasks from ${change.first} on are added once`);
    }
  }

  #takeNotices({ notices }: Batch): void {
    const content = this.#content;
    for (const row of notices?.written ?? []) content.notices.set(row.id, row);
    for (const id of notices?.removed ?? []) content.notices.delete(id);
    content.noticesTo = notices?.cursor ?? content.noticesTo;
  }

  #takeAccess({ tokens, answers }: Batch): void {
    const content = this.#content;
    for (const row of tokens?.written ?? []) content.tokens.set(row.id, row);
    for (const id of tokens?.removed ?? []) content.tokens.delete(id);
    for (const row of answers?.written ?? []) content.answers.set(row.id, row);
    for (const id of content.answers.keys()) if (id <= (answers?.forgottenTo ?? 0)) content.answers.delete(id);
  }

  #take(batch: Batch): void {
    const { at, changes, rows, specs, definitions, output, samples = [], failures, generation } = batch;
    const content = this.#content;
    this.#takeAccess(batch);
    this.#takeNotices(batch);
    content.generation = generation ?? content.generation;
    for (const { workflow, spec } of specs) content.specs.set(workflow, spec);
    for (const definition of definitions) content.definitions.set(definition.id, definition);
    for (const row of rows.workflows) content.workflows.set(row.id, row);
    for (const row of rows.tasks) content.tasks.set(row.id, row);
    for (const row of rows.attempts) content.attempts.set(row.id, row);
    for (const row of rows.workers) content.workers.set(row.id, row);
    for (const piece of output) content.output.set(`${piece.attempt} ${piece.stream} ${piece.offset}`, piece);
    for (const sample of samples) this.#takeSample(sample);
    for (const row of adjustmentsIn(changes, at)) content.adjustments.set(`${row.task} ${row.number}`, row);
    for (const row of failures?.fingerprints ?? []) content.fingerprints.set(row.id, row);
    for (const row of failures?.attempts ?? []) content.failures.set(row.attempt, row);
    for (const change of changes) {
      this.#takeStructure(change, at);
      content.history.push({ seq: content.history.length + 1, at, change });
    }
  }

  #takeSample(sample: UsageSample): void {
    const key = `${sample.attempt} ${sample.metric}`;
    const kept = this.#content.samples.get(key) ?? [];
    const number = (kept.at(-1)?.number ?? 0) + 1;
    const superfluous = superfluousAt(number);
    const isKept = (one: NumberedSample): boolean =>
      superfluous === 'off stride'
        ? one.number % strideAt(number) === 0
        : superfluous === 'nothing' || one.number < number - 1;
    this.#content.samples.set(key, [...kept.filter(isKept), { number, sample }]);
  }

  #takeStructure(change: Change, at: number): void {
    const { runs, addedAt, edges, groupings, limits } = this.#content;
    if (change.type === 'tasks-added' && change.seeds.length > 0) {
      const { type: _, ...run } = change;
      runs.push(run);
      addedAt.push(at);
    }
    if (change.type === 'tasks-grouped') groupings.push({ group: change.group, tasks: change.tasks });
    if (change.type === 'limit-set' && change.max !== undefined) limits.set(change.name, change.max);
    else if (change.type === 'limit-set') limits.delete(change.name);
    if (change.type === 'edges-added') edges.push({ type: 'added', edges: change.edges });
    if (change.type === 'edge-removed') edges.push({ ...change, type: 'removed' });
  }
}

const byId = <Row extends { readonly id: number }>(rows: ReadonlyMap<number, Row>): Row[] =>
  [...rows.values()].sort((a, b) => a.id - b.id);

async function* chunks<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += chunkRows) yield rows.slice(from, from + chunkRows);
}
