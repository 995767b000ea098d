/**
 * The controller's side of the worker protocol: which link speaks for which worker, and what is under way with it.
 *
 * Owns: links, what was asked of workers and not answered yet. The workers themselves are in the cluster.
 * 1. Nothing is sent to run on a worker before it said what it already runs (`running`), on the link it said so.
 * 2. A link that closes puts its worker back to `new`: what was sent on it and did not arrive never will, so that the
 *    worker's next `running` tells exactly which attempts it has.
 * 3. An end is acknowledged only after it is durable; one that changes nothing is acknowledged too.
 * 4. A worker is given up after its own end plus a margin without a word, or at once when a newer instance holds its
 *    host lock; only then are its attempts lost and may be tried again.
 */
import type { Cluster } from '../core/cluster.ts';
import { endAttempt, loseAttempts, startAttempt } from '../core/task/ending.ts';
import type { Turn } from '../core/turn.ts';
import type { WorkerRecord } from '../core/worker.ts';
import { DroverError } from '../model/errors.ts';
import { type AttemptId, attemptId, printWorker, type WorkerId, type WorkflowId, workerId } from '../model/ids.ts';
import { heartbeatMs, outputTailBytesMax, workerLossMarginMs, workerSelfEndMs } from '../model/limits.ts';
import type { HaltMode } from '../model/states.ts';
import { outputStreams } from '../model/states.ts';
import {
  type AttemptEnd,
  type FromWorker,
  type Heartbeat,
  type KillWhy,
  type ToWorker,
  workerProtocolVersion,
} from '../protocol/worker.ts';
import type { Effect, LinkId, Reply, Request } from './messages.ts';
import type { OutputCustody } from './output-custody.ts';
import { OutputPulls, type Pull } from './output-pulls.ts';

type Of<T extends FromWorker['t']> = Extract<FromWorker, { readonly t: T }>;
type ReadOutput = Extract<Request, { readonly type: 'read-output' }>;

const lossMs = workerSelfEndMs + workerLossMarginMs;

export class WorkerSessions {
  readonly #cluster: Cluster;
  readonly #scheduler: string;
  readonly #custody: OutputCustody;
  readonly pulls: OutputPulls;
  readonly #byInstance = new Map<string, WorkerRecord>();
  readonly #workerOfLink = new Map<LinkId, WorkerId>();
  readonly #controlLinks = new Map<WorkerId, LinkId>();

  constructor(cluster: Cluster, scheduler: string, custody: OutputCustody) {
    this.#cluster = cluster;
    this.#scheduler = scheduler;
    this.#custody = custody;
    this.pulls = new OutputPulls(custody);
    for (const worker of cluster.workers.values()) this.#byInstance.set(worker.instance, worker);
  }

  linkOf(worker: WorkerId): LinkId | undefined {
    return this.#controlLinks.get(worker);
  }

  /** Links of workers that are open: one that ends closes its own last of all. */
  get connected(): number {
    return this.#workerOfLink.size;
  }

  onMessage(turn: Turn, link: LinkId, message: FromWorker, effects: Effect[]): void {
    const known = this.#worker(link);
    if (known !== undefined) known.heardAt = turn.now;
    switch (message.t) {
      case 'heartbeat':
        return this.#onHeartbeat(turn, link, message, effects);
      case 'output-hello':
        return this.#onOutputHello(link, message, effects);
      case 'output':
        return this.pulls.onOutput(link, message, effects);
    }
    if (known === undefined) return drop(link, 'it spoke before its first heartbeat', effects);
    switch (message.t) {
      case 'running':
        return this.#onRunning(turn, link, known, message, effects);
      case 'started':
        for (const { attempt, at } of message.attempts) startAttempt(turn, attemptId(attempt), known.id, at);
        return;
      case 'update':
        return this.#onUpdate(turn, link, known, message, effects);
      case 'goodbye':
        this.#controlLinks.delete(known.id);
        return this.#giveUp(turn, known, 'it ended by itself', effects);
    }
  }

