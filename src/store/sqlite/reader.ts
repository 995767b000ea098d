/**
 * Reads what was committed. All reads are by primary key; long ones go in chunks, each a query of its own, so that no
 * cursor stays open while something is written.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { TaskRow } from '../../core/task/columns.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { WorkflowRow } from '../../core/workflow/record.ts';
import { assert } from '../../model/errors.ts';
import type { AttemptId, TaskId, WorkflowId } from '../../model/ids.ts';
import { outcomeKinds } from '../../model/states.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { AdjustmentRow } from '../adjustment-row.ts';
import type { AnswerRow } from '../answer-row.ts';
import type { FailedAttempt, FingerprintRow, TaggedTask } from '../failure-rows.ts';
import { entriesOf, type HistoryPage } from '../history.ts';
import type { LimitRow } from '../limit-row.ts';
import type { NoticeRow } from '../notice-row.ts';
import { decodeSeeds } from '../seeds.ts';
import type {
  EdgeRow,
  GroupingRow,
  HistoryEntry,
  OutputPiece,
  Reader,
  SeedRun,
  TaskDefinition,
  UsageSample,
} from '../store.ts';
import type { TokenRow } from '../token-row.ts';
import { storeFailure } from './failure.ts';
import {
  adjustmentRow,
  answerRow,
  attemptRow,
  type Columns,
  definitionRow,
  edgesOf,
  failedAttempt,
  fingerprintRow,
  groupingRow,
  noticeRow,
  outputPiece,
  seedRun,
  taggedTask,
  taskRow,
  tokenRow,
  usageSample,
  workerRow,
  workflowRow,
} from './rows.ts';
import { reading } from './transaction.ts';

/** A row may be a pack of many. */
const edgeChunkRows = 256;
const chunkRows = 10_000;
/** A row of `run` stands for up to thousands of tasks. */
const chunkRuns = 100;
/** Whoever asks for workflows of a name wants one of the last. */
const namesakesMax = 100;

