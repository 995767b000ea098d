/**
 * Which attempts are to be taken back, since they wait behind others although there is room elsewhere. What is sent
 * ahead is reckoned from how long tasks took until now: a long one among short ones would hold up all behind it.
 */
import type { AttemptId } from '../../model/ids.ts';
import { overdueMs } from '../../model/limits.ts';
import type { AttemptState } from '../../model/states.ts';
import type { Cluster } from '../cluster.ts';
import { mayLaunch } from './launch.ts';

const waiting: ReadonlySet<AttemptState> = new Set(['recorded', 'sent', 'accepted']);

/** As many as there are free slots; the last to be sent come first, since they would wait longest. */
export function overdueAttempts(cluster: Cluster, now: number): AttemptId[] {
  let room = 0;
  for (const worker of cluster.liveWorkers.values()) {
    if (mayLaunch(worker)) room += Math.max(0, worker.slots - worker.attempts.size);
  }
  const overdue: AttemptId[] = [];
  if (room === 0) return overdue;
  for (const { attempts, slots } of cluster.liveWorkers.values()) {
    if (overdue.length >= room) break;
    if (attempts.size > slots) overdue.push(...lastUnstarted(cluster, [...attempts], attempts.size - slots, now));
  }
  return overdue.slice(0, room);
}

function lastUnstarted(cluster: Cluster, attempts: readonly AttemptId[], most: number, now: number): AttemptId[] {
  const found: AttemptId[] = [];
  for (let at = attempts.length - 1; at >= 0 && found.length < most; at--) {
    const record = cluster.attempts.get(attempts[at] as AttemptId);
    if (record !== undefined && waiting.has(record.state) && record.recordedAt <= now - overdueMs)
      found.push(record.id);
  }
  return found;
}
