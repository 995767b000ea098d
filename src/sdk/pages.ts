/** How lists are asked for, page by page or as one stream of rows. */

export interface PageOptions {
  /** A filter, for example `state=failed&exit=137`; docs/API.md has the fields. */
  readonly where?: string;
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
  /** `id`, or `-id` for the other way round. */
  readonly sort?: string;
  /** Only these fields of each row. */
  readonly fields?: readonly string[];
  readonly count?: boolean;
}

export interface EventOptions {
  readonly where?: string;
  readonly limit?: number;
  /** The number of the last event that is known; `now`: only those to come. */
  readonly cursor?: string;
  readonly waitMs?: number;
}

export type PageQuery = Readonly<Record<string, string | number | undefined>>;

export const pageQuery = ({ fields, count, ...rest }: PageOptions): PageQuery => ({
  ...rest,
  fields: fields?.join(','),
  count: count === true ? 'true' : undefined,
});

export const withCursor = <Options extends PageOptions>(options: Options, cursor: string | undefined): Options =>
  cursor === undefined ? options : { ...options, cursor };

/** All rows of a list, as they are read. `ask` gets the cursor of each next page. */
export async function* rowsOf<Page extends { readonly next?: string }, Row>(
  ask: (cursor: string | undefined) => Promise<Page>,
  rows: (page: Page) => readonly Row[],
): AsyncGenerator<Row, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await ask(cursor);
    yield* rows(page);
    cursor = page.next;
    if (cursor === undefined) return;
  }
}
