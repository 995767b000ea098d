/**
 * The controller's side of the worker protocol: which link speaks for which worker, and what is under way with it.
 *
 * Owns: links and sessions. The workers themselves are in the cluster, their health is in worker-care.ts, what they
 * say of attempts in attempt-reports.ts.
 * 1. Nothing is sent to run on a worker before it said what it already runs (`running`), which is believed once, as
 *    long as it is new; from then on only orders, ends and questions change what it has.
 * 2. A lost link is a delay, never a verdict: what was sent on it without an answer is unsure, and is asked about.
 * 3. The attempts of a worker are lost, and may be tried again, when it is dead: by its own clock, by a newer instance
 *    that holds its host lock, or by its own word.
 */
import type { Cluster } from '../core/cluster.ts';
import { loseAttempts } from '../core/task/ending.ts';
import type { Turn } from '../core/turn.ts';
import type { Outlook } from '../core/why/reason.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { type SetMark, WorkerSetHash } from '../core/worker-set.ts';
import { isSameCapacity, plainCapacity } from '../model/capacity.ts';
import { DroverError } from '../model/errors.ts';
import { printWorker, type WorkerId, workerId } from '../model/ids.ts';
import { silenceMsMax } from '../model/timeouts.ts';
import { type FromWorker, type Heartbeat, versionRefusal, workerProtocolVersion } from '../protocol/worker.ts';
import { AttemptReports, type ReportKeepers } from './attempt-reports.ts';
import { InitialWait } from './initial-wait.ts';
import type { Effect, LinkId, Reply, Request } from './messages.ts';
import type { OutputPulls } from './output-pulls.ts';
import { type CareOptions, defaultHealthCheck, WorkerCare } from './worker-care.ts';
import { WorkerSession } from './worker-session.ts';
import type { WorkerStops } from './worker-stops.ts';

type Of<T extends FromWorker['t']> = Extract<FromWorker, { readonly t: T }>;
/** From a worker that has said who it is. */
type FromKnown = Exclude<FromWorker, { readonly t: 'heartbeat' | 'output-hello' | 'output' }>;
type ReadOutput = Extract<Request, { readonly type: 'read-output' }>;

export interface SessionsOptions extends CareOptions {
  /** Of the store. */
  readonly generation: string;
  /** Changes in the store's history when this controller began. */
  readonly versionAtStart: number;
  /** Whether a worker that is not healthy may be replaced by another one of its shard. */
  readonly mayBumpUnhealthy: boolean;
}

export class WorkerSessions {
  readonly #cluster: Cluster;
  readonly #options: SessionsOptions;
  readonly #reports: AttemptReports;
  readonly #care: WorkerCare;
  readonly #wait: InitialWait;
  readonly #set = new WorkerSetHash();
  readonly #sessions = new Map<WorkerId, WorkerSession>();
  readonly #byInstance = new Map<string, WorkerRecord>();
  /** Who has a shard now. */
  readonly #byShard = new Map<string, WorkerSession>();
  readonly #workerOfLink = new Map<LinkId, WorkerId>();
  /** Who said something in this turn: each is looked at once, however much it said. */
  readonly #heard = new Set<WorkerSession>();
  #generation: string;
  /** Of the store from now on, if it was found to be a restored one: to be made durable. */
  #newGeneration: string | undefined;
  /** Changes in the store's history, those of this step not included. */
  version: number;

  constructor(cluster: Cluster, options: SessionsOptions, keepers: ReportKeepers) {
    this.#cluster = cluster;
    this.#options = options;
    this.version = options.versionAtStart;
    this.#generation = options.generation;
    this.#reports = new AttemptReports(cluster, keepers, (worker) => this.linkOf(worker));
    this.#care = new WorkerCare(options);
    for (const worker of cluster.workers.values()) this.#byInstance.set(worker.instance, worker);
    for (const worker of cluster.liveWorkers.values()) if (worker.kind === 'native') this.#begin(worker);
    this.#wait = new InitialWait(options.timeouts, options);
  }

  get pulls(): OutputPulls {
    return this.#reports.pulls;
  }

  get stops(): WorkerStops {
    return this.#reports.stops;
  }

  linkOf(worker: WorkerId): LinkId | undefined {
    return this.#sessions.get(worker)?.link;
  }

  seqOf(worker: WorkerId): number {
    return this.#sessions.get(worker)?.seq ?? 0;
  }

  /** Links of workers that are open: one that ends closes its own last of all. */
  get connected(): number {
    return this.#workerOfLink.size;
  }

