/** How much of something all workflows together may use at a time. */
export interface LimitRow {
  readonly name: string;
  readonly max: number;
}
