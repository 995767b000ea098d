/**
 * What to ask for next time, from what attempts that ended well have used. It is enough for each of them: with some room above
 * what was measured, but no more than what an attempt had asked for and got by with. Sums of it can be added up.
 */

/** Whole numbers first: 1.2 is none, and rounding up would find that. */
const withMemoryMargin = (bytes: number): number => (bytes * 6) / 5;
const withRuntimeMargin = (ms: number): number => (ms * 3) / 2;
/** Of less it can't be told how many processors a task keeps busy. */
const measuredMsMin = 10_000;
const cpusStep = 0.25;
const memoryStep = 1_000_000;
const runtimeStep = 1_000;
/** What takes a moment here takes a while on a busy machine. */
const runtimeMsMin = 60_000;

export interface Asked {
  readonly memoryBytes?: number | undefined;
  readonly runtimeMs?: number | undefined;
}

export interface Recommended {
  readonly cpus?: number;
  readonly memoryBytes?: number;
  readonly runtimeMs?: number;
}

export class Recommendation {
  #memoryBytes = 0;
  #runtimeMs = 0;
  #wallMs = 0;
  #cpuMs = 0;

  /** Of one attempt; `asked`: what it had asked for. */
  add(wallMs: number, cpuMs: number, peakBytes: number | undefined, asked: Asked): void {
    if (peakBytes !== undefined) {
      this.#memoryBytes = Math.max(this.#memoryBytes, enough(withMemoryMargin(peakBytes), asked.memoryBytes));
    }
    this.#runtimeMs = Math.max(this.#runtimeMs, enough(withRuntimeMargin(wallMs), asked.runtimeMs));
    this.#wallMs += wallMs;
    this.#cpuMs += cpuMs;
  }

  addAll(other: Recommendation): void {
    this.#memoryBytes = Math.max(this.#memoryBytes, other.#memoryBytes);
    this.#runtimeMs = Math.max(this.#runtimeMs, other.#runtimeMs);
    this.#wallMs += other.#wallMs;
    this.#cpuMs += other.#cpuMs;
  }

  /** Without what was never measured. */
  get result(): Recommended {
    const cpus = Math.max(cpusStep, roundUp(this.#cpuMs / this.#wallMs, cpusStep));
    return {
      ...(this.#wallMs < measuredMsMin ? {} : { cpus }),
      ...(this.#memoryBytes === 0 ? {} : { memoryBytes: roundUp(this.#memoryBytes, memoryStep) }),
      ...(this.#runtimeMs === 0 ? {} : { runtimeMs: Math.max(runtimeMsMin, roundUp(this.#runtimeMs, runtimeStep)) }),
    };
  }
}

const enough = (withRoom: number, asked: number | undefined): number => Math.min(withRoom, asked ?? withRoom);

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step;
