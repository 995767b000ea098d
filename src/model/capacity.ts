import { defaultQueue } from './need.ts';

/** What a worker has besides slots; a slot is a processor. */
export interface Capacity {
  readonly queue: string;
  /** Absent: nobody knows, and nobody counts. */
  readonly memoryBytes?: number;
  readonly gpus?: number;
  readonly pools?: Readonly<Record<string, number>>;
  /** When it will end by itself: nothing that may take longer is placed there. */
  readonly endsAt?: number;
}

/** Of a worker that says nothing. */
export const plainCapacity: Capacity = { queue: defaultQueue };

/** Whether both say the same. */
export function isSameCapacity(one: Capacity, other: Capacity): boolean {
  return (
    one.queue === other.queue &&
    one.memoryBytes === other.memoryBytes &&
    (one.gpus ?? 0) === (other.gpus ?? 0) &&
    one.endsAt === other.endsAt &&
    isSameAmounts(one.pools ?? {}, other.pools ?? {})
  );
}

function isSameAmounts(one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
