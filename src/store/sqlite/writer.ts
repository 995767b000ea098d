/**
 * Writes batches, each in one transaction. Statements are prepared once; rows go in the order of their ids.
 * Owns: the numbering of history. Does not own: the connection.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { WorkflowId } from '../../model/ids.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import { adjustmentsIn } from '../adjustment-row.ts';
import { pagesOf } from '../history.ts';
import { encodeSeeds } from '../seeds.ts';
import type { Batch, EdgeRow, OutputPiece, UsageSample } from '../store.ts';
import { strideAt, superfluousAt } from '../thinning.ts';
import { Bulk } from './bulk.ts';
import { packEdges, packEdgesMax } from './edge-packs.ts';
import {
  adjustmentValues,
  answerValues,
  attemptValues,
  definitionValues,
  edgeValues,
  failureValues,
  fingerprintValues,
  metricCode,
  noticeValues,
  outputValues,
  taskValues,
  tokenValues,
  workerValues,
  workflowValues,
} from './rows.ts';
import { Texts } from './texts.ts';
import { transaction } from './transaction.ts';

const statements = {
  outputFile: `INSERT INTO output_file VALUES (?, ?)
    ON CONFLICT (file) DO UPDATE SET length = max(length, excluded.length)`,
  spec: 'INSERT INTO workflow_spec VALUES (?, ?, ?)',
  run: 'INSERT INTO run VALUES (?, ?, ?, ?, ?)',
  grouping: 'INSERT INTO grouping (name, tasks) VALUES (?, ?)',
  limit: 'INSERT OR REPLACE INTO cluster_limit VALUES (?, ?)',
  limitGone: 'DELETE FROM cluster_limit WHERE name = ?',
  edges: 'INSERT INTO edge (parent_from, parent_to, child_from, child_to, pack) VALUES (0, 0, 0, 0, ?)',
  history: 'INSERT INTO history VALUES (?, ?, ?, ?)',
  sampleNumber: 'SELECT max(number) AS last FROM usage_sample WHERE attempt = ? AND metric = ?',
  sample: 'INSERT INTO usage_sample VALUES (?, ?, ?, ?, ?)',
  dropSample: 'DELETE FROM usage_sample WHERE attempt = ? AND metric = ? AND number = ?',
  thinSamples: 'DELETE FROM usage_sample WHERE attempt = ? AND metric = ? AND number % ? <> 0',
  generation: "UPDATE meta SET value = ? WHERE key = 'generation'",
  noticesTo: "UPDATE meta SET value = ? WHERE key = 'notices'",
  noticeGone: 'DELETE FROM notice WHERE id = ?',
  tokenGone: 'DELETE FROM token WHERE id = ?',
  answersGone: 'DELETE FROM answer WHERE id <= ?',
} as const;

type Statements = Readonly<Record<keyof typeof statements, StatementSync>>;

/** Replacing is the fastest way to write a row of a table without indices, be it there or not. */
const tablesOf = (database: DatabaseSync, texts: Texts) => ({
  workflow: new Bulk(database, 'INSERT OR REPLACE INTO workflow', 12, workflowValues),
  task: new Bulk(database, 'INSERT OR REPLACE INTO task', 12, taskValues),
  attempt: new Bulk(database, 'INSERT OR REPLACE INTO attempt', 14, attemptValues),
  worker: new Bulk(database, 'INSERT OR REPLACE INTO worker', 14, workerValues),
  outputPiece: new Bulk(database, 'INSERT OR REPLACE INTO output_piece', 6, outputValues),
  definition: new Bulk(
    database,
    'INSERT INTO definition',
    6,
    definitionValues((command) => texts.ofCommand(command)),
  ),
  edge: new Bulk(database, 'INSERT INTO edge (parent_from, parent_to, child_from, child_to, kind)', 5, edgeValues),
  adjustment: new Bulk(database, 'INSERT OR REPLACE INTO adjustment', 8, adjustmentValues),
  token: new Bulk(database, 'INSERT OR REPLACE INTO token', 7, tokenValues),
  answer: new Bulk(database, 'INSERT INTO answer', 5, answerValues),
  notice: new Bulk(database, 'INSERT OR REPLACE INTO notice', 10, noticeValues),
  fingerprint: new Bulk(database, 'INSERT INTO fingerprint', 3, fingerprintValues),
  failure: new Bulk(database, 'INSERT OR REPLACE INTO failed_attempt', 2, failureValues),
});

