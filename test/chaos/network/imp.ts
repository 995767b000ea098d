/**
 * Makes trouble, drawn from a seed. Each worker's path, each worker's processes, and the controller have one trouble at a time,
 * and know nothing of each other: so several come together.
 * Begins gently, with what must cost nothing.
 */
import { Chance } from '../chance.ts';
import { type Herd, signal, spawnerOf } from '../herd.ts';
import type { Path } from './network.ts';
import type { Troubles } from './troubles.ts';

export interface ImpOptions {
  readonly seed: number;
  readonly seconds: number;
  /** How long a trouble lasts at most. */
  readonly msMax: number;
  /** Between two troubles of the same. */
  readonly gapMsMax: number;
}

/** The spawner is stopped as well, and wakes in time for its deadline: then it has to keep it. */
const spawnerBack = 'stop worker, spawner briefly';
const processFaults = [
  ...['stop worker', 'stop spawner', 'stop worker and spawner', spawnerBack],
  ...['kill worker', 'kill spawner', 'kill worker and spawner'],
];
const controllerFaults = ['stop controller', 'kill controller'];

const msMin = 50;
const gentle = { share: 0.3, msMax: 2_500 };
/** Some are longer than a worker's life, by far or just so. */
const longOneIn = 6;
const longMsMin = 10_000;
/** So much longer than a worker waits for its controller. */
const firstPartitionMs = 14_000;
/** Until a process that was stopped or started has had its turn. */
const wakeMs = 1_500;
const startMs = 3_000;
const spawnerMsMax = 9_000;

export class Imp {
  readonly #herd: Herd;
  readonly #troubles: Troubles;
  readonly #options: ImpOptions;
  readonly #begunAt = Date.now();

  constructor(herd: Herd, troubles: Troubles, options: ImpOptions) {
    this.#herd = herd;
    this.#troubles = troubles;
    this.#options = options;
  }

  /** From 0 to 1. */
  get progress(): number {
    return Math.min(1, (Date.now() - this.#begunAt) / (this.#options.seconds * 1_000));
  }

  async run(paths: readonly Path[]): Promise<void> {
    const lanes = paths.flatMap((path, worker) => [
      this.#lane(2 * worker, path.faults, (fault, ms) => this.#disturb(path, worker, fault, ms)),
      this.#lane(2 * worker + 1, processFaults, (fault, ms) => this.#harm(worker, fault, ms)),
    ]);
    lanes.push(this.#lane(2 * paths.length, controllerFaults, (fault, ms) => this.#harmController(fault, ms)));
    await Promise.all(lanes);
    await this.#herd.ready();
  }

  /** The first lane begins with a partition that costs its worker everything, so that no round lacks one. */
  async #lane<Fault extends string>(
    number: number,
    faults: readonly Fault[],
    act: (fault: Fault, ms: number) => Promise<void>,
  ): Promise<void> {
    const chance = new Chance(this.#options.seed * 100 + number);
    const [first] = faults;
    if (number === 0 && first !== undefined) {
      await pause(wakeMs);
      await act(first, firstPartitionMs);
    }
    for (;;) {
      await pause(chance.between(this.#options.gapMsMax / 8, this.#options.gapMsMax));
      if (this.progress >= 1) return;
      const isGentle = this.progress < gentle.share;
      // Kills are fewer: a task that is lost too often fails, and rightly so.
      const fault = chance.pick(faults, (each) => (each.startsWith('kill') ? (isGentle ? 0 : 1) : 2));
      await act(fault, this.#duration(chance, isGentle));
    }
  }

  /** As many short ones as long ones, whatever short means. */
  #duration(chance: Chance, isGentle: boolean): number {
    const msMax = isGentle ? Math.min(gentle.msMax, this.#options.msMax) : this.#options.msMax;
    const isLong = chance.isOneIn(longOneIn) && msMax > longMsMin;
    return isLong ? chance.between(longMsMin, msMax) : msMin * (msMax / msMin) ** chance.next();
  }

  async #disturb(path: Path, worker: number, fault: Path['faults'][number], ms: number): Promise<void> {
    const end = this.#troubles.begin(fault, worker);
    path.begin(fault);
    // Once the links are broken there is nothing to wait for.
    const lastsMs = fault === 'reset' ? msMin : ms;
    await pause(lastsMs);
    path.heal();
    end(path.recoveryMs(lastsMs));
  }

  async #harm(worker: number, fault: string, ms: number): Promise<void> {
    const workerPid = this.#herd.workerPids[worker] ?? 0;
    const spawner = spawnerOf(workerPid);
    const pids = [
      ...(fault.includes('worker') ? [workerPid] : []),
      ...(fault.includes('spawner') && spawner !== undefined ? [spawner] : []),
    ];
    if (fault === spawnerBack && spawner !== undefined) setTimeout(() => signal(spawner, 'SIGCONT'), briefly(ms));
    if (pids.length > 0) await this.#act(fault, worker, pids, ms);
  }

  #harmController(fault: string, ms: number): Promise<void> {
    return this.#act(fault, undefined, [this.#herd.serverPid], ms);
  }

  async #act(fault: string, worker: number | undefined, pids: readonly number[], ms: number): Promise<void> {
    const end = this.#troubles.begin(fault, worker);
    if (fault.startsWith('kill')) {
      const [workerPid] = worker === undefined ? [] : [this.#herd.workerPids[worker] ?? 0];
      const whose = workerPid === undefined ? {} : { workerPid };
      await this.#herd.strike(
        fault,
        pids.map((pid) => ({ pid, ...whose })),
      );
      if (worker === undefined) await this.#herd.ready();
      return end(startMs);
    }
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await pause(ms);
    for (const pid of pids) signal(pid, 'SIGCONT');
    end(wakeMs);
  }
}

const briefly = (ms: number): number => Math.min(ms / 2, spawnerMsMax);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