  onClosed(turn: Turn, link: LinkId, effects: Effect[]): void {
    const worker = this.#worker(link);
    this.#workerOfLink.delete(link);
    this.pulls.onClosed(link, effects);
    if (worker === undefined) return;
    if (this.#controlLinks.get(worker.id) !== link) return;
    this.#controlLinks.delete(worker.id);
    if (worker.state === 'healthy') worker.state = 'new';
    const facts = { worker: printWorker(worker.id), attempts: worker.attempts.size, at: turn.now };
    effects.push({ type: 'log', level: 'info', message: 'a worker lost its connection', facts });
  }

  loseSilent(turn: Turn, effects: Effect[]): void {
    for (const worker of this.#cluster.liveWorkers.values()) {
      if (worker.heardAt + lossMs > turn.now) continue;
      this.#giveUp(turn, worker, `it was silent for ${lossMs / 1000} s`, effects);
    }
  }

  nextDeadline(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { heardAt } of this.#cluster.liveWorkers.values()) next = Math.min(next, heardAt + lossMs);
    return next;
  }

  kill(attempts: readonly AttemptId[], why: KillWhy, effects: Effect[]): void {
    this.#toHolders(attempts, (ids) => ({ t: 'kill', attempts: ids, why }), effects);
  }

  /** Draining takes back what has not started; killing ends all. */
  halt(workflow: WorkflowId, mode: HaltMode, effects: Effect[]): void {
    const live: AttemptId[] = [];
    for (const [id, { task, state }] of this.#cluster.attempts) {
      const isOurs = state !== 'ended' && this.#cluster.tasks.workflow(task) === workflow;
      if (isOurs) live.push(id);
    }
    if (mode === 'kill') return this.kill(live, 'halt', effects);
    const unstarted = live.filter((id) => this.#cluster.attempts.get(id)?.state !== 'running');
    this.#toHolders(unstarted, (ids) => ({ t: 'retract', attempts: ids }), effects);
  }

  dismissAll(effects: Effect[]): void {
    for (const link of this.#controlLinks.values()) {
      effects.push({ type: 'send', link, message: { t: 'die', why: 'the controller ends' } });
    }
  }

  /** Output of an attempt that a worker still has is asked of it; the reply comes with its answer. */
  readOutput(ticket: number, request: ReadOutput, effects: Effect[]): Reply | undefined {
    const record = this.#cluster.attempts.get(request.attempt);
    const isLive = record !== undefined && record.state !== 'ended';
    if (isLive && this.pulls.read(ticket, record.worker, request, effects)) return undefined;
    return { type: 'output', live: undefined };
  }

  #worker(link: LinkId): WorkerRecord | undefined {
    const id = this.#workerOfLink.get(link);
    return id === undefined ? undefined : this.#cluster.workers.get(id);
  }

  #toHolders(attempts: readonly AttemptId[], compose: (ids: AttemptId[]) => ToWorker, effects: Effect[]): void {
    const byLink = new Map<LinkId, AttemptId[]>();
    for (const id of attempts) {
      const worker = this.#cluster.attempts.get(id)?.worker;
      const link = worker === undefined ? undefined : this.#controlLinks.get(worker);
      if (link !== undefined) byLink.set(link, [...(byLink.get(link) ?? []), id]);
    }
    for (const [link, ids] of byLink) effects.push({ type: 'send', link, message: compose(ids) });
  }

