/**
 * What a task asks for next, after an attempt ran out of a resource: more of that one, and of no other. Up to what the
 * largest worker of its queue has; beyond it in the first fallback queue that is large enough; else nowhere.
 */
import { type Exhaustible, type Need, type Scale, scaleDefault } from '../../model/need.ts';
import { showAtLeastBytes, showDuration } from '../../model/units.ts';

/** How large the queues are, by their live workers. */
export interface Capacities {
  /** What the largest worker of its queue, with nothing else on it, lacks for it; undefined where one could hold it. */
  lacksOf(need: Need): string | undefined;
  /** The most that one worker of that queue has: 0 where it has no worker, Infinity where nothing ends it. */
  most(queue: string, resource: Exhaustible): number;
}

export type Adjustment =
  | { readonly kind: 'raised'; readonly need: Need; readonly why: string }
  /** `need` is what it would need, and gets nowhere. */
  | { readonly kind: 'impossible'; readonly need: Need; readonly why: string };

const fields = { memory: 'memoryBytes', runtime: 'runtimeMs' } as const satisfies Record<Exhaustible, keyof Need>;

/** Undefined: it never asked for a certain amount. */
const amountOf = (need: Need, resource: Exhaustible): number | undefined => need[fields[resource]];

/** Of what a queue has at most. */
export const amountIn = (
  capacity: Readonly<Record<(typeof fields)[Exhaustible], number>>,
  resource: Exhaustible,
): number => capacity[fields[resource]];

const withAmount = (need: Need, resource: Exhaustible, amount: number): Need => ({
  ...need,
  [fields[resource]]: amount,
});

const showAmount = (resource: Exhaustible, amount: number): string =>
  resource === 'memory' ? showAtLeastBytes(amount) : showDuration(amount);

/** By the factor, in whole bytes or ms; or the next one of the values. Undefined: that was the last of them. */
function nextAmount(present: number, scale: Scale): number | undefined {
  // 100 × 1.1 is a little more than 110 to the machine.
  if (typeof scale === 'number') return Math.max(present + 1, Math.ceil(Number((present * scale).toPrecision(15))));
  const larger = scale.filter((value) => value > present);
  return larger.length === 0 ? undefined : Math.ceil(Math.min(...larger));
}

/** As its scale says, wherever that may be had; the same need where its scale is at its end. */
export function raisedNeed(need: Need, resource: Exhaustible): { readonly need: Need; readonly step: string } {
  const present = amountOf(need, resource) ?? 0;
  const scale = need.scales?.[resource] ?? scaleDefault;
  const next = nextAmount(present, scale);
  const shown = `${resource} ${showAmount(resource, present)}`;
  if (next === undefined) return { need, step: `${shown} was the last value of its scale` };
  const how = typeof scale === 'number' ? `×${scale}` : 'the next value of its scale';
  return { need: withAmount(need, resource, next), step: `${shown} → ${showAmount(resource, next)} (${how})` };
}

export function adjust(need: Need, resource: Exhaustible, capacities: Capacities): Adjustment {
  const { need: raised, step } = raisedNeed(need, resource);
  if (raised === need) return { kind: 'impossible', need, why: step };
  const [present, next] = [amountOf(need, resource) ?? 0, amountOf(raised, resource) ?? 0];
  const { queue, fallbacks = [] } = need;
  const lacks = capacities.lacksOf(raised);
  // Where the worker that it ran on has gone, nobody knows how large its queue will be: it waits there.
  if (lacks === undefined || capacities.lacksOf(need) !== undefined) return { kind: 'raised', need: raised, why: step };
  const most = capacities.most(queue, resource);
  const greatest = withAmount(need, resource, most);
  if (most > present && most < next && capacities.lacksOf(greatest) === undefined) {
    const [from, to] = [present, most].map((amount) => showAmount(resource, amount));
    const why = `${resource} ${from} → ${to} (all that a worker of queue '${queue}' has)`;
    return { kind: 'raised', need: greatest, why };
  }
  for (const [at, to] of fallbacks.entries()) {
    const { fallbacks: _, ...rest } = raised;
    const left = fallbacks.slice(at + 1);
    const moved: Need = { ...rest, queue: to, ...(left.length === 0 ? {} : { fallbacks: left }) };
    if (capacities.lacksOf(moved) !== undefined) continue;
    return { kind: 'raised', need: moved, why: `${step}, in queue '${to}': queue '${queue}' has no worker for it` };
  }
  const others = fallbacks.length === 0 ? '' : `; nor has queue ${fallbacks.map((one) => `'${one}'`).join(', ')}`;
  return { kind: 'impossible', need: raised, why: `${step}: ${lacks}${others}` };
}
