/** Rows in aligned columns. On a terminal the last column is cut to fit; elsewhere nothing is lost. */
import { printable, truncate, widthOf } from './text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

export const columnGap = '  ';

/** Ends with a line feed. Cells may hold anything; control characters are shown as escapes. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxColumns?: number,
): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => row.map(printable))];
  const widths = columns.map((_, i) => cells.reduce((max, row) => Math.max(max, widthOf(row[i] ?? '')), 0));
  const lines = cells.map((row) => {
    const padded = columns.map(({ align }, i) => pad(row[i] ?? '', widths[i] ?? 0, align));
    const line = padded.join(columnGap).trimEnd();
    return maxColumns === undefined ? line : truncate(line, maxColumns);
  });
  return `${lines.join('\n')}\n`;
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? space + text : text + space;
}
