/** The table, as Markdown that is also fit for a terminal. */
import type { Target, Unit } from './row.ts';
import type { Result, Sitting } from './sitting.ts';

const head = ['row', 'work', 'Drover', 'against', 'its value', 'ratio', 'target', 'verdict'] as const;

export function renderTable(results: readonly Result[], notes: Readonly<Record<string, string>>): string {
  const rows = results.map((result) => cellsOf(result, notes));
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((cells) => (cells[at] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function cellsOf(result: Result, notes: Readonly<Record<string, string>>): string[] {
  const { letter, comparison, value, against, ratio } = result;
  const { unit, target } = comparison;
  const other = comparison.against;
  const note = other === undefined ? undefined : notes[`${letter}/${other.contender}`];
  const name = other === undefined ? '' : `${other.contender}${note === undefined ? '' : ` (${note})`}`;
  return [
    letter,
    comparison.work,
    value === undefined ? '–' : showValue(value, unit),
    name,
    other === undefined ? '' : against === undefined ? '–' : showValue(against, unit),
    ratio === undefined ? (other === undefined ? '' : '–') : showRatio(ratio),
    target === undefined ? '' : showTarget(target, other === undefined ? unit : undefined),
    verdictOf(result),
  ].map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' '));
}

export function verdictOf({ isMet, why, comparison }: Result): string {
  if (why !== undefined) return 'not measured';
  if (comparison.target === undefined) return '';
  return isMet ? 'met' : 'MISSED';
}

/** What is behind a dash, and turns that failed although others gave figures: in full, below the table. */
export function renderRemarks(results: readonly Result[], sittings: readonly Sitting[]): string {
  const unmeasured = results.flatMap(({ letter, why }) => (why === undefined ? [] : [`row ${letter}: ${why}`]));
  const failed = sittings.flatMap(({ letter, turns }) =>
    turns.flatMap((turn) =>
      'failure' in turn ? [`row ${letter}: ${turn.contender} failed in round ${turn.round}: ${turn.failure}`] : [],
    ),
  );
  return [...new Set([...unmeasured, ...failed])].map((text) => `- ${text.replaceAll('\n', ' ')}`).join('\n');
}

export function showValue(value: number, unit: Unit): string {
  return `${showNumber(value)} ${unit}`;
}

/** Three digits that mean something, and thousands apart. */
export function showNumber(value: number): string {
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: Math.min(digits, 3) });
}

export const showRatio = (ratio: number): string => (ratio >= 100 ? ratio.toFixed(0) : ratio.toFixed(2));

export function showTarget(target: Target, unit: Unit | undefined): string {
  const [sign, value] = 'least' in target ? ['≥', target.least] : ['≤', target.most];
  return unit === undefined ? `${sign} ${value}` : `${sign} ${showValue(value, unit)}`;
}
