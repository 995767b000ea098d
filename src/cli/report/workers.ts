/** Which workers were there, for how long and with how many slots, and what they did of the workflow. */
import { pageRowsMax, reportLimits } from '../../model/limits.ts';
import type { Report, ReportWorker } from '../../protocol/report.ts';
import type { WorkerView } from '../../protocol/views/workers.ts';
import type { Client } from '../../sdk/client.ts';
import { withoutCuts } from './idle.ts';
import type { AttemptTally, WorkerSum } from './tally.ts';
import { rows } from './tally.ts';

export interface Presence {
  /** Time of all slots together, within the timeline. */
  readonly slotMs: number;
  readonly known: ReadonlyMap<string, Known>;
}

interface Known {
  readonly view: WorkerView;
  readonly slotMs: number;
}

const fields = ['id', 'host', 'state', 'slots', 'joinedAt'];

/**
 * Those that ran something of it, and those that could have: that are still there. When one went is not told, so it counts until the end
 * of what it ran last.
 */
export async function presenceOf(
  source: Pick<Client, 'eachWorker'>,
  { buckets, workers }: AttemptTally,
  now: number,
): Promise<Presence> {
  const known = new Map<string, Known>();
  if (buckets === undefined) return { slotMs: 0, known };
  const { originMs: beginMs, lastMs: endMs, cuts } = buckets;
  let slotMs = 0;
  for await (const view of source.eachWorker({ all: true, limit: pageRowsMax, fields })) {
    const sum = workers.get(view.id);
    if (sum === undefined && view.state === 'gone') continue;
    const fromMs = Math.max(beginMs, Math.min(Date.parse(view.joinedAt), sum?.firstMs ?? now));
    const toMs = view.state === 'gone' ? Math.min(endMs, sum?.lastMs ?? endMs) : endMs;
    if (toMs <= fromMs && sum === undefined) continue;
    if (toMs > fromMs) buckets.addSpan(rows.slots, fromMs, toMs, view.slots);
    const own = Math.max(0, withoutCuts(toMs, cuts) - withoutCuts(fromMs, cuts)) * view.slots;
    slotMs += own;
    if (sum !== undefined) known.set(view.id, { view, slotMs: own });
  }
  return { slotMs, known };
}

/** Those that ran most of it first. */
export function reportWorkers({ workers }: AttemptTally, { known }: Presence): Pick<Report, 'workers' | 'workersLeft'> {
  const all = [...workers.values()].sort((a, b) => b.busyMs - a.busyMs || b.attempts - a.attempts);
  const left = all.length - reportLimits.workersMax;
  return {
    workers: all.slice(0, reportLimits.workersMax).map((sum) => workerOf(sum, known.get(sum.id))),
    ...(left > 0 ? { workersLeft: left } : {}),
  };
}

function workerOf({ id, host, attempts, failed, busyMs, cpuMs }: WorkerSum, known: Known | undefined): ReportWorker {
  const slotMs = known?.slotMs ?? 0;
  return {
    ...{ id, host, attempts, failed, busyMs, cpuMs },
    state: known?.view.state ?? 'gone',
    slots: known?.view.slots ?? 0,
    ...(slotMs === 0 ? {} : { share: Math.round((1_000 * busyMs) / slotMs) / 1_000 }),
  };
}
