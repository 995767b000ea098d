/** How fast tasks end, smoothed over the last while, and when the rest will have ended. */

interface Sample {
  readonly atMs: number;
  readonly ended: number;
}

const windowMs = 15_000;
/** Samples closer together than this add nothing but memory. */
const spacingMs = 500;

export class Pace {
  private readonly samples: Sample[];
  private latest: Sample;

  constructor(atMs: number, ended: number) {
    this.latest = { atMs, ended };
    this.samples = [this.latest];
  }

  add(atMs: number, ended: number): void {
    this.latest = { atMs, ended };
    const newest = this.samples.at(-1);
    const isNews = newest === undefined || (ended !== newest.ended && atMs - newest.atMs >= spacingMs);
    if (isNews) this.samples.push(this.latest);
    // While nothing ends within the window, what came before it keeps the rate of slow tasks from falling to zero.
    while (this.isPast(this.samples[1], atMs)) this.samples.shift();
  }

  /** Undefined while nothing has ended. */
  perSecond(): number | undefined {
    const [oldest] = this.samples;
    if (oldest === undefined) return undefined;
    const tasks = this.latest.ended - oldest.ended;
    const ms = this.latest.atMs - oldest.atMs;
    return tasks > 0 && ms > 0 ? (tasks * 1_000) / ms : undefined;
  }

  remainingMs(tasks: number): number | undefined {
    const perSecond = this.perSecond();
    return perSecond === undefined ? undefined : (tasks * 1_000) / perSecond;
  }

  private isPast(sample: Sample | undefined, atMs: number): boolean {
    return sample !== undefined && atMs - sample.atMs > windowMs && sample.ended < this.latest.ended;
  }
}
