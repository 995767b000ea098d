/** Many rows of one table: sixteen by one statement cost half of what they cost one by one; more gain nothing. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export const rowsAtOnce = 16;

/** Puts the values of a row behind those that are there, in the order of the table's columns. */
export type Append<Row> = (row: Row, values: SQLInputValue[]) => void;

export class Bulk<Row> {
  readonly #one: StatementSync;
  readonly #many: StatementSync;
  readonly #append: Append<Row>;

  /** `into`: for example `INSERT INTO edge`; followed by the values. */
  constructor(database: DatabaseSync, into: string, columns: number, append: Append<Row>) {
    const row = `(${new Array(columns).fill('?').join(', ')})`;
    this.#one = database.prepare(`${into} VALUES ${row}`);
    this.#many = database.prepare(`${into} VALUES ${new Array(rowsAtOnce).fill(row).join(', ')}`);
    this.#append = append;
  }

  write(rows: readonly Row[]): void {
    let at = 0;
    for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) this.#run(this.#many, rows, at, rowsAtOnce);
    for (; at < rows.length; at++) this.#run(this.#one, rows, at, 1);
  }

  #run(statement: StatementSync, rows: readonly Row[], from: number, count: number): void {
    const values: SQLInputValue[] = [];
    for (let at = from; at < from + count; at++) this.#append(rows[at] as Row, values);
    statement.run(...values);
  }
}
