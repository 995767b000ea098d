/** What a row of the table is made of: who does the work, and which figures of theirs are compared. */
import type { Workshop } from './workshop.ts';

/** What one measurement gave, by name: `rate`, `seconds`, `controllerMB`… */
export type Figures = Readonly<Record<string, number>>;

export interface Contender {
  readonly name: string;
  /** What sets its work apart from Drover's, such as a smaller number of tasks. */
  readonly note?: string;
  /** Why it can't be measured here, and what to do about it. */
  missing?(): string | undefined;
  /** As it says itself; asked once. */
  version?(workshop: Workshop): Promise<string>;
  /** Once for each round, with nothing else going on. Whatever it started has ended when it returns. */
  measure(workshop: Workshop): Promise<Figures>;
}

export type Unit = 'tasks/s' | 'ms' | 's' | 'MB';

/** One figure of one contender. */
export interface FigureOf {
  readonly contender: string;
  readonly figure: string;
}

export type Target = { readonly least: number } | { readonly most: number };

/** A line of the table. With `against`, the target is for the ratio of the two, else for the value. */
export interface Comparison {
  readonly work: string;
  readonly value: FigureOf;
  readonly unit: Unit;
  readonly against?: FigureOf;
  /** Absent for a peer that is there for the reader only. */
  readonly target?: Target;
}

export interface Row {
  readonly letter: string;
  readonly contenders: readonly Contender[];
  readonly comparisons: readonly Comparison[];
}

/** How large the work is to be. */
export interface Scale {
  /** Tasks where a row says nothing else: 40,000 for figures that count. */
  readonly n: number;
  /** Tasks of the rows about a million of them. */
  readonly million: number;
}

export type MakeRow = (scale: Scale) => Row;

export const drover = 'drover';

/** Drover's rate against that of each of the others. */
export function compareRates(work: string, others: Readonly<Record<string, Target | undefined>>): Comparison[] {
  return Object.entries(others).map(([contender, target]) => ({
    work,
    value: { contender: drover, figure: 'rate' },
    unit: 'tasks/s',
    against: { contender, figure: 'rate' },
    ...(target === undefined ? {} : { target }),
  }));
}
