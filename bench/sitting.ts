/**
 * A sitting: every contender of a row in turn, round after round (A B C A B C …), so that a machine that grows slower
 * or faster meanwhile does so for all of them.
 */
import type { Comparison, Contender, FigureOf, Figures, Row } from './row.ts';

/** One turn of one contender: its figures, or why there are none. */
export type Turn = {
  readonly contender: string;
  readonly round: number;
  readonly tookSeconds: number;
} & ({ readonly figures: Figures } | { readonly failure: string });

export interface Absence {
  readonly contender: string;
  readonly why: string;
}

export interface Sitting {
  readonly letter: string;
  readonly turns: readonly Turn[];
  readonly absent: readonly Absence[];
}

export interface Watcher {
  onTurn(turn: Turn): void;
  onAbsence(absence: Absence): void;
}

export async function sit(
  row: Row,
  rounds: number,
  measure: (contender: Contender) => Promise<Figures>,
  watcher: Watcher,
): Promise<Sitting> {
  const absent = row.contenders.flatMap((contender) => {
    const why = contender.missing?.();
    return why === undefined ? [] : [{ contender: contender.name, why }];
  });
  for (const absence of absent) watcher.onAbsence(absence);
  const present = row.contenders.filter(({ name }) => !absent.some(({ contender }) => contender === name));
  const turns: Turn[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const contender of present) {
      const turn = await takeTurn(contender, round, measure);
      watcher.onTurn(turn);
      turns.push(turn);
    }
  }
  return { letter: row.letter, turns, absent };
}

async function takeTurn(
  contender: Contender,
  round: number,
  measure: (contender: Contender) => Promise<Figures>,
): Promise<Turn> {
  const begin = performance.now();
  const took = (): number => (performance.now() - begin) / 1_000;
  try {
    const figures = await measure(contender);
    return { contender: contender.name, round, figures, tookSeconds: took() };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { contender: contender.name, round, failure, tookSeconds: took() };
  }
}

/** The middle one; of an even number, the mean of the two in the middle. Undefined without any. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** What a comparison came to. What was not measured is absent, and `why` says so. */
export interface Result {
  readonly letter: string;
  readonly comparison: Comparison;
  readonly value?: number;
  readonly against?: number;
  readonly ratio?: number;
  readonly isMet?: boolean;
  readonly why?: string;
}

/** The ratio is the median of the rounds' own ratios: what slowed a whole round down cancels out. */
export function judge(sitting: Sitting, comparison: Comparison): Result {
  const { letter } = sitting;
  const mine = figuresOf(sitting, comparison.value);
  const theirs = comparison.against === undefined ? undefined : figuresOf(sitting, comparison.against);
  const value = median([...mine.values()]);
  const against = theirs === undefined ? undefined : median([...theirs.values()]);
  const ratios = [...mine].flatMap(([round, figure]) => {
    const other = theirs?.get(round);
    return other === undefined || other === 0 ? [] : [figure / other];
  });
  const ratio = median(ratios);
  const judged = comparison.against === undefined ? value : ratio;
  const why = judged === undefined ? whyNot(sitting, comparison) : undefined;
  const { target } = comparison;
  const isMet = judged === undefined || target === undefined ? undefined : meets(judged, target);
  return { letter, comparison, ...dropUndefined({ value, against, ratio, isMet, why }) };
}

const meets = (value: number, target: NonNullable<Comparison['target']>): boolean =>
  'least' in target ? value >= target.least : value <= target.most;

/** By round: a turn that failed has none. */
function figuresOf(sitting: Sitting, { contender, figure }: FigureOf): Map<number, number> {
  const found = new Map<number, number>();
  for (const turn of sitting.turns) {
    if (turn.contender !== contender || !('figures' in turn)) continue;
    const value = turn.figures[figure];
    if (value !== undefined) found.set(turn.round, value);
  }
  return found;
}

function whyNot({ turns, absent }: Sitting, { value, against }: Comparison): string {
  for (const { contender } of [value, ...(against === undefined ? [] : [against])]) {
    const missing = absent.find((absence) => absence.contender === contender);
    if (missing !== undefined) return `${contender}: ${missing.why}`;
    if (turns.some((turn) => turn.contender === contender && 'failure' in turn)) return `${contender} failed`;
  }
  return 'no round has figures of both';
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined)) as Defined<T>;
}
