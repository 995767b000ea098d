/** The largest of many, in memory for so many only. */

export class Leaders<Row> {
  readonly #most: number;
  readonly #sizeOf: (row: Row) => number;
  /** The largest first; of equal ones, the one that came first. */
  readonly #rows: Row[] = [];

  constructor(most: number, sizeOf: (row: Row) => number) {
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  add(row: Row): void {
    const size = this.#sizeOf(row);
    const last = this.#rows.at(-1);
    if (last !== undefined && this.#rows.length === this.#most && size <= this.#sizeOf(last)) return;
    const at = this.#rows.findIndex((other) => size > this.#sizeOf(other));
    this.#rows.splice(at < 0 ? this.#rows.length : at, 0, row);
    if (this.#rows.length > this.#most) this.#rows.pop();
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }
}
