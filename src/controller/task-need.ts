/** What a definer's words about resources come to: which need a task has. */
import { type Need, plainNeed } from '../model/need.ts';
import type { Resources, TaskSpec } from '../protocol/spec.ts';

/** What is not said is as in `base`. */
export function needOf(resources: Resources, base: Need = plainNeed): Need {
  return { ...base, ...resources };
}

/** `undefined`: that of its workflow. */
export function needOfTask({ resources, template }: TaskSpec, base: Need | undefined): Need | undefined {
  if (resources === undefined && template === undefined) return undefined;
  const need = needOf(resources ?? {}, base);
  return template === undefined ? need : { ...need, groups: [...(need.groups ?? []), `template:${template}`] };
}
