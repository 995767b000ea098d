/**
 * What to ask for next time, from what attempts that ended well have used. It is enough for each of them: with some room above
 * what was measured, but no more than what an attempt had asked for and got by with.
 */
const memoryHeadroom = 1.2;
const runtimeHeadroom = 1.5;
/** Below that, cpu time over wall time says more of the clock than of the program. */
const measuredMsMin = 10_000;
const cpusStep = 0.25;
const memoryStep = 1_000_000;
const runtimeStep = 1_000;
/** What takes a moment here takes a while on a busy machine. */
const runtimeMsMin = 60_000;

export interface Observation {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes?: number | undefined;
  /** What that attempt had asked for. */
  readonly asked: { readonly memoryBytes?: number | undefined; readonly runtimeMs?: number | undefined };
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
  #cpus = 0;

  add({ wallMs, cpuMs, peakBytes, asked }: Observation): void {
    if (peakBytes !== undefined) {
      this.#memoryBytes = Math.max(this.#memoryBytes, enough(peakBytes * memoryHeadroom, asked.memoryBytes));
    }
    this.#runtimeMs = Math.max(this.#runtimeMs, enough(wallMs * runtimeHeadroom, asked.runtimeMs));
    this.#wallMs += wallMs;
    if (wallMs > 0) this.#cpus = Math.max(this.#cpus, cpuMs / wallMs);
  }

  /** Without what was never measured. */
  get result(): Recommended {
    return {
      ...(this.#wallMs < measuredMsMin ? {} : { cpus: Math.max(cpusStep, roundUp(this.#cpus, cpusStep)) }),
      ...(this.#memoryBytes === 0 ? {} : { memoryBytes: roundUp(this.#memoryBytes, memoryStep) }),
      ...(this.#wallMs === 0 ? {} : { runtimeMs: Math.max(runtimeMsMin, roundUp(this.#runtimeMs, runtimeStep)) }),
    };
  }
}

const enough = (withRoom: number, asked: number | undefined): number => Math.min(withRoom, asked ?? withRoom);

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step;
