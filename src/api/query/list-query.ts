/**
 * What every list is asked with: a filter, how many, from where, in which order, which fields, and whether to count.
 * Everything in the query string that is none of the list's own parameters is a clause of its filter.
 */
import { type Static, Type } from '@fastify/type-provider-typebox';
import { DroverError } from '../../model/errors.ts';
import { pageRowsDefault, pageRowsMax } from '../../model/limits.ts';
import { type FieldTable, type Filter, parseClauses, parseFilter } from '../../protocol/filter/language.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

export const ListQuery = Type.Object({
  where: Type.Optional(Type.String({ description: 'a filter, percent-encoded as a whole' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageRowsMax, description: 'rows of a page' })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next` of the page before' })),
  sort: Type.Optional(Type.String({ maxLength: 100, description: '`id`, or `-id` for the other way round' })),
  fields: Type.Optional(Type.String({ maxLength: 1_000, description: 'only these fields, for example `id,state`' })),
  count: Type.Optional(Type.Boolean({ description: 'also say how many match' })),
});
export type ListQuery = Static<typeof ListQuery>;

/** The clauses of a URL's query string. `own` are the parameters that are none. */
export function filterOf(url: string, own: readonly string[], fields: FieldTable, now: number): Filter {
  const start = url.indexOf('?');
  const parameters =
    start < 0
      ? []
      : url
          .slice(start + 1)
          .split('&')
          .map(decoded);
  const isOwn = (text: string): boolean => own.some((name) => text.startsWith(`${name}=`) || text === name);
  const clauses = parseClauses(
    parameters.filter((text) => !isOwn(text)),
    fields,
    now,
  );
  const wheres = parameters.filter((text) => text.startsWith('where='));
  return [...clauses, ...wheres.flatMap((text) => parseFilter(text.slice('where='.length), fields, now))];
}

function decoded(parameter: string): string {
  try {
    return decodeURIComponent(parameter.replaceAll('+', ' '));
  } catch {
    throw new DroverError('bad-input', `'${parameter}' in the address is not percent-encoded UTF-8`);
  }
}

export const listParameters = Object.keys(ListQuery.properties);

export interface Page {
  readonly limit: number;
  readonly isDescending: boolean;
  /** The last row that was looked at. */
  readonly after: number | undefined;
  /** The cursor for what comes behind that row. */
  next(reached: number | undefined): { readonly next?: string };
}

export function pageOf(list: string, { limit, cursor, sort }: ListQuery, sorts: readonly [string, ...string[]]): Page {
  const by = sort ?? sorts[0];
  if (!sorts.includes(by)) {
    throw new DroverError('bad-input', `${list} can't be sorted by '${by}'`, {
      hint: `there are ${sorts.join(' and ')}: others would take a look at every row`,
      details: { sorts },
    });
  }
  const order = { list, sort: by };
  return {
    limit: limit ?? pageRowsDefault,
    isDescending: by.startsWith('-'),
    after: cursor === undefined ? undefined : decodeCursor(order, cursor),
    next: (reached) => (reached === undefined ? {} : { next: encodeCursor(order, reached) }),
  };
}