export class SqliteReader implements Reader {
  readonly epoch: number;
  readonly generation: string;
  readonly #database: DatabaseSync;
  /** For messages. */
  readonly #path: string;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    const meta = new Map(this.#all('SELECT key, value FROM meta') as [string, unknown][]);
    this.epoch = meta.get('epoch') as number;
    this.generation = meta.get('generation') as string;
  }

  async lastChange(): Promise<number> {
    const [row] = this.#all('SELECT max(last) FROM history') as [[number | null]];
    return row[0] ?? 0;
  }

  async lastAttempt(): Promise<number> {
    const [row] = this.#all('SELECT max(id) FROM attempt') as [[number | null]];
    return row[0] ?? 0;
  }

  workflowRows(): AsyncIterable<readonly WorkflowRow[]> {
    return this.#chunks('workflow', 'id', workflowRow);
  }

  seedRuns(): AsyncIterable<readonly SeedRun[]> {
    return this.#chunks('run', 'first', seedRun, chunkRuns);
  }

  async *edgeRows(): AsyncIterable<readonly EdgeRow[]> {
    for await (const rows of this.#chunks('edge', 'id', edgesOf, edgeChunkRows)) {
      for (const edges of rows) yield edges;
    }
  }

  taskRows(): AsyncIterable<readonly TaskRow[]> {
    return this.#chunks('task', 'id', taskRow);
  }

  workerRows(): AsyncIterable<readonly WorkerRow[]> {
    return this.#chunks('worker', 'id', workerRow);
  }

  async *adjustmentRows(): AsyncIterable<readonly AdjustmentRow[]> {
    const sql = 'SELECT * FROM adjustment WHERE (task, number) > (?, ?) ORDER BY task, number LIMIT ?';
    for (let last = { task: 0, number: 0 }; ; ) {
      const rows = this.#all(sql, last.task, last.number, chunkRows).map(adjustmentRow);
      if (rows.length > 0) yield rows;
      if (rows.length < chunkRows) return;
      last = rows.at(-1) ?? last;
    }
  }

  groupingRows(): AsyncIterable<readonly GroupingRow[]> {
    return this.#chunks('grouping', 'id', groupingRow, chunkRuns);
  }

  async limitRows(): Promise<LimitRow[]> {
    const rows = this.#all('SELECT name, max FROM cluster_limit ORDER BY name') as [string, number][];
    return rows.map(([name, max]) => ({ name, max }));
  }

  /**
   * By way of the tasks: an attempt that has not ended is its task's last one. That takes 0.15 s for a million tasks
   * that ran in order and 1 s for any order, once; an index would cost every attempt twice.
   */
  async *openAttempts(): AsyncIterable<readonly AttemptRow[]> {
    const lost = outcomeKinds.indexOf('lost');
    const sql = `SELECT attempt.* FROM task JOIN attempt ON attempt.id = task.last_attempt
      WHERE task.last_attempt > 0 AND (attempt.outcome IS NULL OR attempt.outcome = ${lost}) ORDER BY attempt.id`;
    const rows = this.#all(sql);
    if (rows.length > 0) yield rows.map(attemptRow);
  }

  async workflowSpec(workflow: WorkflowId): Promise<WorkflowSpec | undefined> {
    const sql = 'SELECT spec, body FROM workflow_spec JOIN text ON text.id = env WHERE workflow = ?';
    const row = this.#get(sql, workflow) as [spec: string, env: string] | undefined;
    if (row === undefined) return undefined;
    const [spec, env] = row;
    return { ...(JSON.parse(spec) as Omit<WorkflowSpec, 'env'>), env: JSON.parse(env) as WorkflowSpec['env'] };
  }

  /** Neighbours by one query, and all in one transaction: a query of its own takes and gives back the file's locks. */
  async definitions(tasks: readonly TaskId[]): Promise<TaskDefinition[]> {
    const found: TaskDefinition[] = [];
    const texts = new Map<number, string>();
    const textOf = (id: number): string => {
      if (!texts.has(id)) texts.set(id, (this.#get('SELECT body FROM text WHERE id = ?', id) as [string])[0]);
      return texts.get(id) as string;
    };
    this.#read(() =>
      reading(this.#database, () => {
        for (let at = 0; at < tasks.length; ) {
          const count = neighboursFrom(tasks, at);
          const first = tasks[at] as TaskId;
          for (const row of this.#all('SELECT * FROM definition WHERE id BETWEEN ? AND ?', first, first + count - 1))
            found.push(definitionRow(row, textOf));
          at += count;
          assert(found.length === at, `the tasks from ${first} on are defined`);
        }
      }),
    );
    return found;
  }

  async addedAt(task: TaskId): Promise<number> {
    const row = this.#get('SELECT at FROM run WHERE first <= ? ORDER BY first DESC LIMIT 1', task);
    return (row?.[0] ?? 0) as number;
  }

  async adjustmentsOf(tasks: readonly TaskId[]): Promise<AdjustmentRow[]> {
    const sql = 'SELECT * FROM adjustment WHERE task = ? ORDER BY number';
    return tasks.flatMap((task) => this.#all(sql, task).map(adjustmentRow));
  }

  async attempts(ids: readonly AttemptId[]): Promise<(AttemptRow | undefined)[]> {
    return ids.map((id) => this.#attempt(id));
  }

  async attemptsFrom(after: number, limit: number, isDescending: boolean): Promise<AttemptRow[]> {
    const [beyond, order] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
    const sql = `SELECT * FROM attempt WHERE id ${beyond} ? ORDER BY id ${order} LIMIT ?`;
    return this.#all(sql, after, limit).map(attemptRow);
  }

  async attemptsBack(last: AttemptId): Promise<AttemptRow[]> {
    const found: AttemptRow[] = [];
    for (let row = this.#attempt(last); row !== undefined; row = this.#attempt(row.previous)) found.push(row);
    return found.reverse();
  }

  async failedAttempts(after: number, limit: number): Promise<FailedAttempt[]> {
    const sql = `SELECT failed_attempt.fingerprint, attempt.* FROM failed_attempt
      JOIN attempt ON attempt.id = failed_attempt.attempt
      WHERE failed_attempt.attempt > ? ORDER BY failed_attempt.attempt LIMIT ?`;
    return this.#all(sql, after, limit).map(failedAttempt);
  }

  async fingerprints(): Promise<FingerprintRow[]> {
    return this.#all('SELECT * FROM fingerprint ORDER BY id').map(fingerprintRow);
  }

  async tagsBetween(from: number, to: number): Promise<TaggedTask[]> {
    const sql = `SELECT id, rest -> '$.tags' AS tags FROM definition
      WHERE id BETWEEN ? AND ? AND rest IS NOT NULL AND tags IS NOT NULL ORDER BY id`;
    return this.#all(sql, from, to).map(taggedTask);
  }

  async outputPieces(attempt: AttemptId): Promise<OutputPiece[]> {
    return this.#all('SELECT * FROM output_piece WHERE attempt = ? ORDER BY stream, offset', attempt).map(outputPiece);
  }

  async usageSamples(attempt: AttemptId): Promise<UsageSample[]> {
    return this.#all('SELECT * FROM usage_sample WHERE attempt = ? ORDER BY metric, number', attempt).map(usageSample);
  }

  async outputEnd(): Promise<{ file: number; length: number }> {
    const row = this.#get('SELECT file, length FROM output_file ORDER BY file DESC LIMIT 1');
    const [file, length] = (row ?? [0, 0]) as [number, number];
    return { file, length };
  }

  async history(after: number, limit: number): Promise<HistoryEntry[]> {
    const entries: HistoryEntry[] = [];
    for (let last = after; entries.length < limit; ) {
      const row = this.#get('SELECT last, at, count, data FROM history WHERE last > ? ORDER BY last LIMIT 1', last);
      if (row === undefined) break;
      const page = pageOf(row);
      for (const entry of entriesOf(page, (first) => this.#seeds(first))) {
        if (entry.seq > after && entries.length < limit) entries.push(entry);
      }
      last = page.last;
    }
    return entries;
  }

  async tokens(): Promise<TokenRow[]> {
    return this.#all('SELECT * FROM token ORDER BY id').map(tokenRow);
  }

  async answers(): Promise<AnswerRow[]> {
    return this.#all('SELECT * FROM answer ORDER BY id').map(answerRow);
  }

  async notices(): Promise<{ cursor: number; rows: NoticeRow[] }> {
    const [cursor] = this.#get("SELECT value FROM meta WHERE key = 'notices'") as [number];
    return { cursor, rows: this.#all('SELECT * FROM notice ORDER BY id').map(noticeRow) };
  }

  async workflowsNamed(name: string): Promise<WorkflowId[]> {
    const sql = "SELECT workflow FROM workflow_spec WHERE spec ->> '$.name' = ? ORDER BY workflow DESC LIMIT ?";
    return this.#all(sql, name, namesakesMax).map(([workflow]) => workflow as WorkflowId);
  }

  #seeds(first: TaskId): SeedRun['seeds'] {
    const row = this.#get('SELECT seeds FROM run WHERE first = ?', first) as [string] | undefined;
    assert(row !== undefined, `the tasks from ${first} on have seeds`);
    return decodeSeeds(row[0]);
  }

  #attempt(id: number): AttemptRow | undefined {
    const row = this.#get('SELECT * FROM attempt WHERE id = ?', id);
    return row === undefined ? undefined : attemptRow(row);
  }

  async *#chunks<Row>(table: string, key: string, row: (columns: Columns) => Row, limit = chunkRows) {
    const sql = `SELECT * FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`;
    for (let last: SQLInputValue = 0; ; ) {
      const columns: Columns[] = this.#all(sql, last, limit);
      if (columns.length > 0) yield columns.map(row) as readonly Row[];
      if (columns.length < limit) return;
      last = columns.at(-1)?.[0] as number;
    }
  }

  #all(sql: string, ...values: SQLInputValue[]): Columns[] {
    return this.#read(() => this.#statement(sql).all(...values)) as Columns[];
  }

  #get(sql: string, ...values: SQLInputValue[]): Columns | undefined {
    return this.#read(() => this.#statement(sql).get(...values)) as Columns | undefined;
  }

  /** A page that is damaged is found only when it is read. */
  #read(read: () => unknown): unknown {
    try {
      return read();
    } catch (error) {
      throw storeFailure(error, this.#path);
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** How many ids from there on follow each other. */
function neighboursFrom(ids: readonly number[], from: number): number {
  let count = 1;
  while (ids[from + count] === (ids[from] as number) + count) count++;
  return count;
}

function pageOf(columns: Columns): HistoryPage {
  const [last, at, count, data] = columns as [number, number, number, string];
  return { last, at, count, data };
}
