/**
 * Workers that take part by plain requests: no socket, no health check, a lease only. They promise to end what they run
 * a margin before its lease ends; a margin after that it is lost, and may be tried again.
 *
 * Owns: the leases of these workers and of their attempts, and how far the output of each of these attempts has come.
 * 1. A claim is decided here, in a turn, like a launch: a task is launched or claimed, never both.
 * 2. A worker speaks for the attempts that it claimed, and for no others.
 * 3. A lease is renewed by a heartbeat alone; one that names its attempts renews those only, so that an attempt whose
 *    claim was answered into the void is not kept alive by a worker that does not know of it.
 * 4. Output is appended without gaps; what was appended already is taken again, and changes nothing.
 * 5. After a restart every lease is as long as the longest that its worker may have been told.
 */
import type { AttemptRecord } from '../core/attempt/record.ts';
import type { Cluster } from '../core/cluster.ts';
import { claimTask, claimTasks, type StopOrder, stopOrders } from '../core/scheduler/claim.ts';
import { Leases } from '../core/scheduler/leases.ts';
import { type EndReport, endAttempt, loseAttempts } from '../core/task/ending.ts';
import type { Turn } from '../core/turn.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { DroverError } from '../model/errors.ts';
import {
  type AttemptId,
  printAttempt,
  printTask,
  printWorker,
  type TaskId,
  type WorkerId,
  workerId,
} from '../model/ids.ts';
import { httpWorkersMax } from '../model/limits.ts';
import type { OutputStream } from '../model/states.ts';
import { silenceMsMax, type Timeouts } from '../model/timeouts.ts';
import type { ReportKeepers } from './attempt-reports.ts';
import type { FailureNotes } from './failures/notes.ts';
import type { AttemptName, Effect, HttpRequest, LeaseTerms, Reply } from './messages.ts';
import type { OutputCustody } from './output-custody.ts';

/** Bytes of each stream that are kept. */
export type OutputLengths = Record<OutputStream, number>;

type Of<T extends HttpRequest['type']> = Extract<HttpRequest, { readonly type: T }>;

export class HttpWorkers {
  readonly #cluster: Cluster;
  readonly #custody: OutputCustody;
  readonly #failures: FailureNotes;
  readonly #terms: LeaseTerms;
  readonly #workers = new Leases<WorkerId>();
  readonly #attempts = new Leases<AttemptId>();
  readonly #lengths: Map<AttemptId, OutputLengths>;

  constructor(
    cluster: Cluster,
    timeouts: Timeouts,
    { custody, failures }: ReportKeepers,
    lengths: ReadonlyMap<AttemptId, OutputLengths> = new Map(),
  ) {
    this.#cluster = cluster;
    this.#custody = custody;
    this.#failures = failures;
    const { heartbeatMs, marginMs } = timeouts;
    this.#terms = { leaseMs: silenceMsMax(timeouts), marginMs, heartbeatMs };
    this.#lengths = new Map(lengths);
    for (const worker of cluster.liveWorkers.values()) if (worker.kind === 'http') this.#goOn(worker);
  }

  handle(turn: Turn, request: HttpRequest, isWaiting: boolean, effects: Effect[]): Reply {
    switch (request.type) {
      case 'join-http':
        return this.#join(turn, request, effects);
      case 'leave-http':
        this.#giveUp(turn, this.#mustBeHere(request.worker), 'it ended by itself', effects);
        return { type: 'done' };
      case 'claim-task':
        return this.#claim(turn, request, isWaiting);
      case 'claim-next':
        return this.#claimNext(turn, request, isWaiting);
      case 'list-claims':
        return this.#granted([...this.#mustBeHere(request.worker).attempts]);
      case 'renew-leases':
        return this.#renew(turn, request);
      case 'append-output':
        return this.#append(request);
      case 'start-claimed':
        return this.#start(turn, request);
      case 'end-claimed':
        return this.#end(turn, request);
    }
  }

