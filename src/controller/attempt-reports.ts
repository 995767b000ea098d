/**
 * What workers say of attempts: which they have, which began, which ended; and what is repeated to them about these.
 *
 * Owns: the attempts that run and that the store does not know.
 * 1. What a worker runs is adopted once, when it is new; what it does not have was never started there.
 * 2. An end is acknowledged only after it is durable; one that changes nothing is acknowledged too.
 */
import type { Cluster } from '../core/cluster.ts';
import { endAttempt, startAttempt } from '../core/task/ending.ts';
import type { Turn } from '../core/turn.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { type AttemptId, attemptId, printWorker, type WorkerId } from '../model/ids.ts';
import { outputTailBytesMax } from '../model/limits.ts';
import { outputStreams } from '../model/states.ts';
import type { AttemptEnd, FromWorker } from '../protocol/worker.ts';
import type { FailureNotes } from './failures/notes.ts';
import type { Effect, LinkId } from './messages.ts';
import type { OutputCustody } from './output-custody.ts';
import { OutputPulls, type Pull } from './output-pulls.ts';
import type { UsageSamples } from './usage-samples.ts';
import { WorkerStops } from './worker-stops.ts';

type Of<T extends FromWorker['t']> = Extract<FromWorker, { readonly t: T }>;

/** Where that goes which workers tell of attempts and is no change of state. */
export interface ReportKeepers {
  readonly custody: OutputCustody;
  readonly failures: FailureNotes;
  readonly usage: UsageSamples;
}

export class AttemptReports {
  readonly #cluster: Cluster;
  readonly #custody: OutputCustody;
  readonly #failures: FailureNotes;
  readonly #usage: UsageSamples;
  readonly #linkOf: (worker: WorkerId) => LinkId | undefined;
  readonly pulls: OutputPulls;
  readonly stops: WorkerStops;
  /** As after a restore. They are killed, and until they have ended nothing is launched: it could be what they run. */
  readonly #disowned = new Map<AttemptId, WorkerId>();

  constructor(cluster: Cluster, keepers: ReportKeepers, linkOf: (worker: WorkerId) => LinkId | undefined) {
    this.#cluster = cluster;
    this.#custody = keepers.custody;
    this.#failures = keepers.failures;
    this.#usage = keepers.usage;
    this.#linkOf = linkOf;
    this.pulls = new OutputPulls(keepers.custody);
    this.stops = new WorkerStops(cluster, linkOf);
  }

  /** Whether something runs that could be any task. */
  get hasDisowned(): boolean {
    return this.#disowned.size > 0;
  }

