/**
 * The controller: `step(inputs, now)` decides, changes the cluster and says what to make durable and what to do then.
 * Synchronous, without I/O: the shell pumps inputs in and effects out, and so does the simulator.
 *
 * Owns: the cluster, the sessions of workers, the custody of output, the tokens, the answers that can be asked for again, what is
 * to be told to whom, the fingerprints of failures.
 * 1. Every effect of a step is performed only after the step's changes are durable.
 * 2. A step makes at most about `commitRowsMax` changes; `isUnfinished` asks for another one.
 * 3. No input makes it throw: a bad request is refused, a bad message drops its link.
 */
import type { Cluster } from '../core/cluster.ts';
import { launchTasks } from '../core/scheduler/launch.ts';
import { overdueAttempts } from '../core/scheduler/rebalance.ts';
import { nextDeadline, settle } from '../core/settle.ts';
import { Turn } from '../core/turn.ts';
import type { Outlook } from '../core/why/reason.ts';
import { DroverError } from '../model/errors.ts';
import type { AttemptId } from '../model/ids.ts';
import { commitRowsMax, overdueMs } from '../model/limits.ts';
import { presets, type Timeouts } from '../model/timeouts.ts';
import type { AnswerRow } from '../store/answer-row.ts';
import type { FingerprintRow } from '../store/failure-rows.ts';
import type { NoticeRow } from '../store/notice-row.ts';
import type { TokenRow } from '../store/token-row.ts';
import { Answers } from './answers.ts';
import { FailureNotes } from './failures/notes.ts';
import { HttpWorkers, type OutputLengths } from './http-workers.ts';
import { Identities } from './identities.ts';
import { journal } from './journal.ts';
import type { Effect, Input, Launch, StepResult } from './messages.ts';
import { Notices } from './notices.ts';
import { OutputCustody } from './output-custody.ts';
import { type Collected, handleRequest } from './requests.ts';
import { orderNeedOf } from './task-need.ts';
import { Tokens } from './tokens.ts';
import { UsageSamples } from './usage-samples.ts';
import { defaultHealthCheck } from './worker-care.ts';
import { WorkerSessions } from './worker-sessions.ts';

export interface ControllerStart {
  readonly cluster: Cluster;
  /** Of this controller process: workers associate with it. */
  readonly scheduler: string;
  /** Where the packed output ends, as far as the store knows. */
  readonly outputEnd: { readonly file: number; readonly length: number };
  /** How much output the store has of each live attempt of a worker over HTTP. */
  readonly outputLengths?: ReadonlyMap<AttemptId, OutputLengths>;
  /** Of the store, and how many changes are in its history. */
  readonly generation: string;
  readonly versionAtStart: number;
  readonly tokens?: readonly TokenRow[];
  readonly notices?: { readonly cursor: number; readonly rows: readonly NoticeRow[] };
  readonly answers?: readonly AnswerRow[];
  readonly fingerprints?: readonly FingerprintRow[];
  readonly settings: ControllerSettings;
}

/** What whoever starts a controller may choose. */
export interface ControllerSettings {
  readonly timeouts: Timeouts;
  /** The command that shows that a worker can run commands. */
  readonly healthCheck: string;
  readonly mayBumpUnhealthy: boolean;
}

export const defaultSettings: ControllerSettings = {
  ...{ timeouts: presets.interactive, healthCheck: defaultHealthCheck, mayBumpUnhealthy: false },
};

export class Controller {
  readonly cluster: Cluster;
  readonly sessions: WorkerSessions;
  readonly tokens: Tokens;
  readonly answers: Answers;
  readonly notices: Notices;
  readonly failures: FailureNotes;
  readonly #httpWorkers: HttpWorkers;
  readonly #identities: Identities;
  readonly #custody: OutputCustody;
  readonly #usage = new UsageSamples();
  readonly #timeouts: Timeouts;
  #rebalanceAt = 0;

