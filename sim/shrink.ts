/** Leaves out of a plan whatever its violation does not need: faults first, then clients and workers. */
import type { Plan } from './plan.ts';
import { runPlan } from './run.ts';

export async function shrink(plan: Plan, say: (text: string) => void): Promise<Plan> {
  const wanted = (await runPlan(plan)).violation?.invariant;
  if (wanted === undefined) return plan;
  const stillFails = async (candidate: Plan): Promise<boolean> =>
    (await runPlan(candidate)).violation?.invariant === wanted;
  let smallest = plan;
  for (const part of ['faults', 'clients', 'workers'] as const) {
    for (let size = Math.ceil(smallest[part].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      smallest = await without(smallest, part, size, stillFails);
    }
    say(`${smallest[part].length} of ${plan[part].length} ${part} are needed`);
  }
  return smallest;
}

/** Tries to leave out each run of that many. */
async function without(
  plan: Plan,
  part: 'faults' | 'clients' | 'workers',
  size: number,
  stillFails: (plan: Plan) => Promise<boolean>,
): Promise<Plan> {
  let smallest = plan;
  for (let at = 0; at < smallest[part].length; ) {
    const left = smallest[part].filter((_, index) => index < at || index >= at + size);
    const candidate = { ...smallest, [part]: left };
    const isEnough = (part === 'faults' || left.length > 0) && (await stillFails(candidate));
    if (isEnough) smallest = candidate;
    else at += size;
  }
  return smallest;
}
