/**
 * The filter language of lists and of operations on many tasks: `state=failed,queued&exit=137&command~gzip`.
 *
 * A filter is clauses joined by `&`, and all of them must hold. A clause is a field, an operator and one or more values,
 * of which any may hold (with `!=`: none may). `\` takes the meaning from the `,`, `&` or `\` behind it. In a URL each
 * clause is a parameter of its own, or all of them are the value of `where`; both are percent-encoded as anywhere.
 * Which fields there are, and of what type, is said by a table (fields.ts), and refusals quote it.
 */
import { DroverError } from '../../model/errors.ts';
import { queryLimits } from '../../model/limits.ts';
import { nearest } from './nearest.ts';
import { type FieldType, type FilterValue, type Operator, operators, typeOfField } from './types.ts';

export interface Field {
  /** Ends in `.*` for a family: `tag.*` stands for `tag.model`. */
  readonly name: string;
  readonly type: FieldType;
  /** The words of an enum. */
  readonly values?: readonly string[];
  readonly about: string;
  readonly example: string;
}

export type FieldTable = readonly Field[];

export interface Clause {
  readonly field: Field;
  /** What follows the dot in the name of a family's member, else ''. */
  readonly member: string;
  readonly operator: Operator;
  readonly values: readonly FilterValue[];
}

export type Filter = readonly Clause[];

/** `now` is what relative times count from. */
export function parseFilter(text: string, fields: FieldTable, now: number): Filter {
  if (text.length > queryLimits.whereCharactersMax) {
    throw new DroverError('bad-filter', `the filter has more than ${queryLimits.whereCharactersMax} characters`);
  }
  return parseClauses(splitUnescaped(text, '&'), fields, now);
}

export function parseClauses(texts: readonly string[], fields: FieldTable, now: number): Filter {
  const clauses = texts.filter((text) => text.trim() !== '');
  if (clauses.length > queryLimits.clausesMax) {
    throw new DroverError('bad-filter', `the filter has more than ${queryLimits.clausesMax} clauses`);
  }
  return clauses.map((text) => parseClause(text, fields, now));
}

/** The longer operators first: `>=` is not `>` with a value that begins with `=`. */
const clausePattern = new RegExp(
  `^([^=!<>~]+)(${[...operators].sort((a, b) => b.length - a.length).join('|')})(.*)$`,
  's',
);

function parseClause(text: string, fields: FieldTable, now: number): Clause {
  const match = clausePattern.exec(text);
  if (match === null) {
    const known = findField(text.trim(), fields);
    const what = known === undefined ? unknownField(text.trim(), fields).message : `'${text}' compares nothing`;
    throw new DroverError('bad-filter', what, {
      hint: `a clause is FIELD OPERATOR VALUE, for example ${exampleOf(fields)}`,
    });
  }
  const [, written = '', operator = '', list = ''] = match;
  const name = written.trim();
  const field = findField(name, fields);
  if (field === undefined) throw unknownField(name, fields);
  checkOperator(field, name, operator as Operator);
  const parts = splitUnescaped(list, ',').map(unescaped);
  if (parts.length > queryLimits.valuesMax) {
    throw new DroverError('bad-filter', `${name} has more than ${queryLimits.valuesMax} values`);
  }
  if (parts.length > 1 && !typeOfField(field.type).lists.includes(operator as Operator)) {
    throw new DroverError('bad-filter', `${name}${operator} takes one value, not a list`, { details: { field: name } });
  }
  const values = parts.map((part) => parseValue(field, name, part, now));
  return { field, member: memberOf(field, name), operator: operator as Operator, values };
}

const exampleOf = (fields: FieldTable): string => fields.find(({ name }) => name === 'state')?.example ?? 'id=1';

function findField(name: string, fields: FieldTable): Field | undefined {
  return fields.find((field) => field.name === name || (isFamily(field) && memberOf(field, name) !== ''));
}

const isFamily = ({ name }: Field): boolean => name.endsWith('.*');

function memberOf(field: Field, name: string): string {
  const prefix = field.name.slice(0, -1);
  return isFamily(field) && name.startsWith(prefix) ? name.slice(prefix.length) : '';
}

function unknownField(name: string, fields: FieldTable): DroverError {
  const names = fields.map((field) => field.name);
  const near = nearest(name, names);
  const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : `the fields are ${names.join(', ')}`;
  return new DroverError('bad-filter', `there is no field '${name}'`, {
    hint,
    details: { field: name, nearest: near },
  });
}

function checkOperator({ type }: Field, name: string, operator: Operator): void {
  const allowed = typeOfField(type).operators;
  if (allowed.includes(operator)) return;
  throw new DroverError('bad-filter', `${name} can't be compared by ${operator}: it is ${typeOfField(type).noun}`, {
    hint: `use ${allowed.join(' ')}`,
    details: { field: name, operators: allowed },
  });
}

function parseValue(field: Field, name: string, text: string, now: number): FilterValue {
  const { parse, expects } = typeOfField(field.type);
  const value = parse(text, now, field.values ?? []);
  if (value !== undefined) return value;
  const expected = field.values === undefined ? expects : `one of ${field.values.join(', ')}`;
  throw new DroverError('bad-filter', `${name}: '${text}' is not ${typeOfField(field.type).noun}`, {
    hint: `expected: ${expected}`,
    details: { field: name, expected },
  });
}

function splitUnescaped(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

const unescaped = (text: string): string => text.replace(/\\([\\,&])/g, '$1');

/** For one who puts a value of any content into a filter. */
export const escapeValue = (text: string): string => text.replace(/[\\,&]/g, '\\$&');
