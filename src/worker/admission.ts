/**
 * What of the worker's capacity its attempts with a need take, and whether the next attempt fits beside them.
 *
 * Owns: what each attempt with a need takes from its start to its end, and the GPUs that are free. Plain attempts, of
 * which each takes one processor, are not entered: whoever asks says how many there are, so that they cost nothing.
 * 1. What is let in fits beside all that is there: the sums exceed the capacity only after that has shrunk.
 * 2. Sums are of whole numbers, bytes and thousandths, so that they come back to zero.
 * 3. A GPU is with one attempt at a time.
 */
import type { OrderNeed, WorkerCapacity } from '../protocol/worker.ts';

export type Capacity = Pick<WorkerCapacity, 'memoryBytes' | 'pools'> & {
  readonly slots: number;
  /** As programs know them (`CUDA_VISIBLE_DEVICES`). */
  readonly gpus: readonly string[];
};

export type Verdict =
  | { readonly type: 'fits' }
  | { readonly type: 'waits' }
  /** It is more than all that there is. */
  | { readonly type: 'never'; readonly why: string };

/** What an attempt gets beside its share of what can only be counted. */
export interface Grant {
  readonly need: OrderNeed;
  readonly gpus: readonly string[];
}

interface Share extends Grant {
  readonly demand: Amounts;
}

/** By what it is called, for people as well. */
type Amounts = ReadonlyMap<string, number>;

const cpus = 'cpus';
const memory = 'bytes of memory';
const gpus = 'GPUs';
const plainDemand: Amounts = new Map([[cpus, 1_000]]);
const fits: Verdict = { type: 'fits' };
const waits: Verdict = { type: 'waits' };

export class Admission {
  readonly #capacity: Map<string, number>;
  readonly #taken = new Map<string, number>();
  readonly #shares = new Map<number, Share>();
  readonly #gpus: readonly string[];

  constructor({ slots, memoryBytes, gpus: gpuNames, pools = {} }: Capacity) {
    this.#gpus = gpuNames;
    this.#capacity = new Map([
      [cpus, slots * 1_000],
      // What is not known is not counted.
      [memory, memoryBytes ?? Number.POSITIVE_INFINITY],
      [gpus, gpuNames.length],
      ...amountsOf(pools),
    ]);
  }

  resize(slots: number): void {
    this.#capacity.set(cpus, slots * 1_000);
  }

  /** `plain`: how many attempts without a need run, or are about to. */
  judge(need: OrderNeed | undefined, plain: number): Verdict {
    const demand = need === undefined ? plainDemand : demandOf(need);
    let verdict = fits;
    for (const [name, amount] of demand) {
      const most = this.#capacity.get(name) ?? 0;
      if (amount > most)
        return { type: 'never', why: `it needs ${print(name, amount)}, its worker has ${print(name, most)}` };
      const others = (this.#taken.get(name) ?? 0) + (name === cpus ? plain * 1_000 : 0);
      if (others + amount > most) verdict = waits;
    }
    return verdict;
  }

  /** From now on, until it is given back; it must fit. */
  take(attempt: number, need: OrderNeed): Grant {
    const demand = demandOf(need);
    const used = new Set([...this.#shares.values()].flatMap((share) => share.gpus));
    const free = this.#gpus.filter((name) => !used.has(name));
    const share = { need, demand, gpus: free.slice(0, need.gpus ?? 0) };
    this.#shares.set(attempt, share);
    this.#add(demand, 1);
    return share;
  }

  giveBack(attempt: number): void {
    const share = this.#shares.get(attempt);
    if (share === undefined) return;
    this.#shares.delete(attempt);
    this.#add(share.demand, -1);
  }

  /** How many attempts with a need have their share. */
  get size(): number {
    return this.#shares.size;
  }

  get hasGpusTaken(): boolean {
    return (this.#taken.get(gpus) ?? 0) > 0;
  }

  /** Attempts that have GPUs, and which. */
  *gpusTaken(): Iterable<readonly [attempt: number, gpus: readonly string[]]> {
    for (const [attempt, share] of this.#shares) if (share.gpus.length > 0) yield [attempt, share.gpus];
  }

  #add(demand: Amounts, sign: 1 | -1): void {
    for (const [name, amount] of demand) this.#taken.set(name, (this.#taken.get(name) ?? 0) + sign * amount);
  }
}

const thousandths = (amount: number): number => Math.round(amount * 1_000);

/** Processors may be parts of one; so may pools, which have names of their own. */
const amountsOf = (pools: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(pools).map(([name, amount]) => [`of the pool ${name}`, thousandths(amount)]);

const demandOf = (need: OrderNeed): Amounts =>
  new Map([
    [cpus, thousandths(need.cpus)],
    [memory, need.memoryBytes ?? 0],
    [gpus, need.gpus ?? 0],
    ...amountsOf(need.pools ?? {}),
  ]);

const print = (name: string, amount: number): string =>
  `${name === memory || name === gpus ? amount : amount / 1_000} ${name}`;

/** What the worker itself may use is what it has to give: `CUDA_VISIBLE_DEVICES` of its own, or the first so many. */
export function gpuNamesOf(count: number, visible: string | undefined): string[] {
  if (visible === undefined) return Array.from({ length: count }, (_, index) => String(index));
  const names = visible.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '' && name !== '-1').slice(0, count);
}