  /** Whether nothing may be launched yet. */
  isWaiting(now: number): boolean {
    return this.#wait.isOn(now) || this.#reports.hasDisowned;
  }

  /** How long nothing may be launched, and because of whom; undefined where something may be. */
  waitAt(now: number): Outlook['initialWait'] {
    if (!this.isWaiting(now)) return undefined;
    return { until: this.#wait.isOn(now) ? this.#wait.endsAt : undefined, workers: this.#reports.disowning };
  }

  /** When what a worker runs is given up, if nothing is heard of it. */
  givenUpAt(worker: WorkerId, now: number): number | undefined {
    const session = this.#sessions.get(worker);
    return session === undefined ? undefined : this.#care.givenUpAt(session, now);
  }

  takeGeneration(): string | undefined {
    const generation = this.#newGeneration;
    this.#newGeneration = undefined;
    return generation;
  }

  onMessage(turn: Turn, link: LinkId, message: FromWorker, effects: Effect[]): void {
    const known = this.#session(link);
    if (known !== undefined) this.#care.onHeard(known, turn.now);
    switch (message.t) {
      case 'heartbeat':
        return this.#onHeartbeat(turn, link, message, effects);
      case 'output-hello':
        return this.#onOutputHello(link, message, effects);
      case 'output':
        this.pulls.onOutput(link, message, effects);
        if (known !== undefined) this.stopIfIdle(known, effects);
        return;
    }
    if (known === undefined) return drop(link, 'it spoke before its first heartbeat', effects);
    // A message of another process than the link's comes late, by a way that nobody knows.
    if ('instance' in message && message.instance !== known.worker.instance) return;
    if ('scheduler' in message && message.scheduler !== this.#options.scheduler) return;
    this.#onKnown(turn, link, known, message, effects);
    this.#heard.add(known);
  }

  #onKnown(turn: Turn, link: LinkId, session: WorkerSession, message: FromKnown, effects: Effect[]): void {
    const { worker } = session;
    switch (message.t) {
      case 'running':
        return this.#onRunning(turn, session, message, effects);
      case 'kept':
        return this.#reports.onKept(worker, message, effects);
      case 'accepted':
        return this.#reports.onAccepted(turn, worker, message);
      case 'started':
        return this.#reports.onStarted(turn, worker, message);
      case 'notified':
        return this.#care.onNotified(session, message, turn);
      case 'checked':
        if (this.#care.onChecked(session, message, turn.now, effects)) this.#onGoodCheck(turn, worker);
        return;
      case 'update':
        return this.#reports.onUpdate(turn, link, worker, message, effects);
      case 'usage':
        return this.#reports.onUsage(worker, message);
      case 'goodbye':
        session.link = undefined;
        return this.#giveUp(turn, session, 'it ended by itself', effects);
    }
  }

  /** A health check that somebody wrote for the purpose ends a quarantine; one that only runs `true` proves nothing. */
  #onGoodCheck(turn: Turn, { id, bar }: WorkerRecord): void {
    if (bar?.kind !== 'quarantined' || this.#options.healthCheck === defaultHealthCheck) return;
    turn.emit({ type: 'worker-barred', worker: id });
  }

  onClosed(turn: Turn, link: LinkId, effects: Effect[]): void {
    const session = this.#session(link);
    this.#workerOfLink.delete(link);
    this.pulls.onClosed(link, effects);
    if (session?.link !== link) return;
    this.#loseLink(turn, session);
    if (session.worker.state === 'gone') this.#sessions.delete(session.worker.id);
    const { id, attempts } = session.worker;
    const facts = { worker: printWorker(id), attempts: attempts.size, at: turn.now };
    effects.push({ type: 'log', level: 'info', message: 'a worker lost its connection', facts });
  }

  #loseLink(turn: Turn, session: WorkerSession): void {
    session.link = undefined;
    session.worker.isAway = true;
    this.#care.onLinkLost(session, turn);
  }

  /** What is due for workers that said something in this turn, and for others by the clock alone. */
  lookAfter(turn: Turn, effects: Effect[]): void {
    for (const session of this.#heard) this.#look(session, turn, effects);
    for (const session of this.#care.lookAtDue(this.#sessions, turn, effects)) {
      this.#giveUp(turn, session, session.worker.ailment ?? 'it was silent', effects);
    }
    if (this.#wait.endIfAgreed(this.#knownInstances(), turn.now)) {
      effects.push({ type: 'log', level: 'info', message: 'all workers are there: the wait is over', facts: {} });
    }
  }

  /** At the end of a turn: the attempts that wait for a slot where there are fewest, of all who said something in it. */
  takeSpare(): number {
    let spare = Number.POSITIVE_INFINITY;
    for (const { worker } of this.#heard) spare = Math.min(spare, spareOf(worker));
    const isAnyHeard = this.#heard.size > 0;
    this.#heard.clear();
    return isAnyHeard ? Math.max(0, spare) : 0;
  }

  nextDeadline(now: number): number {
    return Math.min(this.#care.nextLook, this.#wait.isOn(now) ? this.#wait.endsAt : Number.POSITIVE_INFINITY);
  }

  /** Of those that are connected and have said what they run. */
  *#knownInstances(): Iterable<string> {
    for (const { link, worker } of this.#sessions.values()) {
      if (link !== undefined && !worker.facts.isNew && worker.state !== 'must-die') yield worker.instance;
    }
  }

  #look(session: WorkerSession, turn: Turn, effects: Effect[]): void {
    if (this.#care.look(session, turn, effects)) this.#giveUp(turn, session, session.worker.ailment ?? '', effects);
    this.stopIfIdle(session, effects);
  }

  /** One that is to stop ends when nothing of what it ran is left there: no attempt, and no output. */
  stopIfIdle(session: WorkerSession, effects: Effect[]): void {
    const { id, facts, bar, attempts } = session.worker;
    if (bar?.kind !== 'stopping' || facts.isNew || attempts.size > 0 || this.pulls.isPullingFrom(id)) return;
    this.stop(session, effects);
  }

  /** For good, with all that it runs. */
  stop({ link, worker: { instance } }: WorkerSession, effects: Effect[]): void {
    if (link === undefined) return;
    const why = 'it was told to stop';
    effects.push({ type: 'send', link, message: { t: 'die', instance, why, isForGood: true } });
  }

  /** The session of a worker that can be spoken to, or an error that says why not. */
  mustBeThere(worker: WorkerId): WorkerSession & { readonly link: LinkId } {
    const session = this.#sessions.get(worker);
    if (session === undefined) {
      const goneFor = this.#cluster.workers.get(worker)?.goneFor;
      const name = printWorker(worker);
      const message = goneFor === undefined ? `there is no worker ${name}` : `${name} is gone: ${goneFor}`;
      throw new DroverError('worker-unknown', message);
    }
    if (session.link === undefined) {
      throw new DroverError('worker-away', `${printWorker(worker)} is not connected`);
    }
    return session as WorkerSession & { readonly link: LinkId };
  }

  dismissAll(effects: Effect[]): void {
    for (const { link, worker } of this.#sessions.values()) {
      if (link === undefined) continue;
      const { instance } = worker;
      const message = { t: 'die', instance, why: 'the controller ends', isForGood: false } as const;
      effects.push({ type: 'send', link, message });
    }
  }

  /** Output of an attempt that a worker still has is asked of it; the reply comes with its answer. */
  readOutput(ticket: number, request: ReadOutput, effects: Effect[]): Reply | undefined {
    const record = this.#cluster.attempts.get(request.attempt);
    const isLive = record !== undefined && record.state !== 'ended';
    const holder = isLive ? record.worker : this.pulls.holderOf(request.attempt);
    if (holder !== undefined && this.pulls.read(ticket, holder, request, effects)) return undefined;
    return { type: 'output', live: undefined };
  }

  #session(link: LinkId): WorkerSession | undefined {
    const id = this.#workerOfLink.get(link);
    return id === undefined ? undefined : this.#sessions.get(id);
  }

  #begin(worker: WorkerRecord): WorkerSession {
    const session = new WorkerSession(worker);
    this.#sessions.set(worker.id, session);
    this.#byShard.set(worker.shard, session);
    this.#set.add(worker.instance);
    this.#care.begin(session);
    return session;
  }

  #onHeartbeat(turn: Turn, link: LinkId, heartbeat: Heartbeat, effects: Effect[]): void {
    const { instance } = heartbeat.worker;
    const refusal = this.#refusalOf(heartbeat);
    if (refusal !== undefined) {
      const { code, message } = refusal;
      const { shard, host } = heartbeat.worker;
      effects.push({ type: 'send', link, message: { t: 'refused', instance, code, message } });
      effects.push({ type: 'close-link', link });
      const facts = { shard, host, code, why: message };
      effects.push({ type: 'log', level: 'warn', message: 'a worker was refused', facts });
      return;
    }
    const known = this.#byInstance.get(instance);
    const session = (known && this.#sessions.get(known.id)) ?? this.#join(turn, heartbeat, effects);
    const { worker } = session;
    if (heartbeat.beat <= session.lastBeat) return;
    session.lastBeat = heartbeat.beat;
    const { slots, capacity = plainCapacity } = heartbeat;
    if (slots !== worker.slots) turn.emit({ type: 'worker-resized', worker: worker.id, slots });
    if (!isSameCapacity(capacity, worker.capacity)) {
      turn.emit({ type: 'worker-refitted', worker: worker.id, capacity });
    }
    this.#agreeOnSilence(turn, worker, heartbeat.silenceMs);
    if (worker.state === 'must-die') {
      const why = worker.ailment ?? '';
      effects.push({ type: 'send', link, message: { t: 'die', instance, why, isForGood: false } });
      this.#bind(turn, session, link, effects);
      return;
    }
    this.#heed(heartbeat, turn.now, effects);
    this.#bind(turn, session, link, effects);
    this.#reply(session, link, heartbeat.beat, turn.now, effects);
    this.#heard.add(session);
  }

  /** Durable before it is told longer timeouts: whoever comes after this controller may have shorter ones. */
  #agreeOnSilence(turn: Turn, worker: WorkerRecord, told: number | undefined): void {
    const own = silenceMsMax(this.#options.timeouts);
    const isDue = worker.silenceMs < own || (worker.silenceMs > own && told === own);
    if (isDue) turn.emit({ type: 'worker-patience', worker: worker.id, silenceMs: own });
  }

  /** This link speaks for the worker from now on. */
  #bind(turn: Turn, session: WorkerSession, link: LinkId, effects: Effect[]): void {
    if (session.worker.facts.isNew) this.#care.onAssociated(session, turn.now);
    else this.#care.onHeard(session, turn.now);
    if (session.link === link) return;
    if (session.link !== undefined) this.#loseLink(turn, session);
    session.link = link;
    session.worker.isAway = false;
    this.#workerOfLink.set(link, session.worker.id);
    if (!session.worker.facts.isNew) this.#reports.remind(session.worker, effects);
  }

