/** What may have gone wrong with a worker, and so explains what is wrong in the records. */
import type { Kill } from './herd.ts';

export interface Cause {
  readonly at: number;
  readonly what: string;
}

/** A worker is named by its process. */
export interface Causes {
  /** Why what ran there between those times was lost. */
  ofLoss(pid: number, from: number, to: number): Cause | undefined;
  /** Why nobody could kill then what ran there, and so it may have met the next attempt. */
  ofOverlap(pid: number, from: number, to: number): Cause | undefined;
}

/** A process that was on its way when its worker died may write its first line a moment later. */
export const lateMs = 1_000;

export const killCauses = (kills: readonly Kill[]): Causes => ({
  ofLoss: (pid, from, to) => {
    const kill = kills.find(
      ({ at, victims }) => at >= from - lateMs && at <= to && victims.some((victim) => victim.workerPid === pid),
    );
    return kill && { at: kill.at, what: `${kill.phase}, ${kill.target} killed` };
  },
  ofOverlap: () => undefined,
});
