/** How many tasks of a workflow run at a time: of all of it, of a template, of those with a tag (`name=value`). */
export interface Concurrency {
  readonly workflow?: number;
  readonly templates?: Readonly<Record<string, number>>;
  readonly tags?: Readonly<Record<string, number>>;
}

/** As groups of needs are named. */
export const templateGroup = (template: string): string => `template:${template}`;
export const tagGroup = (tag: string): string => `tag:${tag}`;

/** A tag as it is named in limits. */
export const tagName = (name: string, value: string): string => `${name}=${value}`;

export function groupLimits({ templates = {}, tags = {} }: Concurrency): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const [name, max] of Object.entries(templates)) limits.set(templateGroup(name), max);
  for (const [tag, max] of Object.entries(tags)) limits.set(tagGroup(tag), max);
  return limits;
}
