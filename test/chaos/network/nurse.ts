/** Looks after workers: how long each takes, once no trouble is left, until its controller finds it healthy again. */
import type { Herd } from '../herd.ts';
import type { Troubles } from './troubles.ts';

export interface Recovery {
  readonly worker: number;
  readonly ms: number;
  /** The last trouble before it. */
  readonly after: string;
}

const lookEveryMs = 200;
const answerMsMax = 2_000;

export class Nurse {
  /** Of each trouble that was followed by none before its worker was well. */
  readonly recoveries: Recovery[] = [];
  readonly #herd: Herd;
  readonly #troubles: Troubles;
  /** Up to when troubles are dealt with. */
  readonly #healedAt: number[] = [];

  constructor(herd: Herd, troubles: Troubles) {
    this.#herd = herd;
    this.#troubles = troubles;
  }

  async watch(isOver: () => boolean): Promise<void> {
    for (; !isOver(); await pause(lookEveryMs)) {
      try {
        const client = this.#herd.client();
        const found = await Promise.race([client?.workers(), pause(answerMsMax)]);
        const well = (found?.workers ?? []).filter(({ state }) => state === 'healthy').map(({ shard }) => shard);
        this.#herd.workerPids.forEach((_, worker) => {
          if (well.some((shard) => shard.includes(`/state/${worker}/`))) this.#onWell(worker);
        });
      } catch {
        // Nobody answers: then nobody is well.
      }
    }
  }

  get longest(): Recovery | undefined {
    return this.recoveries.toSorted((a, b) => b.ms - a.ms)[0];
  }

  #onWell(worker: number): void {
    const now = Date.now();
    const last = this.#troubles.of(worker).toSorted((a, b) => b.to - a.to)[0];
    if (last === undefined || last.to > now || last.to <= (this.#healedAt[worker] ?? 0)) return;
    this.#healedAt[worker] = last.to;
    this.recoveries.push({ worker, ms: now - last.to, after: last.kind });
  }
}

const pause = (ms: number): Promise<undefined> => new Promise((done) => setTimeout(() => done(undefined), ms));