  /**
   * What it remembers of other controllers may be more than our store does. The store is another one from then on:
   * a controller that comes after this one, and whose history is longer by then, has to find it out as well.
   */
  #heed({ worker: { instance }, echo }: Heartbeat, now: number, effects: Effect[]): void {
    if (!this.#wait.onHeartbeat(instance, echo, now)) return;
    this.#newGeneration = this.#options.scheduler;
    this.#generation = this.#options.scheduler;
    const { generation, versionAtStart } = this.#options;
    const facts = { echo, generation, versionAtStart, untilInMs: this.#wait.endsAt - now };
    const message = 'a worker knows of others that the store does not: nothing is launched until they must be dead';
    effects.push({ type: 'log', level: 'warn', message, facts });
  }

  #mark(): SetMark {
    const { scheduler } = this.#options;
    const { count, sum, xor } = this.#set;
    return { scheduler, generation: this.#generation, version: this.version, count, sum, xor };
  }

  #reply({ worker }: WorkerSession, link: LinkId, beat: number, now: number, effects: Effect[]): void {
    const { scheduler, timeouts } = this.#options;
    const { id, instance, facts } = worker;
    const state = facts.isNew ? 'new' : worker.state === 'healthy' ? 'healthy' : 'unhealthy';
    const set = this.#wait.isOn(now) ? {} : { set: this.#mark() };
    const told = { scheduler, instance, beat, worker: id, state, timeouts, takes, ...set } as const;
    effects.push({ type: 'send', link, message: { t: 'heartbeat-reply', ...told } });
    if (facts.isNew) effects.push({ type: 'send', link, message: { t: 'get-running', scheduler } });
  }