  #onHeartbeat(turn: Turn, link: LinkId, heartbeat: Heartbeat, effects: Effect[]): void {
    const refusal = this.#refusalOf(heartbeat);
    if (refusal !== undefined) {
      const { code, message } = refusal;
      const { shard, host } = heartbeat.worker;
      effects.push({ type: 'send', link, message: { t: 'refused', code, message } });
      effects.push({ type: 'close-link', link });
      const facts = { shard, host, code, why: message };
      effects.push({ type: 'log', level: 'warn', message: 'a worker was refused', facts });
      return;
    }
    const worker = this.#byInstance.get(heartbeat.worker.instance) ?? this.#join(turn, heartbeat, effects);
    worker.heardAt = turn.now;
    worker.slots = heartbeat.slots;
    if (this.#controlLinks.get(worker.id) !== link) {
      this.#workerOfLink.set(link, worker.id);
      this.#controlLinks.set(worker.id, link);
      worker.state = 'new';
    }
    const state = worker.state === 'healthy' ? 'healthy' : 'new';
    effects.push({
      type: 'send',
      link,
      message: {
        t: 'heartbeat-reply',
        scheduler: this.#scheduler,
        worker: worker.id,
        state,
        heartbeatMs,
        selfEndMs: workerSelfEndMs,
      },
    });
    if (state === 'new') effects.push({ type: 'send', link, message: { t: 'get-running' } });
  }

  #refusalOf({ version, worker: identity }: Heartbeat): DroverError | undefined {
    if (version !== workerProtocolVersion) {
      const message = `the worker speaks protocol ${version}, the controller ${workerProtocolVersion}`;
      return new DroverError('protocol-version', message);
    }
    const same = this.#byInstance.get(identity.instance);
    if (same?.state === 'gone') return new DroverError('worker-wrong', `it was given up: ${same.goneFor}`);
    for (const worker of this.#cluster.liveWorkers.values()) {
      const isRival = worker.shard === identity.shard && worker !== same && worker.lock !== identity.lock;
      if (isRival)
        return new DroverError('worker-wrong', `another worker is ${identity.shard} (${printWorker(worker.id)})`);
    }
    return undefined;
  }

  /** A newer instance that holds the same host lock proves that the older one, and all it ran, is dead. */
  #join(turn: Turn, { worker: identity, slots }: Heartbeat, effects: Effect[]): WorkerRecord {
    for (const worker of [...this.#cluster.liveWorkers.values()]) {
      if (worker.shard !== identity.shard) continue;
      this.#giveUp(turn, worker, 'a newer instance holds its host lock', effects);
    }
    const id = workerId(this.#cluster.workers.size + 1);
    const { shard, lock, instance, host } = identity;
    turn.emit({ type: 'worker-joined', worker: id, shard, lock, instance, host, slots });
    const facts = { worker: printWorker(id), shard, host, slots };
    effects.push({ type: 'log', level: 'info', message: 'a worker joined', facts });
    const worker = this.#cluster.workers.get(id) as WorkerRecord;
    this.#byInstance.set(instance, worker);
    return worker;
  }

  #giveUp(turn: Turn, worker: WorkerRecord, why: string, effects: Effect[]): void {
    if (worker.state === 'gone') return;
    const facts = { worker: printWorker(worker.id), why, attempts: worker.attempts.size };
    effects.push({ type: 'log', level: 'warn', message: 'a worker is gone', facts });
    loseAttempts(turn, worker.id);
    turn.emit({ type: 'worker-gone', worker: worker.id, why });
    this.pulls.forget(worker.id);
    const link = this.#controlLinks.get(worker.id);
    if (link === undefined) return;
    effects.push({ type: 'send', link, message: { t: 'die', why } });
    effects.push({ type: 'close-link', link });
    this.#controlLinks.delete(worker.id);
  }

  /** Adopts what the worker runs. What it does not have was never started there, and never will be. */
  #onRunning(turn: Turn, link: LinkId, worker: WorkerRecord, message: Of<'running'>, effects: Effect[]): void {
    if (worker.state !== 'new' || this.#controlLinks.get(worker.id) !== link) return;
    const reported = new Set<AttemptId>();
    const unknown: AttemptId[] = [];
    for (const { attempt, phase, startedAt } of message.attempts) {
      const id = attemptId(attempt);
      reported.add(id);
      const record = this.#cluster.attempts.get(id);
      if (record === undefined || record.worker !== worker.id) unknown.push(id);
      else if (phase === 'running' && startedAt !== undefined) startAttempt(turn, id, worker.id, startedAt);
      else if (phase === 'accepted') turn.attempt(id, { type: 'accept' }, 'operator');
    }
    for (const id of [...worker.attempts]) {
      if (reported.has(id)) continue;
      const outcome = { kind: 'never-started', why: 'retracted', message: 'it did not reach its worker' } as const;
      endAttempt(turn, { attempt: id, worker: worker.id, outcome }, 'controller');
    }
    worker.state = 'healthy';
    const facts = { worker: printWorker(worker.id), adopted: reported.size - unknown.length, unknown: unknown.length };
    effects.push({ type: 'log', level: 'info', message: 'a worker is ready', facts });
    if (unknown.length > 0)
      effects.push({ type: 'send', link, message: { t: 'kill', attempts: unknown, why: 'unknown' } });
    this.pulls.need(worker.id, message.kept.flatMap(pullsOfKept), effects);
    this.#remind(worker, effects);
  }

  /** Repeats to a worker that was away what it may have missed. */
  #remind(worker: WorkerRecord, effects: Effect[]): void {
    const { tasks } = this.#cluster;
    const held = [...worker.attempts].map((id) => this.#cluster.attempts.get(id)).filter((a) => a !== undefined);
    const cancelled = held.filter(({ task }) => tasks.state(task) === 'cancelling');
    this.kill(
      cancelled.map(({ id }) => id),
      'cancel',
      effects,
    );
    for (const workflow of new Set(held.map(({ task }) => tasks.workflow(task)))) {
      const { state, haltMode } = this.#cluster.workflow(workflow);
      if (state === 'halting' && haltMode !== undefined) this.halt(workflow, haltMode, effects);
    }
  }

  #onUpdate(
    turn: Turn,
    link: LinkId,
    worker: WorkerRecord,
    { scheduler, ends }: Of<'update'>,
    effects: Effect[],
  ): void {
    if (worker.state !== 'healthy' || scheduler !== this.#scheduler) return;
    for (const end of ends) {
      this.#recordEnd(turn, worker, end);
      this.#keepOutput(worker, end, effects);
    }
    effects.push({ type: 'send', link, message: { t: 'ack', attempts: ends.map(({ attempt }) => attempt) } });
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
    const { stdout: _, stderr: __, attempt, ...report } = end;
    const isNew = endAttempt(turn, { attempt: attemptId(attempt), worker: worker.id, ...report });
    if (!isNew || end.usage === undefined) return;
    const wallMs = Math.max(1, end.usage.wallMs);
    worker.averageMs = worker.averageMs === 0 ? wallMs : worker.averageMs * 0.9 + wallMs * 0.1;
  }

  #onOutputHello(link: LinkId, { instance }: Of<'output-hello'>, effects: Effect[]): void {
    const worker = this.#byInstance.get(instance);
    if (worker === undefined || worker.state === 'gone') return drop(link, 'its worker is not known', effects);
    this.#workerOfLink.set(link, worker.id);
    this.pulls.onOpened(worker.id, link, effects);
  }
}

function drop(link: LinkId, why: string, effects: Effect[]): void {
  effects.push({ type: 'log', level: 'warn', message: 'a link was dropped', facts: { why } });
  effects.push({ type: 'close-link', link });
}

/** Output that a worker still keeps after its end was recorded: all but the tail, which came with the end. */
function pullsOfKept(kept: Of<'running'>['kept'][number]): Pull[] {
  const attempt = attemptId(kept.attempt);
  return outputStreams
    .map((stream) => ({ attempt, stream, offset: 0, end: kept[stream] - Math.min(kept[stream], outputTailBytesMax) }))
    .filter(({ end }) => end > 0);
}
