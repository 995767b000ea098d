export type Query = Readonly<Record<string, string | number | undefined>>;

/** What is undefined is left out. */
export function apiPath(route: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `/api/v1/${route}${search.size === 0 ? '' : `?${search}`}`;
}
