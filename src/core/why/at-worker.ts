/** Why a task that a worker has is not done. */
import { assert } from '../../model/errors.ts';
import type { AttemptId } from '../../model/ids.ts';
import { whyLimits } from '../../model/limits.ts';
import type { AttemptRecord } from '../attempt/record.ts';
import type { Cluster } from '../cluster.ts';
import { isOver } from '../resources/room.ts';
import type { TaskView } from '../task/view.ts';
import type { WorkerRecord } from '../worker.ts';
import { unavailable } from './placing.ts';
import type { Outlook, Reason, ReasonOf } from './reason.ts';

type Held = Extract<TaskView, { readonly state: 'launched' | 'running' | 'cancelling' }>;

export function reasonsOfHeld(cluster: Cluster, outlook: Outlook, view: Held): Reason[] {
  const record = view.lastAttempt === undefined ? undefined : cluster.attempts.get(view.lastAttempt);
  assert(record !== undefined, 'a task that a worker has has an attempt');
  const worker = cluster.workers.get(record.worker);
  return [
    heldOf(cluster, view, record, worker),
    ...(worker === undefined ? [] : silenceOf(worker, record.id, outlook)),
  ];
}

function heldOf(cluster: Cluster, view: Held, record: AttemptRecord, worker: WorkerRecord | undefined): Reason {
  const held = {
    ...{ attempt: record.id, number: record.number, worker: record.worker },
    since: record.startedAt || record.recordedAt,
  };
  if (view.state === 'cancelling') return { kind: 'cancelling', ...held, reason: view.reason };
  switch (record.state) {
    case 'running':
    case 'ended':
      return { kind: 'running', ...held };
    case 'unsure':
      return { kind: 'unsure', ...held };
    case 'recorded':
    case 'sent':
    case 'accepted': {
      if (worker !== undefined && isOver(worker.room, worker.load))
        return { kind: 'queued-at-worker', ...held, before: countBefore(cluster, worker, record.id) };
      return { kind: 'sent', ...held, isOnItsWay: record.state !== 'accepted' };
    }
  }
}

/** A worker starts what it has in the order in which it came. */
function countBefore({ attempts }: Cluster, worker: WorkerRecord, own: AttemptId): number {
  let count = 0;
  let looks = 0;
  for (const id of worker.attempts) {
    if (id === own || ++looks > whyLimits.attemptsMax) break;
    if (attempts.get(id)?.state !== 'running') count++;
  }
  return count;
}

/** One that was barred goes on with what it has. */
function silenceOf(worker: WorkerRecord, attempt: AttemptId, outlook: Outlook): Reason[] {
  const silence = worker.kind === 'http' ? lateness(worker, outlook) : sickness(worker);
  if (silence === undefined) return [];
  return [{ kind: 'worker-silent', worker: worker.id, ...silence, until: outlook.givenUpAt(worker, attempt) }];
}

type Silence = Pick<ReasonOf<'worker-silent'>, 'obstacle' | 'why'>;

function sickness(worker: WorkerRecord): Silence | undefined {
  if (worker.state === 'healthy' && !worker.isAway) return undefined;
  const { obstacle, why } = unavailable(worker);
  return { obstacle, why };
}

/** Nobody looks after its health: all there is is when it was last heard. */
const lateness = ({ facts }: WorkerRecord, { now, lateMs }: Outlook): Silence | undefined =>
  now - facts.heartbeatAt > lateMs ? { obstacle: 'unhealthy', why: 'no heartbeat' } : undefined;
