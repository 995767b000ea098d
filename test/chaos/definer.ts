/**
 * Submits tasks by `drover submit` until all of them are acknowledged. A submission that fails is made again under
 * another name; the first one may be there all the same, and then has to be there as a whole.
 */
import type { Chance } from './chance.ts';
import type { Herd } from './herd.ts';
import type { Kind, Ledger } from './ledger.ts';

export interface Submission {
  /** Of the workflow. */
  readonly name: string;
  readonly nonces: readonly string[];
  /** The workflow that was acknowledged. */
  readonly id?: string;
}

export interface DefinerOptions {
  readonly tasks: number;
  readonly batches: number;
  /** From 0 to 1: how much of the submissions may be made by now, so that they last as long as the kills. */
  readonly pace: () => number;
  /** How long a task takes. */
  readonly durationMs?: (chance: Chance) => number;
}

const pollMs = 20;
/** A few tasks are long, so that there is always one to interrupt. */
const longOneIn = 12;

export class Definer {
  readonly submissions: Submission[] = [];
  readonly #herd: Herd;
  readonly #ledger: Ledger;
  readonly #chance: Chance;
  readonly #options: DefinerOptions;

  constructor(herd: Herd, ledger: Ledger, chance: Chance, options: DefinerOptions) {
    this.#herd = herd;
    this.#ledger = ledger;
    this.#chance = chance;
    this.#options = options;
  }

  /** From 0 to 1. */
  get progress(): number {
    return this.acknowledged.length / this.#options.batches;
  }

  get acknowledged(): Submission[] {
    return this.submissions.filter(({ id }) => id !== undefined);
  }

  async submitAll(): Promise<void> {
    const { tasks, batches, pace } = this.#options;
    for (let batch = 0; batch < batches; batch++) {
      while (this.progress > pace()) await pause(pollMs);
      const size = Math.floor(((batch + 1) * tasks) / batches) - Math.floor((batch * tasks) / batches);
      for (let attempt = 1; !(await this.#submit(`b${batch + 1}t${attempt}`, size)); attempt++) await pause(pollMs);
    }
  }

  /** Whether it was acknowledged. */
  async #submit(name: string, size: number): Promise<boolean> {
    const { durationMs = briefly } = this.#options;
    await this.#herd.ready();
    const nonces = Array.from({ length: size }, (_, at) => `${name}.${at + 1}`);
    const lines = nonces.map((nonce) => this.#ledger.commandFor(nonce, this.#kind(), durationMs(this.#chance)));
    const { code, stdout, stderr } = await this.#herd.run(['submit', '--name', name, '-'], lines.join('\n'));
    const id = /^(w\d+)\n$/.exec(stdout)?.[1];
    if (id !== undefined) this.submissions.push({ name, nonces, id });
    else this.submissions.push({ name, nonces });
    const isExplained = id === undefined ? code === 3 : code === 0;
    if (!isExplained) this.#herd.faults.push(`drover submit ended with ${code}: ${stdout}${stderr}`);
    return id !== undefined;
  }

  #kind(): Kind {
    return this.#chance.pick(['plain', 'daemon', 'loud'], (kind) => (kind === 'plain' ? 30 : 1));
  }
}

const briefly = (chance: Chance): number =>
  chance.isOneIn(longOneIn) ? chance.between(200, 800) : chance.between(5, 50);

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
