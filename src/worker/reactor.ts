/**
 * The worker: accepts attempts, has the spawner run them, reports their ends until they are acknowledged.
 * Synchronous, without I/O: the shell pumps inputs in and effects out.
 *
 * Owns: the attempts on this worker, its slots, its association with a controller.
 * 1. An attempt is in `attempts` from its acceptance until its end was acknowledged; it is started at most once.
 * 2. Attempts are accepted only from the controller that it is associated with.
 * 3. Without an answered heartbeat for `selfEndMs` it ends all that it runs, and itself. One that no controller has
 *    answered yet has nothing to end, and may wait if it is told to.
 */
import { type WorkerId, workerId } from '../model/ids.ts';
import { heartbeatMs, spawnerLeaseMarginMs, workerSelfEndMs } from '../model/limits.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FromSpawner } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import {
  type AttemptEnd,
  type KillWhy,
  type Order,
  type StreamEnd,
  type ToWorker,
  type WorkerIdentity,
  workerProtocolVersion,
} from '../protocol/worker.ts';
import type { Entry, EntryIn } from './entry.ts';
import type { Effect, Input, OutputPlace, WorkerEnd } from './messages.ts';
import { outcomeOfEnd, outcomeOfFailure } from './outcome.ts';
import { Slots } from './slots.ts';
import { isInherited, taskVariables } from './task-environment.ts';

type Of<T extends ToWorker['t']> = Extract<ToWorker, { readonly t: T }>;
type FromSpawnerOf<T extends FromSpawner['t']> = Extract<FromSpawner, { readonly t: T }>;

/** An attempt that runs shorter than this is reported once, with its end. */
const startedNoticeMs = 50;

const noOutput: StreamEnd = { bytes: 0, tail: '' };

export interface WorkerStart {
  readonly identity: WorkerIdentity;
  readonly slots: number;
  /** Where segments and scratch directories go. */
  readonly directory: string;
  readonly tag: string;
  readonly now: number;
  /** Whether it waits for its first controller as long as it takes. */
  readonly isPatient: boolean;
}

/** Output of an ended attempt, longer than what its end carries, that the controller has not taken yet. */
interface Kept {
  readonly stdout: OutputPlace;
  readonly stderr: OutputPlace;
  /** Whether the files are the worker's own, to be removed in the end. */
  readonly isOurs: boolean;
}

export class Worker {
  readonly #start: WorkerStart;
  readonly #attempts = new Map<number, Entry>();
  readonly #queue: number[] = [];
  readonly #slots: Slots;
  readonly #specs = new Map<number, WorkflowSpec>();
  readonly #kept = new Map<number, Kept>();
  /** Which tasks have an attempt here. */
  readonly #tasks = new Set<number>();
  /** Started, not reported yet: by attempt. */
  readonly #unnoticed = new Map<number, { readonly at: number; readonly noticeAt: number }>();
  /** Running with a time limit: by attempt, until when. */
  readonly #deadlines = new Map<number, number>();
  #scheduler: string | undefined;
  #worker: WorkerId | undefined;
  #isConnected = false;
  #isHealthy = false;
  #isSpawnerReady = false;
  #isDying = false;
  #nextHeartbeat = 0;
  /** When the last heartbeat that was answered was sent: its answer may have been long on its way. */
  #answeredAt: number;
  /** When those were sent that are not answered yet; answers come in the same order. */
  readonly #sentAt: number[] = [];

  constructor(start: WorkerStart) {
    this.#start = start;
    this.#slots = new Slots(start.slots, start.directory);
    this.#answeredAt = start.now;
  }

