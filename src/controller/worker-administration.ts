/** What an operator may do with a worker. */

import type { Turn } from '../core/turn.ts';
import { printWorker } from '../model/ids.ts';
import type { Effect, Request } from './messages.ts';
import type { WorkerSessions } from './worker-sessions.ts';

type Administration = Extract<Request, { readonly type: `${string}-worker` }>;

interface Means {
  readonly turn: Turn;
  readonly sessions: WorkerSessions;
  readonly effects: Effect[];
}

export function administer(means: Means, request: Administration): void {
  const { turn, sessions, effects } = means;
  if (turn.cluster.liveWorkers.get(request.worker)?.kind === 'http') return administerHttp(means, request);
  const session = sessions.mustBeThere(request.worker);
  const { link, worker } = session;
  const { instance } = worker;
  switch (request.type) {
    case 'drain-worker':
      turn.emit({ type: 'worker-barred', worker: worker.id, bar: { kind: 'drained', why: 'by command' } });
      break;
    case 'release-worker':
      worker.streak = [];
      if (worker.bar !== undefined) turn.emit({ type: 'worker-barred', worker: worker.id });
      break;
    case 'stop-worker':
      turn.emit({ type: 'worker-barred', worker: worker.id, bar: { kind: 'stopping', why: 'by command' } });
      if (request.isNow) sessions.stop(session, effects);
      else sessions.stopIfIdle(session, effects);
      break;
    case 'resize-worker':
      effects.push({ type: 'send', link, message: { t: 'slots', instance, slots: request.slots } });
  }
  const facts = { worker: printWorker(worker.id), request: request.type };
  effects.push({ type: 'log', level: 'info', message: 'an operator decided about a worker', facts });
}

/** It is told with its next heartbeat; whether it ends then, and when, is its own affair. */
function administerHttp({ turn, effects }: Means, { type, worker, ...rest }: Administration): void {
  if (type === 'release-worker') turn.emit({ type: 'worker-barred', worker });
  if (type === 'drain-worker')
    turn.emit({ type: 'worker-barred', worker, bar: { kind: 'drained', why: 'by command' } });
  if (type === 'stop-worker')
    turn.emit({ type: 'worker-barred', worker, bar: { kind: 'stopping', why: 'by command' } });
  if ('slots' in rest) turn.emit({ type: 'worker-resized', worker, slots: rest.slots });
  const facts = { worker: printWorker(worker), request: type };
  effects.push({ type: 'log', level: 'info', message: 'an operator decided about a worker', facts });
}