  /** The workers that run it. */
  get disowning(): WorkerId[] {
    return [...new Set(this.#disowned.values())];
  }

  onAccepted(turn: Turn, worker: WorkerRecord, { attempts }: Of<'accepted'>): void {
    for (const id of attempts) {
      const attempt = attemptId(id);
      if (worker.attempts.has(attempt)) turn.attempt(attempt, { type: 'accept' }, 'operator');
    }
  }

  onStarted(turn: Turn, worker: WorkerRecord, { attempts }: Of<'started'>): void {
    for (const { attempt, at } of attempts) startAttempt(turn, attemptId(attempt), worker.id, at);
  }

  /** Adopts what a new worker runs. What it does not have was never started there, and never will be. */
  adopt(turn: Turn, worker: WorkerRecord, message: Of<'running'>, effects: Effect[]): void {
    const reported = new Set<AttemptId>();
    const unknown: AttemptId[] = [];
    for (const { attempt, task, phase, startedAt } of message.attempts) {
      const id = attemptId(attempt);
      reported.add(id);
      const record = this.#cluster.attempts.get(id);
      if (record?.worker !== worker.id || record.task !== task) {
        unknown.push(id);
        if (phase !== 'ended') this.#disowned.set(id, worker.id);
      } else if (phase === 'running' && startedAt !== undefined) startAttempt(turn, id, worker.id, startedAt);
      else if (phase === 'accepted') turn.attempt(id, { type: 'accept' }, 'operator');
    }
    for (const id of [...worker.attempts]) {
      if (reported.has(id)) continue;
      const outcome = { kind: 'never-started', why: 'not-running', message: 'it did not reach its worker' } as const;
      endAttempt(turn, { attempt: id, worker: worker.id, outcome }, 'controller');
    }
    const facts = { worker: printWorker(worker.id), adopted: reported.size - unknown.length, unknown: unknown.length };
    effects.push({ type: 'log', level: 'info', message: 'a worker said what it runs', facts });
    this.#cluster.skipAttempts(Math.max(0, ...unknown));
  }

  /** Repeats to a worker that was away what it may have missed. */
  remind(worker: WorkerRecord, effects: Effect[]): void {
    if (worker.bar !== undefined) this.stops.retractFrom(worker.id, effects);
    const { tasks } = this.#cluster;
    const link = this.#linkOf(worker.id);
    const disowned = [...this.#disowned].flatMap(([id, holder]) => (holder === worker.id ? [id] : []));
    if (link !== undefined && disowned.length > 0) {
      effects.push({ type: 'send', link, message: { t: 'kill', attempts: disowned, why: 'unknown' } });
    }
    const held = [...worker.attempts].map((id) => this.#cluster.attempts.get(id)).filter((a) => a !== undefined);
    const cancelled = held.filter(({ task }) => tasks.state(task) === 'cancelling').map(({ id }) => id);
    this.stops.kill(cancelled, 'cancel', effects);
    for (const workflow of new Set(held.map(({ task }) => tasks.workflow(task)))) {
      const { state, haltMode } = this.#cluster.workflow(workflow);
      if (state === 'halting' && haltMode !== undefined) this.stops.halt(workflow, haltMode, effects);
    }
  }

  onUpdate(turn: Turn, link: LinkId, worker: WorkerRecord, { ends }: Of<'update'>, effects: Effect[]): void {
    // Until it is known what it runs, an end could be of something that is not known to have begun.
    if (worker.facts.isNew && worker.state !== 'gone') return;
    for (const end of ends) {
      if (this.hasDisowned) this.#disowned.delete(attemptId(end.attempt));
      this.#recordEnd(turn, worker, end);
      if (end.stdout.bytes > 0 || end.stderr.bytes > 0) this.#keepOutput(worker, end, effects);
    }
    effects.push({ type: 'send', link, message: { t: 'ack', attempts: ends.map(({ attempt }) => attempt) } });
  }

  onUsage(worker: WorkerRecord, { series }: Of<'usage'>): void {
    this.#usage.addOf(worker, series);
  }

  onKept({ id }: WorkerRecord, { kept }: Of<'kept'>, effects: Effect[]): void {
    this.pulls.need(id, kept.flatMap(pullsOfKept), effects);
  }

  /** Of a worker that is gone: nothing it ran is left. */
  forget(worker: WorkerId): void {
    this.pulls.forget(worker);
    for (const [attempt, holder] of this.#disowned) if (holder === worker) this.#disowned.delete(attempt);
  }

  /**
   * Also of an end that is repeated, since its acknowledgement may have been lost with what was to be fetched: the same
   * pieces are kept again in the same places of the stream.
   */
  #keepOutput(worker: WorkerRecord, end: AttemptEnd, effects: Effect[]): void {
    const attempt = attemptId(end.attempt);
    const known = this.#cluster.attempts.get(attempt);
    if (known !== undefined && known.worker !== worker.id) return;
    const pulls = outputStreams
      .map((stream) => ({ attempt, stream, offset: 0, end: this.#custody.keepTail(attempt, stream, end[stream]) }))
      .filter((pull) => pull.end > 0);
    this.pulls.need(worker.id, pulls, effects);
  }

  #recordEnd(turn: Turn, worker: WorkerRecord, end: AttemptEnd): void {
    const { attempt, outcome, startedAt, usage, signalledFor } = end;
    const report = { attempt: attemptId(attempt), worker: worker.id, outcome, startedAt, usage, signalledFor };
    if (!endAttempt(turn, report)) return;
    if (outcome.kind !== 'succeeded') this.#failures.noteEnd(report.attempt, outcome, end.stderr.tail);
    if (usage === undefined) return;
    const wallMs = Math.max(1, usage.wallMs);
    worker.averageMs = worker.averageMs === 0 ? wallMs : worker.averageMs * 0.9 + wallMs * 0.1;
    if (worker.state !== 'gone') turn.cluster.candidates.noteRoom(worker);
  }
}

/** Output that a worker still keeps after its end was recorded: all but the tail, which came with the end. */
function pullsOfKept(kept: Of<'kept'>['kept'][number]): Pull[] {
  const attempt = attemptId(kept.attempt);
  return outputStreams
    .map((stream) => ({ attempt, stream, offset: 0, end: kept[stream] - Math.min(kept[stream], outputTailBytesMax) }))
    .filter(({ end }) => end > 0);
}
