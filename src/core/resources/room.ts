/**
 * What attempts take of their worker, and what a worker has, as whole numbers: processors and pools in thousandths, so
 * that what was added and taken away again comes to nothing. A need is rounded up, what there is is rounded down.
 */
import type { Capacity } from '../../model/capacity.ts';
import type { Need } from '../../model/need.ts';

const parts = 1_000;
/** A little less or more is the machine's: 0.1 + 0.2 of a pool are 0.3 of it. */
const slack = 1e-6;
const partsUp = (amount: number): number => Math.ceil(amount * parts - slack);
const partsDown = (amount: number): number => Math.floor(amount * parts + slack);

/** One slot. */
export const slotParts = parts;

type Pools = readonly (readonly [name: string, parts: number])[];

/** What one attempt takes. */
export interface Demand {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly pools: Pools;
  /** One slot, and nothing else. */
  readonly isPlain: boolean;
}

const noPools: Pools = [];

export function demandOf({ cpus, memoryBytes = 0, gpus = 0, pools }: Need): Demand {
  const named =
    pools === undefined ? noPools : Object.entries(pools).map(([name, amount]) => [name, partsUp(amount)] as const);
  const taken = named.filter(([, amount]) => amount > 0);
  const isPlain = cpus === 1 && memoryBytes === 0 && gpus === 0 && taken.length === 0;
  return { cpus: partsUp(cpus), memoryBytes, gpus, pools: taken, isPlain };
}

/** What all attempts of a worker take. */
export class Load {
  cpus = 0;
  memoryBytes = 0;
  gpus = 0;
  /** Of those attempts that take more or less than one slot, or anything besides. */
  odd = 0;
  readonly pools = new Map<string, number>();

  add(demand: Demand): void {
    this.#change(demand, 1);
  }

  remove(demand: Demand): void {
    this.#change(demand, -1);
  }

  #change(demand: Demand, sign: 1 | -1): void {
    this.cpus += sign * demand.cpus;
    if (demand.isPlain) return;
    this.odd += sign;
    this.memoryBytes += sign * demand.memoryBytes;
    this.gpus += sign * demand.gpus;
    for (const [name, amount] of demand.pools) this.pools.set(name, (this.pools.get(name) ?? 0) + sign * amount);
  }
}

/** What a worker has. */
export interface Room {
  readonly slots: number;
  readonly cpus: number;
  /** Infinity where nobody knows. */
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly pools: ReadonlyMap<string, number>;
}

const nothing: ReadonlyMap<string, number> = new Map();

export function roomOf(slots: number, { memoryBytes = Number.POSITIVE_INFINITY, gpus = 0, pools }: Capacity): Room {
  const named =
    pools === undefined ? nothing : new Map(Object.entries(pools).map(([name, amount]) => [name, partsDown(amount)]));
  return { slots, cpus: slots * parts, memoryBytes, gpus, pools: named };
}

const empty = new Load();

/**
 * Whether there is room for one more, beside what is taken. `ahead`: for so many slots more than there are, and for as much more of
 * all else.
 */
export function fits(room: Room, load: Load, demand: Demand, ahead = 0): boolean {
  if (load.cpus + demand.cpus > room.cpus + ahead * parts) return false;
  if (demand.isPlain) return true;
  const factor = 1 + ahead / room.slots;
  if (load.memoryBytes + demand.memoryBytes > room.memoryBytes * factor && demand.memoryBytes > 0) return false;
  if (load.gpus + demand.gpus > room.gpus * factor && demand.gpus > 0) return false;
  for (const [name, amount] of demand.pools) {
    if ((load.pools.get(name) ?? 0) + amount > (room.pools.get(name) ?? 0) * factor) return false;
  }
  return true;
}

/** What is asked for, and how much of it is free. */
export interface Shortage {
  readonly of: 'cpus' | 'memory' | 'gpus' | `pool:${string}` | 'attempts';
  readonly asked: number;
  readonly free: number;
}

/** What there is too little of beside what is taken: nothing where it fits. */
export function shortagesOf(room: Room, load: Load, { cpus, memoryBytes, gpus, pools }: Demand): Shortage[] {
  const short: Shortage[] = [];
  const check = (of: Shortage['of'], asked: number, taken: number, there: number, unit = 1): void => {
    if (asked > 0 && taken + asked > there)
      short.push({ of, asked: asked / unit, free: Math.max(0, there - taken) / unit });
  };
  check('cpus', cpus, load.cpus, room.cpus, parts);
  check('memory', memoryBytes, load.memoryBytes, room.memoryBytes);
  check('gpus', gpus, load.gpus, room.gpus);
  for (const [name, amount] of pools)
    check(`pool:${name}`, amount, load.pools.get(name) ?? 0, room.pools.get(name) ?? 0, parts);
  return short;
}

/** Whether there is room for it where there is nothing else. */
export const couldFit = (room: Room, demand: Demand): boolean => fits(room, empty, demand);

/** Whether more is taken than there is. */
export function isOver(room: Room, load: Load, ahead = 0): boolean {
  const factor = 1 + ahead / room.slots;
  if (load.cpus > room.cpus + ahead * parts || load.memoryBytes > room.memoryBytes * factor) return true;
  if (load.gpus > room.gpus * factor) return true;
  for (const [name, amount] of load.pools) if (amount > (room.pools.get(name) ?? 0) * factor) return true;
  return false;
}

/** How much of a worker is taken with one more, of whatever most is taken of. */
export function fullness(room: Room, load: Load, { cpus, memoryBytes, gpus, pools }: Demand): number {
  let full = (load.cpus + cpus) / room.cpus;
  if (memoryBytes > 0) full = Math.max(full, (load.memoryBytes + memoryBytes) / room.memoryBytes);
  if (gpus > 0) full = Math.max(full, (load.gpus + gpus) / room.gpus);
  for (const [name, amount] of pools) {
    full = Math.max(full, ((load.pools.get(name) ?? 0) + amount) / (room.pools.get(name) ?? 0));
  }
  return full;
}

/** Which part of a worker it takes, of whatever it takes most of. */
export const shareOf = (room: Room, demand: Demand): number => fullness(room, empty, demand);
