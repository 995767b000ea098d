/** What a definer's words about resources come to: which need a task has. */
import type { Needs } from '../core/resources/needs.ts';
import { type Concurrency, tagGroup, tagName, templateGroup } from '../model/concurrency.ts';
import { type Need, plainNeed } from '../model/need.ts';
import type { Resources, TaskSpec } from '../protocol/spec.ts';
import type { OrderNeed } from '../protocol/worker.ts';

/** What is not said is as in `base`. */
export function needOf(resources: Resources, base: Need = plainNeed): Need {
  return { ...base, ...resources };
}

/** `undefined`: that of its workflow. `limited`: tags that have a limit. */
export function needOfTask(
  { resources, template, tags }: TaskSpec,
  base: Need | undefined,
  limited: Concurrency['tags'],
): Need | undefined {
  const groups = template === undefined ? [] : [templateGroup(template)];
  if (limited !== undefined && tags !== undefined) {
    for (const [name, value] of Object.entries(tags)) {
      const tag = tagName(name, value);
      if (Object.hasOwn(limited, tag)) groups.push(tagGroup(tag));
    }
  }
  if (resources === undefined && groups.length === 0) return undefined;
  const need = needOf(resources ?? {}, base);
  return groups.length === 0 ? need : { ...need, groups: groups.sort() };
}

/** What its worker has to know of it; `undefined` for one slot. */
export function orderNeedOf(needs: Needs, number: number): OrderNeed | undefined {
  const { cpus, memoryBytes, gpus, runtimeMs, pools } = needs.get(number);
  if (needs.demand(number).isPlain && runtimeMs === undefined) return undefined;
  return {
    cpus,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(runtimeMs === undefined ? {} : { runtimeMs }),
    ...(pools === undefined ? {} : { pools }),
  };
}
