/**
 * Writes batches, each in one transaction. Statements are prepared once; rows go in the order of their ids.
 * Owns: the numbering of history. Does not own: the connection.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Change } from '../../core/change.ts';
import type { WorkflowId } from '../../model/ids.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import { pagesOf } from '../history.ts';
import { encodeSeeds } from '../seeds.ts';
import type { Batch, OutputPiece } from '../store.ts';
import {
  attemptValues,
  definitionValues,
  edgeValues,
  outputValues,
  taskValues,
  workerValues,
  workflowValues,
} from './rows.ts';
import { transaction } from './transaction.ts';

/** Replacing is the fastest way to write a row of a table without indices, be it there or not. */
const replace = (table: string, columns: number): string =>
  `INSERT OR REPLACE INTO ${table} VALUES (${new Array(columns).fill('?').join(', ')})`;

const statements = {
  workflow: replace('workflow', 10),
  task: replace('task', 11),
  attempt: replace('attempt', 14),
  worker: replace('worker', 11),
  outputPiece: replace('output_piece', 6),
  outputFile: `INSERT INTO output_file VALUES (?, ?)
    ON CONFLICT (file) DO UPDATE SET length = max(length, excluded.length)`,
  text: 'INSERT INTO text (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING',
  spec: 'INSERT INTO workflow_spec SELECT ?, ?, id FROM text WHERE hash = ?',
  run: 'INSERT INTO run VALUES (?, ?, ?, ?)',
  definition: 'INSERT INTO definition VALUES (?, ?, ?, ?, ?)',
  edge: `INSERT INTO edge (parent_from, parent_to, child_from, child_to, kind) VALUES (?, ?, ?, ?, ?)`,
  history: 'INSERT INTO history VALUES (?, ?, ?, ?)',
  generation: "UPDATE meta SET value = ? WHERE key = 'generation'",
} as const;

type Statements = Readonly<Record<keyof typeof statements, StatementSync>>;

export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  #lastChange: number;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = Object.fromEntries(
      Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]),
    ) as Statements;
    this.#lastChange = (database.prepare('SELECT max(last) AS last FROM history').get()?.last ?? 0) as number;
  }

  write(batch: Batch): void {
    transaction(this.#database, () => {
      const { workflow, task, attempt, worker, definition } = this.#statements;
      for (const { workflow: id, spec } of batch.specs) this.#writeSpec(id, spec);
      for (const change of batch.changes) this.#writeStructure(change);
      writeAll(definition, batch.definitions, definitionValues);
      writeAll(workflow, batch.rows.workflows, workflowValues);
      writeAll(task, batch.rows.tasks, taskValues);
      writeAll(attempt, batch.rows.attempts, attemptValues);
      writeAll(worker, batch.rows.workers, workerValues);
      this.#writeOutput(batch.output);
      if (batch.generation !== undefined) this.#statements.generation.run(batch.generation);
      for (const { last, at, count, data } of pagesOf(batch.changes, batch.at, this.#lastChange)) {
        this.#statements.history.run(last, at, count, data);
      }
    });
    this.#lastChange += batch.changes.length;
  }

  /** Workflows of one user mostly have one environment: it is kept once. */
  #writeSpec(workflow: WorkflowId, { env, ...spec }: WorkflowSpec): void {
    const body = JSON.stringify(env);
    const hash = createHash('sha256').update(body).digest();
    this.#statements.text.run(hash, body);
    this.#statements.spec.run(workflow, JSON.stringify(spec), hash);
  }

  /** What is added to and never changed has no rows but these. */
  #writeStructure(change: Change): void {
    switch (change.type) {
      case 'tasks-added': {
        const { workflow, first, firstIndex, seeds } = change;
        if (seeds.length > 0) this.#statements.run.run(first, workflow, firstIndex, encodeSeeds(seeds));
        return;
      }
      case 'edges-added':
        this.#statements.edge.run(...edgeValues({ type: 'added', edges: change.edges }));
        return;
      case 'edge-removed':
        this.#statements.edge.run(...edgeValues({ type: 'removed', parent: change.parent, child: change.child }));
        return;
      default:
        return;
    }
  }

  #writeOutput(pieces: readonly OutputPiece[]): void {
    writeAll(this.#statements.outputPiece, pieces, outputValues);
    const ends = new Map<number, number>();
    for (const { file, position, length } of pieces) {
      ends.set(file, Math.max(ends.get(file) ?? 0, position + length));
    }
    for (const [file, length] of ends) this.#statements.outputFile.run(file, length);
  }
}

function writeAll<Row>(statement: StatementSync, rows: readonly Row[], values: (row: Row) => SQLInputValue[]): void {
  for (const row of rows) statement.run(...values(row));
}