export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #texts: Texts;
  readonly #tables: ReturnType<typeof tablesOf>;
  #lastChange: number;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = Object.fromEntries(
      Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]),
    ) as Statements;
    this.#texts = new Texts(database);
    this.#tables = tablesOf(database, this.#texts);
    this.#lastChange = (database.prepare('SELECT max(last) AS last FROM history').get()?.last ?? 0) as number;
  }

  write(batch: Batch): void {
    transaction(this.#database, () => {
      const { workflow, task, attempt, worker, definition } = this.#tables;
      for (const { workflow: id, spec } of batch.specs) this.#writeSpec(id, spec);
      this.#writeStructure(batch);
      this.#writeResources(batch);
      definition.write(batch.definitions);
      workflow.write(batch.rows.workflows);
      task.write(batch.rows.tasks);
      attempt.write(batch.rows.attempts);
      worker.write(batch.rows.workers);
      this.#writeOutput(batch.output);
      this.#writeAccess(batch);
      this.#writeNotices(batch);
      this.#tables.fingerprint.write(batch.failures?.fingerprints ?? []);
      this.#tables.failure.write(batch.failures?.attempts ?? []);
      for (const sample of batch.samples ?? []) this.#writeSample(sample);
      if (batch.generation !== undefined) this.#statements.generation.run(batch.generation);
      for (const { last, at, count, data } of pagesOf(batch.changes, batch.at, this.#lastChange)) {
        this.#statements.history.run(last, at, count, data);
      }
    });
    this.#lastChange += batch.changes.length;
  }

  /** Workflows of one user mostly have one environment: it is kept once. */
  #writeSpec(workflow: WorkflowId, { env, ...spec }: WorkflowSpec): void {
    this.#statements.spec.run(workflow, JSON.stringify(spec), this.#texts.keep(JSON.stringify(env)));
  }

  /** What is added to and never changed has no rows but these. */
  #writeStructure({ changes, at: addedAt }: Batch): void {
    const edges: EdgeRow[] = [];
    for (const change of changes) {
      if (change.type === 'tasks-added' && change.seeds.length > 0) {
        const { workflow, first, firstIndex, seeds } = change;
        this.#statements.run.run(first, workflow, firstIndex, encodeSeeds(seeds), addedAt);
      } else if (change.type === 'edges-added') edges.push({ type: 'added', edges: change.edges });
      else if (change.type === 'edge-removed') {
        edges.push({ type: 'removed', parent: change.parent, child: change.child });
      }
    }
    let at = 0;
    for (; at + packEdgesMax <= edges.length; at += packEdgesMax) {
      this.#statements.edges.run(packEdges(edges.slice(at, at + packEdgesMax)));
    }
    this.#tables.edge.write(edges.slice(at));
  }

  /** What tasks need beyond what they were added with, and what there is for all. */
  #writeResources({ changes, at }: Batch): void {
    const { grouping, limit, limitGone } = this.#statements;
    for (const change of changes) {
      if (change.type === 'tasks-grouped') grouping.run(change.group, JSON.stringify(change.tasks));
      else if (change.type !== 'limit-set') continue;
      else if (change.max === undefined) limitGone.run(change.name);
      else limit.run(change.name, change.max);
    }
    this.#tables.adjustment.write(adjustmentsIn(changes, at));
  }

  /** Who may ask, and what was answered. */
  #writeAccess({ tokens, answers }: Batch): void {
    this.#tables.token.write(tokens?.written ?? []);
    for (const id of tokens?.removed ?? []) this.#statements.tokenGone.run(id);
    if (answers === undefined) return;
    this.#tables.answer.write(answers.written);
    this.#statements.answersGone.run(answers.forgottenTo);
  }

  #writeNotices({ notices }: Batch): void {
    if (notices === undefined) return;
    this.#tables.notice.write(notices.written);
    for (const id of notices.removed) this.#statements.noticeGone.run(id);
    this.#statements.noticesTo.run(notices.cursor);
  }

  #writeOutput(pieces: readonly OutputPiece[]): void {
    this.#tables.outputPiece.write(pieces);
    const ends = new Map<number, number>();
    for (const { file, position, length } of pieces) {
      ends.set(file, Math.max(ends.get(file) ?? 0, position + length));
    }
    for (const [file, length] of ends) this.#statements.outputFile.run(file, length);
  }

  #writeSample({ attempt, metric: name, at, value }: UsageSample): void {
    const { sampleNumber, sample, dropSample, thinSamples } = this.#statements;
    const metric = metricCode(name);
    const last = (sampleNumber.get(attempt, metric)?.last ?? 0) as number;
    const number = last + 1;
    const superfluous = superfluousAt(number);
    if (superfluous === 'the last') dropSample.run(attempt, metric, last);
    else if (superfluous === 'off stride') thinSamples.run(attempt, metric, strideAt(number));
    sample.run(attempt, metric, number, at, value);
  }
}