  step(inputs: readonly Input[], now: number): Effect[] {
    const effects: Effect[] = [];
    for (const input of inputs) this.#take(input, now, effects);
    if (this.#isDying) return effects;
    if (now >= this.#selfEndAt()) {
      this.#die('cut-off', `no controller answered for ${workerSelfEndMs / 1000} s`, effects);
      return effects;
    }
    this.#killOverdue(now, effects);
    this.#startNext(effects);
    this.#noticeStarts(now, effects);
    if (this.#isConnected && now >= this.#nextHeartbeat) this.#heartbeat(now, effects);
    return effects;
  }

  nextDeadline(): number {
    if (this.#isDying) return Number.POSITIVE_INFINITY;
    let next = this.#selfEndAt();
    if (this.#isConnected) next = Math.min(next, this.#nextHeartbeat);
    if (this.#isHealthy) for (const { noticeAt } of this.#unnoticed.values()) next = Math.min(next, noticeAt);
    for (const deadline of this.#deadlines.values()) next = Math.min(next, deadline);
    return next;
  }

  /** Which file the output of a task goes to, so that the shell can read its end. */
  placesOf(attempt: number): EntryIn<'running'>['places'] | undefined {
    const entry = this.#attempts.get(attempt);
    return entry?.phase === 'running' || entry?.phase === 'starting' ? entry.places : undefined;
  }

  #selfEndAt(): number {
    const isUnknown = this.#worker === undefined;
    return isUnknown && this.#start.isPatient ? Number.POSITIVE_INFINITY : this.#answeredAt + workerSelfEndMs;
  }

  #take(input: Input, now: number, effects: Effect[]): void {
    switch (input.type) {
      case 'connected':
        this.#isConnected = true;
        this.#isHealthy = false;
        this.#sentAt.length = 0;
        this.#dropUnusedSpecs(effects);
        this.#nextHeartbeat = now;
        return;
      case 'disconnected':
        this.#isConnected = false;
        this.#isHealthy = false;
        return;
      case 'message':
        return this.#onMessage(input.message, now, effects);
      case 'spawner':
        return this.#onSpawner(input.message, now, effects);
      case 'ended':
        return this.#onEnded(input, effects);
      case 'spawner-gone':
        return this.#onSpawnerGone(effects);
      case 'stop':
        return this.#die('stopped', 'it was told to stop', effects);
      case 'tick':
        return;
    }
  }

  #heartbeat(now: number, effects: Effect[]): void {
    const { identity: worker, slots } = this.#start;
    effects.push({ type: 'send', message: { t: 'heartbeat', version: workerProtocolVersion, worker, slots } });
    this.#nextHeartbeat = now + heartbeatMs;
    this.#sentAt.push(now);
  }

  #onMessage(message: ToWorker, now: number, effects: Effect[]): void {
    switch (message.t) {
      case 'heartbeat-reply':
        return this.#onHeartbeatReply(message, now, effects);
      case 'refused':
        return this.#die(
          message.code === 'protocol-version' ? 'incompatible' : 'refused',
          `the controller refused this worker: ${message.message}`,
          effects,
        );
      case 'get-running':
        return this.#reportRunning(now, effects);
      case 'run':
        return this.#onRun(message, effects);
      case 'ack':
        for (const attempt of message.attempts) this.#forget(attempt);
        return;
      case 'retract':
        for (const attempt of message.attempts) this.#retract(attempt, effects);
        return;
      case 'kill':
        for (const attempt of message.attempts) this.#kill(attempt, message.why, effects);
        return;
      case 'fetch':
        return this.#fetch(message, effects);
      case 'drop-output':
        for (const attempt of message.attempts) this.#dropOutput(attempt, effects);
        return;
      case 'die':
        return this.#die('dismissed', message.why, effects);
    }
  }

  #onHeartbeatReply({ scheduler, worker, state }: Of<'heartbeat-reply'>, now: number, effects: Effect[]): void {
    this.#answeredAt = this.#sentAt.shift() ?? this.#answeredAt;
    this.#renewLease(now, effects);
    this.#scheduler = scheduler;
    this.#worker = workerId(worker);
    const becomesHealthy = state === 'healthy' && !this.#isHealthy;
    this.#isHealthy = state === 'healthy';
    if (becomesHealthy) this.#resendEnds(effects);
  }