  constructor(start: ControllerStart) {
    const { cluster, outputEnd, outputLengths, settings, ...kept } = start;
    const { tokens = [], answers = [], notices, fingerprints = [], ...lineage } = kept;
    this.cluster = cluster;
    this.#timeouts = settings.timeouts;
    this.tokens = new Tokens(tokens);
    this.answers = new Answers(answers);
    this.#identities = new Identities(cluster);
    this.notices = new Notices(notices ?? { cursor: 0, rows: [] });
    this.failures = new FailureNotes(fingerprints);
    this.#custody = new OutputCustody(outputEnd);
    const keepers = { custody: this.#custody, failures: this.failures, usage: this.#usage };
    this.sessions = new WorkerSessions(cluster, { ...lineage, ...settings }, keepers);
    this.#httpWorkers = new HttpWorkers(cluster, settings.timeouts, keepers, outputLengths);
  }

  step(inputs: readonly Input[], now: number): StepResult {
    const turn = new Turn(this.cluster, now);
    const effects: Effect[] = [];
    const collected: Collected = { specs: [], definitions: [], tagged: [] };
    for (const input of inputs) this.#take(turn, input, effects, collected);
    this.sessions.lookAfter(turn, effects);
    this.#httpWorkers.lookAfter(turn, effects);
    const isUnsettled = settle(turn, commitRowsMax);
    this.#tellWorkers(turn, effects);
    const isCut = this.sessions.isWaiting(now) ? false : this.#launch(turn, effects);
    if (!isCut) this.#rebalance(now, effects);
    effects.push(...journal(turn.changes, this.cluster));
    this.sessions.version += turn.changes.length;
    const { pieces, writes } = this.#custody.take();
    const generation = this.sessions.takeGeneration();
    const tokens = this.tokens.takeChanges();
    const answers = this.answers.takeChanges();
    const notices = this.notices.takeChanges();
    const failures = this.failures.take(turn.changes);
    return {
      at: now,
      changes: turn.changes,
      rows: this.cluster.takeDirty(),
      ...collected,
      output: pieces,
      samples: this.#usage.take(),
      ...(failures === undefined ? {} : { failures }),
      ...(generation === undefined ? {} : { generation }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(answers === undefined ? {} : { answers }),
      ...(notices === undefined ? {} : { notices }),
      writes,
      effects,
      isUnfinished: isUnsettled || isCut,
      spare: this.sessions.takeSpare(),
    };
  }

  /** When to step again if no input comes. */
  nextDeadline(now: number): number {
    const settling = Math.min(nextDeadline(this.cluster), this.#httpWorkers.nextDeadline);
    // Where nothing may be launched nothing is reserved either.
    const reserving = this.sessions.isWaiting(now) ? Number.POSITIVE_INFINITY : this.cluster.lanes.reserveAt;
    return Math.min(settling, this.sessions.nextDeadline(now), reserving);
  }

  /** What is known here, and not in the cluster, of why a task waits. */
  outlook(now: number): Outlook {
    const { heartbeatMs, heartbeatGraceMs } = this.#timeouts;
    return {
      ...{ now, initialWait: this.sessions.waitAt(now), lateMs: heartbeatMs + heartbeatGraceMs },
      givenUpAt: ({ id, kind }, attempt) =>
        kind === 'http' ? this.#httpWorkers.givenUpAt(attempt) : this.sessions.givenUpAt(id, now),
    };
  }

  #take(turn: Turn, input: Input, effects: Effect[], collected: Collected): void {
    switch (input.type) {
      case 'request': {
        const { ticket, request, key } = input;
        try {
          const { sessions, tokens, notices } = this;
          const earlier = key && this.answers.find(key, turn.now);
          const means = {
            turn,
            sessions,
            httpWorkers: this.#httpWorkers,
            identities: this.#identities,
            usage: this.#usage,
            tokens,
            notices,
          };
          const reply = earlier ?? handleRequest({ ...means, effects, collected, ticket }, request);
          if (key !== undefined && reply !== undefined && earlier === undefined) {
            this.answers.keep(key, reply, turn.now);
          }
          if (reply !== undefined) effects.push({ type: 'reply', ticket, reply });
        } catch (error) {
          if (!(error instanceof DroverError)) throw error;
          effects.push({ type: 'refuse', ticket, error });
        }
        return;
      }
      case 'link-message':
        return this.sessions.onMessage(turn, input.link, input.message, effects);
      case 'link-closed':
        return this.sessions.onClosed(turn, input.link, effects);
      case 'tick':
        return;
    }
  }

  /** What was decided about attempts that a worker holds has to reach it. */
  #tellWorkers(turn: Turn, effects: Effect[]): void {
    const { tasks } = this.cluster;
    const cancelled: AttemptId[] = [];
    for (const change of turn.changes) {
      if (change.type === 'task-changed' && change.event.type === 'moved' && change.event.move.to === 'cancelling') {
        const attempt = tasks.lastAttempt(change.task);
        if (attempt !== undefined) cancelled.push(attempt);
      }
      if (change.type === 'worker-barred' && change.bar !== undefined)
        this.sessions.stops.retractFrom(change.worker, effects);
      if (change.type === 'workflow-halt-mode') this.sessions.stops.halt(change.workflow, change.mode, effects);
    }
    this.sessions.stops.kill(cancelled, 'cancel', effects);
  }

  #rebalance(now: number, effects: Effect[]): void {
    if (now < this.#rebalanceAt && now > this.#rebalanceAt - overdueMs) return;
    this.#rebalanceAt = now + overdueMs;
    this.sessions.stops.retract(overdueAttempts(this.cluster, now), effects);
  }

  /** Returns whether there is more to launch. */
  #launch(turn: Turn, effects: Effect[]): boolean {
    const { assignments, isCut } = launchTasks(turn, commitRowsMax);
    for (const { worker, attempts } of assignments) {
      const launches: Launch[] = [];
      for (const id of attempts) {
        const record = this.cluster.attempts.get(id);
        if (record === undefined || !turn.attempt(id, { type: 'send' }, 'distributor')) continue;
        const { task, number } = record;
        const need = orderNeedOf(this.cluster.needs, record.need);
        launches.push(need === undefined ? { attempt: id, task, number } : { attempt: id, task, number, need });
      }
      const link = this.sessions.linkOf(worker.id);
      const seq = this.sessions.seqOf(worker.id);
      if (link !== undefined) effects.push({ type: 'run', link, instance: worker.instance, seq, attempts: launches });
    }
    return isCut;
  }
}