  #refusalOf({ version, worker: identity }: Heartbeat): DroverError | undefined {
    if (version !== workerProtocolVersion) {
      return new DroverError('protocol-version', versionRefusal(version));
    }
    const same = this.#byInstance.get(identity.instance);
    if (same?.state === 'gone') return new DroverError('worker-wrong', `it was given up: ${same.goneFor}`);
    // One that was displaced is told to die over a link on which it can say that it is dead.
    if (same?.state === 'must-die') return undefined;
    const rival = this.#byShard.get(identity.shard);
    if (rival === undefined || rival.worker === same || this.#mayReplace(rival, identity)) return undefined;
    const name = `${identity.shard} (${printWorker(rival.worker.id)})`;
    return new DroverError('worker-wrong', `another worker is ${name}, and is not known to be dead`);
  }

  #mayReplace({ worker }: WorkerSession, { lock, instance }: Heartbeat['worker']): boolean {
    if (worker.state === 'gone' || worker.state === 'must-die') return true;
    if (worker.lock === lock) return isNewerInstance(instance, worker.instance);
    return this.#options.mayBumpUnhealthy && worker.state !== 'healthy';
  }

  /** A newer instance that holds the same host lock proves that the older one, and all it ran, is dead. */
  #join(turn: Turn, { worker: identity, slots, capacity }: Heartbeat, effects: Effect[]): WorkerSession {
    const { shard, lock, instance, host } = identity;
    const rival = this.#byShard.get(shard);
    const bar = rival?.worker.lock === lock ? rival.worker.bar : undefined;
    if (rival?.worker.lock === lock) this.#giveUp(turn, rival, 'a newer instance holds its host lock', effects);
    else if (rival !== undefined && rival.worker.state !== 'must-die') {
      this.#care.condemn(rival, 'another worker has its shard', turn, effects);
    }
    const id = workerId(this.#cluster.workers.size + 1);
    const fitted = capacity === undefined ? {} : { capacity };
    turn.emit({ type: 'worker-joined', worker: id, shard, lock, instance, host, slots, ...fitted });
    // The same worker as far as people are concerned: one that was cut off has come back.
    if (bar !== undefined) turn.emit({ type: 'worker-barred', worker: id, bar });
    const facts = { worker: printWorker(id), shard, host, slots, ...fitted };
    effects.push({ type: 'log', level: 'info', message: 'a worker joined', facts });
    const worker = this.#cluster.workers.get(id) as WorkerRecord;
    this.#byInstance.set(instance, worker);
    return this.#begin(worker);
  }

  /** All that it ran is dead, or must be. Its last words are still heard, as long as its link is there. */
  #giveUp(turn: Turn, session: WorkerSession, why: string, effects: Effect[]): void {
    const { worker, link } = session;
    if (worker.state === 'gone') return;
    const facts = { worker: printWorker(worker.id), why, attempts: worker.attempts.size };
    effects.push({ type: 'log', level: 'warn', message: 'a worker is gone', facts });
    loseAttempts(turn, worker.id);
    turn.emit({ type: 'worker-gone', worker: worker.id, why });
    this.#reports.forget(worker.id);
    this.#set.remove(worker.instance);
    if (this.#byShard.get(worker.shard) === session) this.#byShard.delete(worker.shard);
    if (link === undefined) this.#sessions.delete(worker.id);
    else {
      const { instance } = worker;
      effects.push({ type: 'send', link, message: { t: 'die', instance, why, isForGood: false } });
    }
  }

  /** Believed once, as long as it is new. */
  #onRunning(turn: Turn, session: WorkerSession, message: Of<'running'>, effects: Effect[]): void {
    const { worker } = session;
    if (!worker.facts.isNew || worker.state === 'must-die') return;
    this.#reports.adopt(turn, worker, message, effects);
    session.seq = Math.max(session.seq, message.seq);
    this.#care.onKnown(session, turn.now);
    this.#reports.remind(worker, effects);
  }

  #onOutputHello(link: LinkId, { instance }: Of<'output-hello'>, effects: Effect[]): void {
    const worker = this.#byInstance.get(instance);
    if (worker === undefined || worker.state === 'gone') return drop(link, 'its worker is not known', effects);
    this.#workerOfLink.set(link, worker.id);
    this.pulls.onOpened(worker.id, link, effects);
  }
}

/** Messages that came after the first release with this version of the protocol. */
const takes = ['usage'];

/** What takes more or less than a slot is not reckoned with: nobody knows how many of it run. */
const spareOf = ({ attempts, slots, load }: WorkerRecord): number => (load.odd > 0 ? 0 : attempts.size - slots);

/** Instances begin with the time of their start. */
function isNewerInstance(one: string, other: string): boolean {
  const [a, b] = [Number.parseInt(one, 10), Number.parseInt(other, 10)];
  return !(a < b);
}

function drop(link: LinkId, why: string, effects: Effect[]): void {
  effects.push({ type: 'log', level: 'warn', message: 'a link was dropped', facts: { why } });
  effects.push({ type: 'close-link', link });
}
