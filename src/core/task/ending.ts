/** An attempt's life as its worker reports it: started, ended; and what follows for its task. */
import type { AttemptId, WorkerId } from '../../model/ids.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { Role } from '../../model/states.ts';
import { type AttemptRecord, attemptView } from '../attempt/record.ts';
import { attemptTable } from '../attempt/table.ts';
import type { Usage } from '../change.ts';
import { decideBy } from '../machine.ts';
import { noteBadEnd, noteGoodEnd } from '../scheduler/suspicion.ts';
import type { Turn } from '../turn.ts';

export interface EndReport {
  readonly attempt: AttemptId;
  readonly worker: WorkerId;
  readonly outcome: Outcome;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly usage?: Usage | undefined;
  readonly signalledFor?: string | undefined;
}

/** A report about an attempt that is not that worker's, or is over, changes nothing. */
function known(turn: Turn, attempt: AttemptId, worker: WorkerId): AttemptRecord | undefined {
  const record = turn.cluster.attempts.get(attempt);
  return record?.worker === worker ? record : undefined;
}

export function startAttempt(turn: Turn, attempt: AttemptId, worker: WorkerId, startedAt: number): void {
  const record = known(turn, attempt, worker);
  if (record === undefined) return;
  if (decideBy(attemptTable, attemptView(record), { type: 'start' }, 'operator').kind !== 'accept') return;
  turn.emit({ type: 'attempt-started', attempt, startedAt });
  turn.task(record.task, { type: 'start', number: record.number }, 'operator');
}

/** Returns whether it changed anything; a worker is told that it was received in either case. */
export function endAttempt(turn: Turn, report: EndReport, role: Role = 'operator'): boolean {
  const { worker, attempt, outcome, startedAt, endedAt, usage, signalledFor } = report;
  const record = known(turn, attempt, worker);
  if (record === undefined) return false;
  const decision = decideBy(attemptTable, attemptView(record), { type: 'end', outcome }, role);
  if (decision.kind !== 'accept') return false;
  turn.emit({ type: 'attempt-ended', attempt, outcome, startedAt, endedAt, usage, signalledFor });
  const { task, number } = record;
  turn.task(task, { type: 'end', number, outcome }, role);
  const on = turn.cluster.workers.get(worker);
  const isTriaging = turn.cluster.tasks.state(task) === 'triaging';
  if (on !== undefined && outcome.kind === 'succeeded') noteGoodEnd(turn, on, task);
  const isSuspended = isTriaging && on !== undefined && noteBadEnd(turn, on, { task, attempt, outcome });
  if (isTriaging && !isSuspended && turn.cluster.tasks.state(task) === 'triaging') {
    const fatal = outcome.kind === 'never-started' && outcome.why === 'impossible';
    turn.task(task, { type: 'triage', now: turn.now, fatal }, 'controller');
  }
  return true;
}

/** The worker is dead, or must be by now: all that it had is lost, and may be tried again. */
export function loseAttempts(turn: Turn, worker: WorkerId): void {
  const record = turn.cluster.workers.get(worker);
  for (const attempt of [...(record?.attempts ?? [])]) {
    endAttempt(turn, { attempt, worker, outcome: { kind: 'lost', what: 'worker' } }, 'controller');
  }
}
