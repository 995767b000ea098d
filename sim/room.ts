/**
 * Whether what really runs on a worker fits into it. Counts by itself, in another way than the worker does.
 *
 * Owns: what each attempt asked for that was sent.
 */
import type { OrderNeed } from '../src/protocol/worker.ts';
import type { Kernel } from './kernel.ts';
import type { WorkerHost } from './worker-host.ts';

const plain: OrderNeed = { cpus: 1 };
/** Of sums of fractions. */
const errorMax = 1e-6;

export class Room {
  readonly #kernel: Kernel;
  readonly #needs = new Map<number, OrderNeed>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  onSent(attempt: number, need: OrderNeed | undefined): void {
    if (need === undefined) this.#needs.delete(attempt);
    else this.#needs.set(attempt, need);
  }

  /** 16: `running` is all that runs on a worker, of which one has just begun. */
  check({ machine, slotsMax, plan: { capacity } }: WorkerHost, running: readonly number[]): void {
    const needs = running.map((attempt) => this.#needs.get(attempt) ?? plain);
    const pools = new Set(needs.flatMap((need) => Object.keys(need.pools ?? {})));
    const most: [string, number, (need: OrderNeed) => number | undefined][] = [
      ['slots', slotsMax, (need) => need.cpus],
      ['bytes', capacity?.memoryBytes ?? Number.POSITIVE_INFINITY, (need) => need.memoryBytes],
      ['GPUs', capacity?.gpus ?? 0, (need) => need.gpus],
      ...[...pools].map((pool): [string, number, (need: OrderNeed) => number | undefined] => [
        `of ${pool}`,
        capacity?.pools?.[pool] ?? 0,
        (need) => need.pools?.[pool],
      ]),
    ];
    for (const [name, capacityOfIt, amountOf] of most) {
      const sum = needs.reduce((total, need) => total + (amountOf(need) ?? 0), 0);
      if (sum <= capacityOfIt + errorMax) continue;
      this.#kernel.fail('16', `${running.length} tasks take ${sum} ${name} of ${machine}, which has ${capacityOfIt}`);
    }
  }
}
