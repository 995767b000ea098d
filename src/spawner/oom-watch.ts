/**
 * Whether the kernel has killed for want of memory lately, anywhere on the machine: /proc/vmstat counts it, and does not
 * say whom. Owns the last count, without the kills in cgroups of tasks, and when it was last seen to have risen.
 */
import { readProc } from '../platform/node/process-tree.ts';

/** The death of a process is seen within this time, even of one whose memory takes long to free. */
const SEEN_MS_MAX = 2_000;

export class OomWatch {
  private readonly readCount: () => number | undefined;
  private count: number | undefined;
  private disowned = 0;
  private roseMs = Number.NEGATIVE_INFINITY;

  constructor(readCount: () => number | undefined = readOomKills) {
    this.readCount = readCount;
    this.count = readCount();
  }

  /** To be called now and then, so that an older kill is not taken for a new one. */
  look(nowMs: number): void {
    const total = this.readCount();
    const count = total === undefined ? undefined : total - this.disowned;
    if (count !== undefined && this.count !== undefined && count > this.count) this.roseMs = nowMs;
    this.count = count;
  }

  /** So many kills were not for want of memory of the machine: if they made the count rise, it did not. */
  disown(kills: number): void {
    this.disowned += kills;
    if (this.count === undefined || kills === 0) return;
    this.count = Math.min(this.count, (this.readCount() ?? 0) - this.disowned);
    this.roseMs = Number.NEGATIVE_INFINITY;
  }

  /** Whether a process that ended now by a KILL that nobody owns up to may have been ended by the kernel. */
  hasKilled(nowMs: number): boolean {
    this.look(nowMs);
    return nowMs - this.roseMs <= SEEN_MS_MAX;
  }
}

/** undefined on kernels before 4.13, which do not count. */
export function readOomKills(): number | undefined {
  const text = readProc('/proc/vmstat')?.toString('latin1') ?? '';
  const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
}
