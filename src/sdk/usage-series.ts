/** What an attempt used while it ran, over time: of tasks of any worker. */
import type { UsageMetric } from '../model/states.ts';
import type { ExecutionInfo } from '../protocol/http-worker.ts';

/** What was used by then, since the sample before. */
export interface UsagePoint {
  /** In ms since the epoch. */
  readonly at: number;
  /** Bytes of memory at most, processors or GPUs on average. */
  readonly value: number;
}

export type UsageOverTime = {
  /** The number of the attempt. */
  readonly attempt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
} & Readonly<Record<UsageMetric, readonly UsagePoint[]>>;

export function usageIn(info: ExecutionInfo): UsageOverTime {
  const { attempt, time_started: started, time_terminated: ended } = info;
  const points = (samples: ExecutionInfo['memory_usage']): UsagePoint[] =>
    samples.map(({ at, value }) => ({ at: Date.parse(at), value }));
  return {
    attempt,
    ...(started === undefined ? {} : { startedAt: Date.parse(started) }),
    ...(ended === undefined ? {} : { endedAt: Date.parse(ended) }),
    memory: points(info.memory_usage),
    cpu: points(info.cpu_utilization),
    gpu: points(info.gpu_usage),
  };
}
