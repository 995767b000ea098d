/**
 * The attempts that matter yet: those that have not ended, and lost ones whose worker may still speak up.
 *
 * Owns: their records, and which ids have been given out. Does not own: the states of tasks, and the rows of those that are over.
 * 1. A task that is launched, running or cancelling has a live attempt, on exactly one worker; no other task has one.
 * 2. What a live attempt takes is counted with its worker and in the limits, from its record until its end.
 * 3. One that ended is known until its row was taken; one that was lost until its end can't be corrected any more.
 */
import { assert } from '../model/errors.ts';
import type { AttemptId, TaskId, WorkerId, WorkflowId } from '../model/ids.ts';
import type { Need } from '../model/need.ts';
import { isEndedTask } from '../model/states.ts';
import { type AttemptRecord, type AttemptRow, loadAttempt } from './attempt/record.ts';
import type { ChangeOf } from './change.ts';
import type { Dirty } from './dirty-rows.ts';
import type { Limits } from './resources/limits.ts';
import type { Needs } from './resources/needs.ts';
import type { Candidates } from './scheduler/candidates.ts';
import type { TaskColumns } from './task/columns.ts';
import type { WorkerRecord } from './worker.ts';
import type { WorkflowRecord } from './workflow/record.ts';

/** What of a cluster attempts belong to, and take from. */
interface Holders {
  readonly tasks: TaskColumns;
  readonly needs: Needs;
  readonly limits: Limits;
  readonly candidates: Candidates;
  readonly workers: ReadonlyMap<WorkerId, WorkerRecord>;
  workflow(id: WorkflowId): WorkflowRecord;
  needOf(task: TaskId): Need;
}

export class KnownAttempts {
  readonly byId = new Map<AttemptId, AttemptRecord>();
  /** The highest id that was given out. */
  last = 0;
  readonly #cluster: Holders;
  readonly #dirty: Dirty;

  constructor(cluster: Holders, dirty: Dirty) {
    this.#cluster = cluster;
    this.#dirty = dirty;
  }

  /** Ids up to this one are not given out again. */
  skip(upTo: number): void {
    this.last = Math.max(this.last, upTo);
  }

  /** How far one is on its way; not durable, since after a restart its worker is asked. */
  note(id: AttemptId, state: 'sent' | 'accepted' | 'unsure'): void {
    const record = this.#get(id);
    const unsure = this.#cluster.workers.get(record.worker)?.unsure;
    record.state = state;
    if (state === 'unsure') unsure?.add(id);
    else unsure?.delete(id);
  }

  load(row: AttemptRow): void {
    const record = loadAttempt(row, this.#cluster.tasks.need(row.task));
    const isOpen = row.outcome === undefined;
    if (isOpen || this.#mayBeCorrected(record)) this.byId.set(row.id, record);
    if (isOpen) this.#give(record);
  }

  onRecorded({ attempt, task, number, worker }: ChangeOf<'attempt-recorded'>, at: number): void {
    const { tasks } = this.#cluster;
    this.skip(attempt);
    const previous = tasks.lastAttempt(task);
    // One that ended in this same turn is forgotten when its row has been taken.
    if (previous !== undefined && !this.#dirty.attempts.has(previous)) this.byId.delete(previous);
    const record: AttemptRecord = {
      id: attempt,
      task,
      number,
      previous: previous ?? 0,
      worker,
      state: 'recorded',
      recordedAt: at,
      startedAt: 0,
      endedAt: 0,
      outcome: undefined,
      usage: undefined,
      signalledFor: undefined,
      need: tasks.need(task),
    };
    this.byId.set(attempt, record);
    this.#give(record);
    this.#dirty.attempts.add(attempt);
  }

  onStarted({ attempt, startedAt }: ChangeOf<'attempt-started'>): void {
    const record = this.#get(attempt);
    record.state = 'running';
    record.startedAt = startedAt;
    this.#cluster.workers.get(record.worker)?.unsure.delete(attempt);
    this.#dirty.attempts.add(attempt);
  }

  onEnded(change: ChangeOf<'attempt-ended'>, at: number): void {
    const { tasks, needs, limits, candidates, workers } = this.#cluster;
    const { attempt, outcome, startedAt, endedAt, usage, signalledFor } = change;
    const record = this.#get(attempt);
    const workflow = this.#cluster.workflow(tasks.workflow(record.task));
    // One that was lost, and whose worker speaks after all, ends twice.
    if (record.state !== 'ended') {
      limits.give(workflow, this.#cluster.needOf(record.task));
      workflow.attemptsEnded++;
    }
    record.state = 'ended';
    record.outcome = outcome;
    record.endedAt = endedAt ?? at;
    record.startedAt = startedAt ?? record.startedAt;
    record.usage = usage;
    record.signalledFor = signalledFor;
    const worker = workers.get(record.worker);
    if (worker?.attempts.delete(attempt)) {
      worker.unsure.delete(attempt);
      worker.load.remove(needs.demand(record.need));
      if (worker.state !== 'gone') candidates.noteRoom(worker);
    }
    candidates.noteWoken();
    this.#dirty.attempts.add(attempt);
  }

  /** Those whose rows have been taken, and that are over. */
  forgetTaken(): void {
    for (const id of this.#dirty.attempts) this.#forgetIfOver(id);
  }

  /** The task has changed: its last attempt, if it was lost, may be past correction. */
  forgetLost(task: TaskId): void {
    const last = this.#cluster.tasks.lastAttempt(task);
    if (last !== undefined && !this.#dirty.attempts.has(last)) this.#forgetIfOver(last);
  }

  /** To its worker, and of the limits. */
  #give({ id, task, worker: holder, need }: AttemptRecord): void {
    const { tasks, needs, limits, workers } = this.#cluster;
    limits.take(tasks.workflow(task), this.#cluster.needOf(task));
    const worker = workers.get(holder);
    worker?.attempts.add(id);
    worker?.load.add(needs.demand(need));
  }

  #get(id: AttemptId): AttemptRecord {
    const record = this.byId.get(id);
    assert(record !== undefined, `attempt ${id} is known`);
    return record;
  }

  #forgetIfOver(id: AttemptId): void {
    const record = this.byId.get(id);
    if (record?.state !== 'ended') return;
    if (!this.#mayBeCorrected(record)) this.byId.delete(id);
  }

  /** The worker that was given up may still speak, until the task has ended, or begun anew with fresh budgets. */
  #mayBeCorrected({ id, task, outcome }: AttemptRecord): boolean {
    const { tasks } = this.#cluster;
    if (outcome?.kind !== 'lost' || tasks.lastAttempt(task) !== id) return false;
    const state = tasks.state(task);
    return state === 'triaging' || (!isEndedTask(state) && tasks.used(task, 'lost') > 0);
  }
}