  /** What ran on workers that were silent for too long is lost. */
  lookAfter(turn: Turn, effects: Effect[]): void {
    const by = turn.now - this.#terms.marginMs;
    for (const id of this.#workers.takeEnded(by)) {
      const worker = this.#cluster.liveWorkers.get(id);
      if (worker !== undefined) this.#giveUp(turn, worker, 'its lease ended', effects);
    }
    for (const id of this.#attempts.takeEnded(by)) this.#lose(turn, id);
  }

  get nextDeadline(): number {
    return Math.min(this.#workers.nextLook, this.#attempts.nextLook) + this.#terms.marginMs;
  }

  /** When an attempt is given up, if nothing is heard of its worker. */
  givenUpAt(attempt: AttemptId): number | undefined {
    const end = this.#attempts.endOf(attempt);
    return end === undefined ? undefined : end + this.#terms.marginMs;
  }

  #goOn(worker: WorkerRecord): void {
    const until = worker.facts.heartbeatAt + Math.max(this.#terms.leaseMs, worker.silenceMs);
    this.#workers.extend(worker.id, until);
    for (const attempt of worker.attempts) this.#attempts.extend(attempt, until);
  }

  #join(turn: Turn, { name, host, slots, capacity, owner }: Of<'join-http'>, effects: Effect[]): Reply {
    const { cluster, now } = turn;
    if (cluster.liveWorkers.size >= httpWorkersMax) {
      throw new DroverError('workers-too-many', `there are ${cluster.liveWorkers.size} workers already`);
    }
    const worker = workerId(cluster.workers.size + 1);
    const instance = `http-${worker}-${now}`;
    const fitted = capacity === undefined ? {} : { capacity };
    const identity = { kind: 'http', owner, shard: name, lock: '', instance, host } as const;
    turn.emit({ type: 'worker-joined', worker, ...identity, slots, ...fitted });
    turn.emit({ type: 'worker-patience', worker, silenceMs: this.#terms.leaseMs });
    this.#workers.extend(worker, now + this.#terms.leaseMs);
    const facts = { worker: printWorker(worker), name, host, slots, ...fitted };
    effects.push({ type: 'log', level: 'info', message: 'a worker over HTTP joined', facts });
    return { type: 'joined', worker, ...this.#terms };
  }

  #claim(turn: Turn, { worker: id, task }: Of<'claim-task'>, isWaiting: boolean): Reply {
    const worker = this.#mustBeHere(id);
    this.#hear(turn, worker);
    if (isWaiting) throw notYet(this.#cluster, task);
    return this.#lease(turn, [claimTask(turn, worker, task)]);
  }

  #claimNext(turn: Turn, { worker: id, most }: Of<'claim-next'>, isWaiting: boolean): Reply {
    const worker = this.#mustBeHere(id);
    this.#hear(turn, worker);
    return this.#lease(turn, isWaiting ? [] : claimTasks(turn, worker, most));
  }

  #lease(turn: Turn, attempts: readonly AttemptId[]): Reply {
    for (const attempt of attempts) this.#attempts.extend(attempt, turn.now + this.#terms.leaseMs);
    return this.#granted(attempts);
  }

  #granted(attempts: readonly AttemptId[]): Reply {
    const claims = attempts.map((attempt) => {
      const { task, number } = this.#cluster.attempts.get(attempt) as AttemptRecord;
      return { attempt, task, number };
    });
    return { type: 'claimed', claims, ...this.#terms };
  }

  #renew(turn: Turn, { worker: id, attempts: named }: Of<'renew-leases'>): Reply {
    const worker = this.#mustBeHere(id);
    this.#hear(turn, worker);
    const { silenceMs } = worker;
    const { leaseMs } = this.#terms;
    // Durable before it is told: whoever comes after this controller may have shorter leases to give.
    if (silenceMs < leaseMs) turn.emit({ type: 'worker-patience', worker: id, silenceMs: leaseMs });
    const renewed = named === undefined ? [...worker.attempts] : this.#held(worker, named);
    for (const attempt of renewed) this.#attempts.extend(attempt, turn.now + leaseMs);
    const over = (named ?? []).filter((one) => this.#held(worker, [one]).length === 0);
    const gone = over.map((one) => ({ attempt: this.#nameOf(one), why: 'gone' as const }));
    return {
      type: 'renewed',
      ...this.#terms,
      cancel: [...stopOrders(this.#cluster, worker).map((order) => this.#named(order)), ...gone],
      attempts: [...worker.attempts].map((attempt) => this.#nameById(attempt)),
      ...(worker.bar === undefined ? {} : { bar: worker.bar.kind }),
    };
  }

  #held(worker: WorkerRecord, names: readonly AttemptName[]): AttemptId[] {
    const { tasks } = this.#cluster;
    return names.flatMap(({ task, number }) => {
      const last = tasks.attemptNumber(task) === number ? tasks.lastAttempt(task) : undefined;
      return last !== undefined && worker.attempts.has(last) ? [last] : [];
    });
  }

  #append({ worker, attempt, stream, offset, data }: Of<'append-output'>): Reply {
    const record = this.#cluster.attempts.get(attempt);
    if (record === undefined || record.state === 'ended') {
      throw new DroverError('attempt-ended', 'the attempt has ended: its output is complete');
    }
    if (record.worker !== worker) throw notYours(this.#nameById(attempt), worker);
    const lengths = this.#lengths.get(attempt) ?? { stdout: 0, stderr: 0 };
    const length = lengths[stream];
    if (offset > length) {
      throw new DroverError(
        'output-gap',
        `${stream} of ${this.#nameById(attempt)} has ${length} bytes, not ${offset}`,
        {
          details: { expected: length },
        },
      );
    }
    const added = data.subarray(Math.min(data.length, length - offset));
    this.#custody.keep(attempt, stream, length, added);
    if (stream === 'stderr') this.#failures.noteOutput(attempt, added);
    lengths[stream] = length + added.length;
    this.#lengths.set(attempt, lengths);
    return { type: 'appended', length: lengths[stream] };
  }

  /** When it really began, by its worker's clock. */
  #start(turn: Turn, { worker, task, number, startedAt }: Of<'start-claimed'>): Reply {
    const record = this.#liveOf(task, number);
    if (record === undefined || record.state === 'ended' || record.worker !== worker) return { type: 'not-live' };
    if (record.startedAt !== startedAt) turn.emit({ type: 'attempt-started', attempt: record.id, startedAt });
    return { type: 'done' };
  }

  /** What is not live, or is another's, is answered by what the store has of it. */
  #end(turn: Turn, { worker, task, number, end }: Of<'end-claimed'>): Reply {
    const record = this.#liveOf(task, number);
    if (record?.worker !== worker) return { type: 'not-live' };
    if (end.outcome.kind === 'cancelled' && record.state !== 'ended') this.#mustBeStopped(record);
    const report: EndReport = { ...end, attempt: record.id, worker };
    if (!endAttempt(turn, report)) return { type: 'not-live' };
    this.#failures.noteHttpEnd(record.id, report.outcome);
    this.#forget(record.id);
    return { type: 'ended', attempt: record.id };
  }

  #mustBeStopped({ id, task, worker }: AttemptRecord): void {
    const holder = this.#cluster.workers.get(worker);
    if (holder === undefined || stopOrders(this.#cluster, holder).some(({ attempt }) => attempt === id)) return;
    const state = this.#cluster.tasks.state(task);
    throw new DroverError(
      'transition-not-allowed',
      `${this.#nameById(id)} is ${state}: nobody cancelled it, so it can't end as cancelled`,
      { details: { state, allowed: ['terminated'] } },
    );
  }

  /** The last attempt of a task, if it is known and is the one that is meant. */
  #liveOf(task: TaskId, number: number | undefined): AttemptRecord | undefined {
    const { tasks, attempts } = this.#cluster;
    const last = tasks.lastAttempt(task);
    const isMeant = number === undefined || number === tasks.attemptNumber(task);
    return last === undefined || !isMeant ? undefined : attempts.get(last);
  }

  #hear(turn: Turn, worker: WorkerRecord): void {
    worker.facts = { ...worker.facts, heartbeatAt: turn.now };
    this.#workers.extend(worker.id, turn.now + this.#terms.leaseMs);
  }

  #lose(turn: Turn, attempt: AttemptId): void {
    const record = this.#cluster.attempts.get(attempt);
    this.#forget(attempt);
    if (record === undefined || record.state === 'ended') return;
    endAttempt(turn, { attempt, worker: record.worker, outcome: { kind: 'lost', what: 'worker' } }, 'controller');
  }

  #giveUp(turn: Turn, worker: WorkerRecord, why: string, effects: Effect[]): void {
    const facts = { worker: printWorker(worker.id), why, attempts: worker.attempts.size };
    effects.push({ type: 'log', level: 'warn', message: 'a worker over HTTP is gone', facts });
    for (const attempt of worker.attempts) this.#forget(attempt);
    loseAttempts(turn, worker.id);
    turn.emit({ type: 'worker-gone', worker: worker.id, why });
    this.#workers.drop(worker.id);
  }

  #forget(attempt: AttemptId): void {
    this.#attempts.drop(attempt);
    this.#lengths.delete(attempt);
    this.#failures.forget(attempt);
  }

  #mustBeHere(id: WorkerId): WorkerRecord {
    const worker = this.#cluster.workers.get(id);
    const name = printWorker(id);
    if (worker === undefined) throw new DroverError('worker-unknown', `there is no worker ${name}`);
    if (worker.kind !== 'http') throw new DroverError('worker-wrong', `${name} is no worker over HTTP`);
    if (worker.state !== 'gone') return worker;
    throw new DroverError('worker-unknown', `${name} is gone: ${worker.goneFor}`, {
      hint: 'end all that it runs, and register anew',
    });
  }

  #named({ attempt, why }: StopOrder): { readonly attempt: string; readonly why: StopOrder['why'] } {
    return { attempt: this.#nameById(attempt), why };
  }

  #nameById(attempt: AttemptId): string {
    return this.#nameOf(this.#cluster.attempts.get(attempt) as AttemptRecord);
  }

  #nameOf({ task, number }: AttemptName): string {
    const { tasks } = this.#cluster;
    return printAttempt(tasks.workflow(task), tasks.index(task), number);
  }
}

export const notYours = (attempt: string, worker: WorkerId): DroverError =>
  new DroverError('not-your-attempt', `${attempt} is not an attempt of ${printWorker(worker)}`);

function notYet({ tasks }: Cluster, task: TaskId): DroverError {
  const name = printTask(tasks.workflow(task), tasks.index(task));
  const why = 'nothing is given out until workers that the store does not know must be dead';
  return new DroverError('task-not-available', `${name} is ${tasks.state(task)}: ${why}`, {
    details: { state: tasks.state(task), allowed: [] },
    hint: 'try again in a while',
  });
}
