/** What the fields of a filter mean for an attempt. */
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Cluster } from '../../core/cluster.ts';
import { causeOf } from '../../model/failure-cause.ts';
import { printAttempt, printTask } from '../../model/ids.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { endFields } from '../../protocol/filter/fields.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';

export type AttemptValue = (row: AttemptRow, cluster: Cluster) => FilterValue | undefined;

const timeOf = (time: number): number | undefined => (time === 0 ? undefined : time);

export function exitOf(outcome: Outcome | undefined): number | undefined {
  if (outcome?.kind === 'succeeded') return 0;
  return outcome?.kind === 'exited' || outcome?.kind === 'cancelled' ? outcome.code : undefined;
}

/** How it ended, or where it runs: the same for a task's last attempt. */
export const endValues: Readonly<Record<(typeof endFields)[number]['name'], AttemptValue>> = {
  exit: ({ outcome }) => exitOf(outcome),
  signal: ({ outcome }) =>
    outcome?.kind === 'signalled' || outcome?.kind === 'cancelled' ? outcome.signal : undefined,
  outcome: ({ outcome }) => outcome?.kind,
  host: ({ worker }, cluster) => cluster.workers.get(worker)?.host,
  worker: ({ worker }) => worker,
  startedAt: ({ startedAt }) => timeOf(startedAt),
  endedAt: ({ endedAt }) => timeOf(endedAt),
  wall: ({ usage }) => usage?.wallMs,
  peak: ({ usage }) => usage?.peakBytes,
};

export const attemptValues: Readonly<Record<string, AttemptValue>> = {
  ...endValues,
  id: ({ task, number }, { tasks }) => printAttempt(tasks.workflow(task), tasks.index(task), number),
  task: ({ task }, { tasks }) => printTask(tasks.workflow(task), tasks.index(task)),
  workflow: ({ task }, { tasks }) => tasks.workflow(task),
  number: ({ number }) => number,
  state: (row, { attempts }) => attempts.get(row.id)?.state ?? stateOf(row),
  recordedAt: ({ recordedAt }) => recordedAt,
  cpu: ({ usage }) => usage?.cpuMs,
  cause: ({ outcome }) => (outcome === undefined ? undefined : causeOf(outcome)),
};

/** As far as its row tells. */
const stateOf = ({ outcome, startedAt }: AttemptRow): string =>
  outcome !== undefined ? 'ended' : startedAt > 0 ? 'running' : 'sent';
