/**
 * Bad nodes: a worker on which one task after another fails, while others succeed, is suspected. Its bad ends are not
 * charged then: one of the tasks is tried elsewhere. If that succeeds, the fault is the worker's: it is quarantined,
 * and what failed there is forgiven. If it fails there, too, or the trial takes too long, the worker is cleared, and
 * the tasks are charged as always.
 */
import type { AttemptId, TaskId } from '../../model/ids.ts';
import { suspectAfterFailures, suspicionMsMax } from '../../model/limits.ts';
import type { Outcome } from '../../model/outcome.ts';
import { isEndedWorkflow } from '../../model/states.ts';
import type { Cluster } from '../cluster.ts';
import { reinstateBehind } from '../task/retrying.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';

/** Failures of a streak that are remembered, to be forgiven. */
const streakMax = 1_000;

/** Whether an end says something about where it ran. One that was told to end, or ran out of time, does not. */
const isTelling = ({ kind }: Outcome): boolean => kind === 'exited' || kind === 'signalled' || kind === 'never-started';

/** After a good end: the worker is beyond suspicion; one that was suspected for the same task is at fault. */
export function noteGoodEnd(turn: Turn, worker: WorkerRecord, task: TaskId): void {
  const { cluster } = turn;
  if (worker.streak.length > 0) worker.streak = [];
  worker.lastGoodAt = turn.now;
  if (worker.suspicion !== undefined) clear(turn, worker);
  const suspect = suspectTriedBy(cluster, task);
  if (suspect !== undefined && suspect !== worker) quarantine(turn, suspect);
  for (const other of cluster.failing) suspectLate(turn, other);
}

/** What fails fails fast: all of it may have been charged before anybody else came to a good end. */
function suspectLate(turn: Turn, worker: WorkerRecord): void {
  const { cluster } = turn;
  const { streak, state, suspicion } = worker;
  if (streak.length < suspectAfterFailures || state === 'gone') cluster.failing.delete(worker);
  else if (suspicion === undefined && isSuspect(cluster, worker)) {
    const trial = streak.findLast((end) => isForgivable(cluster, end.task));
    if (trial !== undefined) suspect(turn, worker, trial.task);
  }
}

function isForgivable(cluster: Cluster, task: TaskId): boolean {
  const view = cluster.taskView(task);
  const { state, stop } = cluster.workflow(view.workflow);
  const isGoingOn = !isEndedWorkflow(state) && stop === undefined;
  return isGoingOn && view.state === 'failed' && view.reason === 'attempts';
}

/** After a bad end. Returns whether the task stays in triage until the worker is cleared or quarantined. */
export function noteBadEnd(
  turn: Turn,
  worker: WorkerRecord,
  { task, attempt, outcome }: { readonly task: TaskId; readonly attempt: AttemptId; readonly outcome: Outcome },
): boolean {
  if (!isTelling(outcome)) return false;
  const { cluster } = turn;
  const tried = suspectTriedBy(cluster, task);
  if (tried !== undefined && tried !== worker) clear(turn, tried);
  if (worker.streak.length < streakMax) worker.streak.push({ task, attempt, at: turn.now });
  if (worker.streak.length >= suspectAfterFailures) cluster.failing.add(worker);
  if (worker.suspicion === undefined && !isSuspect(cluster, worker)) return false;
  suspect(turn, worker, task);
  return cluster.tasks.state(task) === 'triaging';
}

function isSuspect(cluster: Cluster, worker: WorkerRecord): boolean {
  const tasks = new Set(worker.streak.slice(0, 10 * suspectAfterFailures).map(({ task }) => task));
  const begunAt = worker.streak[0]?.at ?? 0;
  if (tasks.size < suspectAfterFailures) return false;
  for (const other of cluster.liveWorkers.values()) {
    const isWell = other.state === 'healthy' && other.bar === undefined && other.streak.length === 0;
    if (other !== worker && isWell && other.lastGoodAt >= begunAt) return true;
  }
  return false;
}

/** The first task is tried elsewhere, the others wait for what comes of it. */
function suspect(turn: Turn, worker: WorkerRecord, task: TaskId): void {
  const { cluster } = turn;
  if (worker.suspicion === undefined) {
    worker.suspicion = { until: turn.now + suspicionMsMax, trial: task, waiting: [] };
    cluster.suspects.add(worker);
    cluster.avoided.set(task, worker.id);
    forgive(turn, task);
  } else {
    worker.suspicion.waiting.push(task);
    cluster.suspended.add(task);
  }
}

function suspectTriedBy(cluster: Cluster, task: TaskId): WorkerRecord | undefined {
  for (const worker of cluster.suspects) if (worker.suspicion?.trial === task) return worker;
  return undefined;
}

/** Returns the tasks that had waited; they are no longer kept from triage. */
function endSuspicion({ cluster }: Turn, worker: WorkerRecord): readonly TaskId[] {
  const { trial, waiting = [] } = worker.suspicion ?? {};
  worker.suspicion = undefined;
  cluster.suspects.delete(worker);
  if (trial !== undefined) cluster.avoided.delete(trial);
  for (const task of waiting) cluster.suspended.delete(task);
  return waiting;
}

/** The tasks are charged as always. */
function clear(turn: Turn, worker: WorkerRecord): void {
  worker.streak = [];
  for (const task of endSuspicion(turn, worker)) {
    turn.task(task, { type: 'triage', now: turn.now, fatal: false }, 'controller');
  }
}

function quarantine(turn: Turn, worker: WorkerRecord): void {
  const { streak } = worker;
  endSuspicion(turn, worker);
  worker.streak = [];
  const why = `${streak.length} attempts in a row failed on it, and one of the tasks succeeded elsewhere`;
  // What an operator decided stays: a quarantine may end by itself.
  if (worker.bar === undefined) {
    turn.emit({ type: 'worker-barred', worker: worker.id, bar: { kind: 'quarantined', why } });
  }
  const { tasks } = turn.cluster;
  for (const task of new Set(streak.map((end) => end.task))) {
    const workflow = turn.cluster.workflow(tasks.workflow(task));
    if (!isEndedWorkflow(workflow.state)) forgive(turn, task);
  }
}

function forgive(turn: Turn, task: TaskId): void {
  const hadFailed = turn.cluster.tasks.state(task) === 'failed';
  if (turn.task(task, { type: 'forgive' }, 'controller').kind === 'accept' && hadFailed) reinstateBehind(turn, task);
}

/** Suspicions that have lasted too long are dropped. */
export function expireSuspicions(turn: Turn): void {
  for (const worker of [...turn.cluster.suspects]) {
    if (worker.suspicion !== undefined && worker.suspicion.until <= turn.now) clear(turn, worker);
  }
}

export function nextSuspicionEnd({ suspects }: Cluster): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { suspicion } of suspects) next = Math.min(next, suspicion?.until ?? next);
  return next;
}
