/** What a definer's words about resources come to: which need a task has. */
import type { Needs } from '../core/resources/needs.ts';
import { type Need, plainNeed } from '../model/need.ts';
import type { Resources, TaskSpec } from '../protocol/spec.ts';
import type { OrderNeed } from '../protocol/worker.ts';

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

/** What its worker has to know of it; `undefined` for one slot. */
export function orderNeedOf(needs: Needs, number: number): OrderNeed | undefined {
  const { cpus, memoryBytes, gpus, runtimeMs, pools } = needs.get(number);
  if (number === 0) return undefined;
  return {
    cpus,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(runtimeMs === undefined ? {} : { runtimeMs }),
    ...(pools === undefined ? {} : { pools }),
  };
}