  /** Should this process hang, the spawner ends what runs before the controller takes it for dead. */
  #renewLease(now: number, effects: Effect[]): void {
    const ms = this.#answeredAt + workerSelfEndMs + spawnerLeaseMarginMs - now;
    effects.push({ type: 'spawner', message: { t: 'lease', ms } });
  }

  /** The heartbeat that follows at once is the one whose reply ends the state of being new. */
  #reportRunning(now: number, effects: Effect[]): void {
    const attempts = [...this.#attempts].map(([attempt, entry]) => {
      if (entry.phase === 'running') return { attempt, phase: entry.phase, startedAt: entry.startedAt };
      return { attempt, phase: entry.phase === 'ended' ? entry.phase : ('accepted' as const) };
    });
    const kept = [...this.#kept]
      .filter(([attempt]) => !this.#attempts.has(attempt))
      .map(([attempt, { stdout, stderr }]) => ({ attempt, stdout: lengthOf(stdout), stderr: lengthOf(stderr) }));
    effects.push({ type: 'send', message: { t: 'running', attempts, kept } });
    this.#heartbeat(now, effects);
  }

  #onRun({ scheduler, instance, specs, orders }: Of<'run'>, effects: Effect[]): void {
    for (const { workflow, spec } of specs) this.#addSpec(workflow, spec, effects);
    for (const order of orders) {
      if (this.#attempts.has(order.attempt)) continue;
      const refusal = this.#refusalOf(order, scheduler, instance);
      const spec = this.#specs.get(order.workflow);
      if (refusal !== undefined || spec === undefined) {
        const message = refusal ?? 'its specification did not come along';
        this.#sendEnds([endOf(order.attempt, { kind: 'never-started', why: 'refused', message })], effects);
        continue;
      }
      this.#attempts.set(order.attempt, { phase: 'accepted', order, spec });
      this.#tasks.add(order.task);
      this.#queue.push(order.attempt);
    }
  }

  #refusalOf({ task }: Order, scheduler: string, instance: string): string | undefined {
    if (instance !== this.#start.identity.instance) return 'it was meant for another instance';
    if (scheduler !== this.#scheduler) return 'another controller sent it';
    return this.#tasks.has(task) ? 'an attempt of the same task is here' : undefined;
  }

  #addSpec(workflow: number, spec: WorkflowSpec, effects: Effect[]): void {
    this.#specs.set(workflow, spec);
    const env = Object.entries(spec.env)
      .filter(([name]) => isInherited(name))
      .map(([name, value]) => `${name}=${value}`);
    effects.push({ type: 'spawner', message: { t: 'env', id: workflow, env } });
    if (spec.outputDir !== undefined) effects.push({ type: 'make-directory', path: spec.outputDir });
  }

  /** The controller sends the rest again on every new link. */
  #dropUnusedSpecs(effects: Effect[]): void {
    const used = new Set([...this.#attempts.values()].map(({ order }) => order.workflow));
    for (const workflow of this.#specs.keys()) {
      if (used.has(workflow)) continue;
      this.#specs.delete(workflow);
      effects.push({ type: 'spawner', message: { t: 'dropEnv', id: workflow } });
    }
  }

  #startNext(effects: Effect[]): void {
    while (this.#isSpawnerReady && this.#slots.hasFree && this.#queue.length > 0) {
      const attempt = this.#queue.shift() as number;
      const entry = this.#attempts.get(attempt);
      if (entry?.phase !== 'accepted' || this.#worker === undefined) continue;
      this.#startOne(entry, this.#slots.take(), this.#worker, effects);
    }
  }

  #startOne({ order, spec }: EntryIn<'accepted'>, slot: number, worker: WorkerId, effects: Effect[]): void {
    const { attempt, command, workflow } = order;
    const { directory, tag } = this.#start;
    const scratch = `${directory}/scratch-${attempt}`;
    const { places, mode } = this.#placesFor(order, spec, slot, effects);
    this.#attempts.set(attempt, { phase: 'starting', order, spec, slot, places });
    effects.push({
      type: 'spawner',
      message: {
        t: 'start',
        key: attempt,
        env: workflow,
        vars: taskVariables(order, { worker, slot, scratch, tag }),
        command,
        shell: spec.shell,
        cwd: spec.cwd,
        ...(spec.stdin === undefined ? {} : { stdin: spec.stdin }),
        stdout: { path: places.stdout.path, mode },
        stderr: { path: places.stderr.path, mode },
        scratch,
      },
    });
  }

  /** The slot's files; or, where the user wants them, plain files per task. */
  #placesFor({ workflow, index, number }: Order, { outputDir }: WorkflowSpec, slot: number, effects: Effect[]) {
    if (outputDir === undefined) {
      const { places, isUsed } = this.#slots.filesFor(slot);
      if (isUsed) effects.push({ type: 'empty-files', paths: [places.stdout.path, places.stderr.path] });
      return { places, mode: 'append' as const };
    }
    const at = (path: string): OutputPlace => ({ path, from: 0 });
    const base = `${outputDir}/w${workflow}.${index}${number === 1 ? '' : `.${number}`}`;
    return { places: { stdout: at(`${base}.out`), stderr: at(`${base}.err`) }, mode: 'truncate' as const };
  }

  #onSpawner(message: Exclude<FromSpawner, { t: 'ended' }>, now: number, effects: Effect[]): void {
    switch (message.t) {
      case 'ready':
        this.#isSpawnerReady = true;
        if (this.#worker !== undefined) this.#renewLease(now, effects);
        return;
      case 'started':
        return this.#onStarted(message, now, effects);
      case 'failed':
        return this.#onFailed(message, effects);
    }
  }

  #onStarted({ key, at, out, err }: FromSpawnerOf<'started'>, now: number, effects: Effect[]): void {
    const entry = this.#attempts.get(key);
    if (entry?.phase !== 'starting') return;
    const { order, spec, slot, killFor } = entry;
    const places = { stdout: { ...entry.places.stdout, from: out }, stderr: { ...entry.places.stderr, from: err } };
    const timeoutMs = order.timeoutMs ?? spec.timeoutMs;
    this.#attempts.set(key, { phase: 'running', order, spec, slot, places, startedAt: at });
    this.#unnoticed.set(key, { at, noticeAt: now + startedNoticeMs });
    // By this process's own clock: the spawner's may have started from another reading of the wall.
    if (timeoutMs !== undefined) this.#deadlines.set(key, now + timeoutMs);
    if (killFor !== undefined) this.#signal(key, spec, killFor, effects);
  }

  #onFailed(message: FromSpawnerOf<'failed'>, effects: Effect[]): void {
    const entry = this.#attempts.get(message.key);
    if (entry?.phase !== 'starting') return;
    this.#slots.give(entry.slot);
    this.#end(entry, endOf(message.key, outcomeOfFailure(message)), effects);
  }

  #onEnded({ message, stdout, stderr }: Extract<Input, { type: 'ended' }>, effects: Effect[]): void {
    const entry = this.#attempts.get(message.key);
    if (entry?.phase !== 'running') return;
    const { cpuMs, wallMs, peakBytes, signalled, out, err } = message;
    const usage = { cpuMs: Math.round(cpuMs), wallMs: Math.round(wallMs) };
    const { startedAt, places, slot, spec } = entry;
    const isOurs = spec.outputDir === undefined;
    if (stdout.bytes > tailLength(stdout) || stderr.bytes > tailLength(stderr)) {
      const kept = { stdout: { ...places.stdout, ...out }, stderr: { ...places.stderr, ...err }, isOurs };
      this.#kept.set(message.key, kept);
      if (isOurs) this.#slots.setAside(slot);
    }
    this.#slots.give(slot);
    this.#end(
      entry,
      {
        attempt: message.key,
        outcome: outcomeOfEnd(message),
        startedAt,
        usage: peakBytes === undefined ? usage : { ...usage, peakBytes },
        ...(signalled === undefined ? {} : { signalledFor: signalled.why }),
        stdout,
        stderr,
      },
      effects,
    );
  }

  #end({ order, spec }: Entry, end: AttemptEnd, effects: Effect[]): void {
    this.#attempts.set(order.attempt, { phase: 'ended', order, spec, end });
    this.#unnoticed.delete(order.attempt);
    this.#deadlines.delete(order.attempt);
    this.#sendEnds([end], effects);
  }

  /** Everything that the spawner ran is dead with it; a new one takes over what was only accepted. */
  #onSpawnerGone(effects: Effect[]): void {
    this.#isSpawnerReady = false;
    for (const [attempt, entry] of this.#attempts) {
      if (entry.phase !== 'starting' && entry.phase !== 'running') continue;
      this.#slots.give(entry.slot);
      this.#end(entry, endOf(attempt, { kind: 'lost', what: 'cylinder' }), effects);
    }
    for (const [workflow, spec] of this.#specs) this.#addSpec(workflow, spec, effects);
  }

  #sendEnds(ends: AttemptEnd[], effects: Effect[]): void {
    if (!this.#isConnected || !this.#isHealthy || this.#scheduler === undefined || ends.length === 0) return;
    effects.push({ type: 'send', message: { t: 'update', scheduler: this.#scheduler, ends } });
  }

  #resendEnds(effects: Effect[]): void {
    const ends: AttemptEnd[] = [];
    for (const entry of this.#attempts.values()) if (entry.phase === 'ended') ends.push(entry.end);
    for (const end of ends) this.#sendEnds([end], effects);
  }

  #forget(attempt: number): void {
    const entry = this.#attempts.get(attempt);
    if (entry?.phase !== 'ended') return;
    this.#attempts.delete(attempt);
    this.#tasks.delete(entry.order.task);
  }

  #retract(attempt: number, effects: Effect[]): void {
    const entry = this.#attempts.get(attempt);
    if (entry?.phase !== 'accepted') return;
    this.#end(
      entry,
      endOf(attempt, { kind: 'never-started', why: 'retracted', message: 'it was taken back' }),
      effects,
    );
  }

  #kill(attempt: number, why: KillWhy, effects: Effect[]): void {
    const entry = this.#attempts.get(attempt);
    if (entry === undefined || entry.phase === 'ended') return;
    if (entry.phase === 'accepted') this.#end(entry, endOf(attempt, { kind: 'cancelled' }), effects);
    else if (entry.phase === 'starting') this.#attempts.set(attempt, { ...entry, killFor: why });
    else this.#signal(attempt, entry.spec, why, effects);
  }

  #signal(attempt: number, spec: WorkflowSpec, why: KillWhy | 'timeout', effects: Effect[]): void {
    const graceMs = spec.terminationMs;
    effects.push({ type: 'spawner', message: { t: 'kill', key: attempt, how: 'term-kill', graceMs, why } });
  }

  #killOverdue(now: number, effects: Effect[]): void {
    for (const [attempt, deadline] of this.#deadlines) {
      const entry = this.#attempts.get(attempt);
      if (deadline > now || entry === undefined) continue;
      this.#deadlines.delete(attempt);
      this.#signal(attempt, entry.spec, 'timeout', effects);
    }
  }

  #noticeStarts(now: number, effects: Effect[]): void {
    if (!this.#isHealthy || !this.#isConnected) return;
    const due = [...this.#unnoticed].filter(([, { noticeAt }]) => noticeAt <= now);
    if (due.length === 0) return;
    for (const [attempt] of due) this.#unnoticed.delete(attempt);
    const attempts = due.map(([attempt, { at }]) => ({ attempt, at }));
    effects.push({ type: 'send', message: { t: 'started', attempts } });
  }

  #fetch({ request, attempt, stream, offset, limit }: Of<'fetch'>, effects: Effect[]): void {
    const place = this.#kept.get(attempt)?.[stream] ?? this.placesOf(attempt)?.[stream];
    effects.push({ type: 'fetch', request, place, offset, limit });
  }

  #dropOutput(attempt: number, effects: Effect[]): void {
    const kept = this.#kept.get(attempt);
    this.#kept.delete(attempt);
    if (kept === undefined || !kept.isOurs) return;
    const paths = [kept.stdout.path, kept.stderr.path];
    for (const path of paths) effects.push({ type: 'spawner', message: { t: 'closeFile', path } });
    effects.push({ type: 'remove-files', paths });
  }

  #die(end: WorkerEnd, why: string, effects: Effect[]): void {
    if (this.#isDying) return;
    this.#isDying = true;
    effects.push({ type: 'exit', end, why });
  }
}

const endOf = (attempt: number, outcome: Outcome): AttemptEnd => ({
  attempt,
  outcome,
  stdout: noOutput,
  stderr: noOutput,
});

const lengthOf = ({ from, to }: OutputPlace): number => (to === undefined ? 0 : to - from);

const tailLength = ({ tail }: StreamEnd): number => Buffer.byteLength(tail, 'base64');
