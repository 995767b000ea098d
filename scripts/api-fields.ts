/** Puts the types and fields of filters into docs/API.md, between their marks. */
import { type FilteredList, filterTables } from '../src/protocol/filter/fields.ts';
import { type FieldType, fieldTypes, typeOfField } from '../src/protocol/filter/types.ts';

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const code = (text: string): string => `\`${text}\``;

const header = (...names: readonly string[]): string[] => [row(...names), `|${'---|'.repeat(names.length)}`];

const typeRows = (): string[] => [
  ...header('type', 'operators', 'values'),
  ...(Object.keys(fieldTypes) as FieldType[]).map((type) => {
    const { operators, expects } = typeOfField(type);
    return row(type, operators.map(code).join(' '), expects);
  }),
];

const fieldRows = (list: FilteredList): string[] => [
  ...header('field', 'type', 'meaning', 'example'),
  ...filterTables[list].map(({ name, type, about, example, ...rest }) => {
    const words = 'values' in rest ? `: ${(rest.values as readonly string[]).join(', ')}` : '';
    return row(code(name), type, `${about}${words}`, code(example));
  }),
];

/** Whatever is between a mark and the next `end` is replaced. */
export function withFieldTables(text: string): string {
  const put = (into: string, mark: string, rows: readonly string[]): string => {
    const [before, rest] = into.split(`<!-- ${mark} -->\n`);
    if (before === undefined || rest === undefined) throw new Error(`docs/API.md has no <!-- ${mark} -->`);
    const after = rest.slice(rest.indexOf('<!-- end -->'));
    return `${before}<!-- ${mark} -->\n\n${rows.join('\n')}\n\n${after}`;
  };
  const lists = Object.keys(filterTables) as FilteredList[];
  return lists.reduce(
    (so, list) => put(so, `fields of ${list}`, fieldRows(list)),
    put(text, 'filter types', typeRows()),
  );
}
