/** How large the queues are, by their live workers; and what a need that fits none of them lacks. */
import type { Capacity } from '../../model/capacity.ts';
import { printWorker } from '../../model/ids.ts';
import type { Need } from '../../model/need.ts';
import { showBytes, showDuration } from '../../model/units.ts';
import type { Cluster } from '../cluster.ts';
import type { WorkerRecord } from '../worker.ts';

/** The most of each resource that one worker has, not all of them the same one. */
export interface QueueCapacity {
  readonly cpus: number;
  /** Infinity where a worker does not know. */
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly pools: Readonly<Record<string, number>>;
  /** How long the one that stays longest will stay; Infinity for good. */
  readonly runtimeMs: number;
}

/** One that is to end gets nothing any more; one that is drained may be released. */
export const isStaying = ({ state, bar }: WorkerRecord): boolean => state !== 'must-die' && bar?.kind !== 'stopping';

/** Whether there is a worker at all. */
export const hasWorkers = ({ liveWorkers }: Cluster): boolean => [...liveWorkers.values()].some(isStaying);

function* workersOf({ liveWorkers }: Cluster, queue: string): Generator<WorkerRecord> {
  for (const worker of liveWorkers.values()) if (worker.capacity.queue === queue && isStaying(worker)) yield worker;
}

const memoryOf = ({ memoryBytes = Number.POSITIVE_INFINITY }: Capacity): number => memoryBytes;
const runtimeOf = ({ endsAt = Number.POSITIVE_INFINITY }: Capacity, now: number): number => Math.max(0, endsAt - now);

/** Undefined: it has no worker. */
export function capacityOfQueue(cluster: Cluster, queue: string, now: number): QueueCapacity | undefined {
  let [cpus, memoryBytes, gpus, runtimeMs] = [0, 0, 0, 0];
  const pools: Record<string, number> = {};
  for (const { slots, capacity } of workersOf(cluster, queue)) {
    cpus = Math.max(cpus, slots);
    memoryBytes = Math.max(memoryBytes, memoryOf(capacity));
    gpus = Math.max(gpus, capacity.gpus ?? 0);
    runtimeMs = Math.max(runtimeMs, runtimeOf(capacity, now));
    for (const [name, amount] of Object.entries(capacity.pools ?? {})) pools[name] = Math.max(pools[name] ?? 0, amount);
  }
  return cpus === 0 ? undefined : { cpus, memoryBytes, gpus, pools, runtimeMs };
}

/** `lacks` says it of a task: `asks for 64.0 GiB of memory; …`. */
export type Holding = { readonly ok: true } | { readonly ok: false; readonly lacks: string };

export interface Lack {
  readonly of: string;
  readonly asked: string;
  readonly there: string;
  /** Which part of what was asked for is there. */
  readonly part: number;
}

/** Whether a worker that is there could hold it, with nothing else on it; else what the nearest one lacks. */
export function couldHold(cluster: Cluster, need: Need, now: number): Holding {
  let nearest:
    | { readonly worker: WorkerRecord; readonly lacks: readonly Lack[]; readonly distance: number }
    | undefined;
  for (const worker of workersOf(cluster, need.queue)) {
    const lacks = lacksOf(worker, need, now);
    if (lacks.length === 0) return { ok: true };
    const distance = distanceOf(lacks);
    if (nearest === undefined || distance < nearest.distance) nearest = { worker, lacks, distance };
  }
  if (nearest === undefined) return { ok: false, lacks: `asks for queue '${need.queue}', which no worker has` };
  const { worker, lacks } = nearest;
  const asked = lacks.map(askedText).join(' and ');
  const there = lacks.map((lack) => lack.there).join(' and ');
  const which = `the largest worker of queue '${need.queue}', ${printWorker(worker.id)} on host ${worker.host}`;
  return { ok: false, lacks: `asks for ${asked}; ${which}, has ${there}` };
}

/** `64.0 GiB of memory`, `1 gpu` */
export const askedText = ({ asked, of }: Lack): string => `${asked}${asked === '1' && of === ' gpus' ? ' gpu' : of}`;

/** How far a worker is from being large enough. */
export const distanceOf = (lacks: readonly Lack[]): number => lacks.reduce((sum, { part }) => sum + 1 - part, 0);

/** What a worker lacks for it, with nothing else on it. */
export function lacksOf(
  { slots, capacity }: Pick<WorkerRecord, 'slots' | 'capacity'>,
  need: Need,
  now: number,
): Lack[] {
  const lacks: Lack[] = [];
  const check = (of: string, asked: number, there: number, show: (amount: number) => string = String): void => {
    if (asked > there) lacks.push({ of, asked: show(asked), there: show(there), part: there / asked });
  };
  check(' cpus', need.cpus, slots);
  check(' of memory', need.memoryBytes ?? 0, memoryOf(capacity), showBytes);
  check(' gpus', need.gpus ?? 0, capacity.gpus ?? 0);
  for (const [name, amount] of Object.entries(need.pools ?? {}))
    check(` of ${name}`, amount, capacity.pools?.[name] ?? 0);
  check(' of time', need.runtimeMs ?? 0, runtimeOf(capacity, now), showDuration);
  return lacks;
}
