/**
 * The attempts on a worker: accepted, started through the spawner, ended, and told of until the controller knows.
 *
 * Owns: the attempts with their specifications, and output that the controller has not taken yet. The slots are the
 * spawner's; it is given a little more than fits into them.
 * 1. An attempt is here from its acceptance until its end was acknowledged; it is started at most once.
 * 2. There is at most one attempt of a task.
 * 3. With the spawner is no more than runs and what it can start within a moment: the rest can be taken back.
 * 4. They begin in the order in which they came. As long as one with a need is among them, the spawner has only what fits
 *    into the capacity: the first of the others waits until it does.
 */
import { startAheadMax, startAheadMs } from '../model/limits.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FromSpawner } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import { gpusVariable, isInherited, reapVariable, workflowVariables } from '../protocol/task-environment.ts';
import type {
  AttemptEnd,
  FromWorker,
  KillWhy,
  Order,
  StreamEnd,
  ToWorker,
  WorkerCapacity,
} from '../protocol/worker.ts';
import { Admission, gpuNamesOf } from './admission.ts';
import type { Association } from './association.ts';
import type { Entry, EntryIn } from './entry.ts';
import type { Effect, OutputPlace } from './messages.ts';
import { outcomeOfEnd, outcomeOfFailure } from './outcome.ts';
import { queueMessage } from './queue-message.ts';
import type { Reports } from './reports.ts';
import type { GpuHolder } from './usage.ts';

type FromSpawnerOf<T extends FromSpawner['t']> = Extract<FromSpawner, { readonly t: T }>;
type Running = Extract<FromWorker, { readonly t: 'running' }>['attempts'];
type KeptList = Extract<FromWorker, { readonly t: 'kept' }>['kept'];
type Fetch = Extract<ToWorker, { readonly t: 'fetch' }>;

/** An attempt that runs shorter than this is reported once, with its end. */
const startedNoticeMs = 50;

const noOutput: StreamEnd = { bytes: 0, tail: '' };

/** Output of an ended attempt, longer than what its end carries, that the controller has not taken yet. */
interface Kept {
  readonly stdout: OutputPlace;
  readonly stderr: OutputPlace;
  /** Whether the files are the worker's own, to be removed in the end. */
  readonly isOurs: boolean;
}

export interface AttemptsOptions {
  readonly slots: number;
  /** What there is besides. */
  readonly capacity?: WorkerCapacity;
  /** As programs know its GPUs; by their numbers when absent. */
  readonly gpuNames?: readonly string[];
  /** Where segments and scratch directories go. */
  readonly directory: string;
  readonly tag: string;
}

/** When an attempt is to be ended, and why. */
interface Deadline {
  readonly at: number;
  readonly why: 'timeout' | 'runtime';
}

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #association: Association;
  readonly #reports: Reports;
  readonly #entries = new Map<number, Entry>();
  /** Accepted, in the order in which they came. */
  readonly #queue = new Set<number>();
  /** With the spawner. */
  readonly #given = new Set<number>();
  readonly #admission: Admission;
  /** How many of those in the queue have a need. */
  #needy = 0;
  #slots: number;
  /** A moving average of how long attempts run, from which is computed how much the spawner gets ahead; 0 before the first. */
  #averageMs = 0;
  readonly #specs = new Map<number, WorkflowSpec>();
  readonly #kept = new Map<number, Kept>();
  /** Which tasks have an attempt here. */
  readonly #tasks = new Set<number>();
  /** Started, not reported yet: by attempt. */
  readonly #unnoticed = new Map<number, { readonly at: number; readonly noticeAt: number }>();
  /** Running with a time limit: by attempt. */
  readonly #deadlines = new Map<number, Deadline>();

  constructor(options: AttemptsOptions, association: Association, reports: Reports) {
    this.#options = options;
    this.#association = association;
    this.#reports = reports;
    this.#slots = options.slots;
    const { slots, capacity, gpuNames } = options;
    const gpus = gpuNames ?? gpuNamesOf(capacity?.gpus ?? 0, undefined);
    this.#admission = new Admission({ ...capacity, slots, gpus });
  }

  get entries(): ReadonlyMap<number, Entry> {
    return this.#entries;
  }

  hasTask(task: number): boolean {
    return this.#tasks.has(task);
  }

  specOf(workflow: number): WorkflowSpec | undefined {
    return this.#specs.get(workflow);
  }

  resize(slots: number, effects: Effect[]): void {
    this.#slots = slots;
    this.#admission.resize(slots);
    this.#tellSlots(effects);
  }

  /** A new spawner knows nothing. */
  equipSpawner(effects: Effect[]): void {
    this.#tellSlots(effects);
    for (const [workflow, spec] of this.#specs) this.addSpec(workflow, spec, effects);
  }

  #tellSlots(effects: Effect[]): void {
    const { directory } = this.#options;
    effects.push({ type: 'spawner', message: { t: 'slots', count: this.#slots, directory } });
  }

  /** When something is due for them by the clock alone. */
  nextDeadline(): number {
    let next = Number.POSITIVE_INFINITY;
    if (this.#association.isGreeted)
      for (const { noticeAt } of this.#unnoticed.values()) next = Math.min(next, noticeAt);
    for (const { at } of this.#deadlines.values()) next = Math.min(next, at);
    return next;
  }

  running(): Running {
    return [...this.#entries].map(([attempt, entry]) => {
      const { task } = entry.order;
      if (entry.phase === 'running') return { attempt, task, phase: entry.phase, startedAt: entry.startedAt };
      return { attempt, task, phase: entry.phase === 'ended' ? entry.phase : ('accepted' as const) };
    });
  }

  get hasGpusTaken(): boolean {
    return this.#admission.hasGpusTaken;
  }

  /** Those that run with GPUs of their own. */
  gpuHolders(): GpuHolder[] {
    return [...this.#admission.gpusTaken()].flatMap(([attempt, gpus]) => {
      const entry = this.#entries.get(attempt);
      return entry?.phase === 'running' ? [{ attempt, gpus, startedAt: entry.startedAt }] : [];
    });
  }

  kept(): KeptList {
    return [...this.#kept]
      .filter(([attempt]) => !this.#entries.has(attempt))
      .map(([attempt, { stdout, stderr }]) => ({ attempt, stdout: stdout.bytes ?? 0, stderr: stderr.bytes ?? 0 }));
  }

  accept(order: Order, spec: WorkflowSpec): void {
    this.#entries.set(order.attempt, { phase: 'accepted', order, spec });
    this.#tasks.add(order.task);
    this.#queue.add(order.attempt);
    if (order.need !== undefined) this.#needy++;
  }

  /** The controller knows of its end. */
  forget(attempt: number): void {
    this.#reports.onAcknowledged(attempt);
    const entry = this.#entries.get(attempt);
    if (entry?.phase !== 'ended') return;
    this.#entries.delete(attempt);
    this.#tasks.delete(entry.order.task);
  }

  onFailed(message: FromSpawnerOf<'failed'>, now: number): void {
    const entry = this.#entries.get(message.key);
    if (entry?.phase === 'starting') this.#end(entry, endOf(message.key, outcomeOfFailure(message)), now);
  }

  /** It never began. */
  onDropped({ key }: FromSpawnerOf<'dropped'>, now: number): void {
    const entry = this.#entries.get(key);
    if (entry?.phase !== 'starting') return;
    this.#end(entry, endOf(key, entry.leaveFor === 'retract' ? takenBack : { kind: 'cancelled' }), now);
  }

  /** Everything that the spawner ran is dead with it; a new one takes over what was only accepted. */
  onSpawnerGone(now: number): void {
    for (const attempt of [...this.#given]) {
      const entry = this.#entries.get(attempt);
      if (entry !== undefined) this.#end(entry, endOf(attempt, { kind: 'lost', what: 'cylinder' }), now);
    }
  }

  fetch({ request, attempt, stream, offset, limit }: Fetch, effects: Effect[]): void {
    const entry = this.#entries.get(attempt);
    const live = entry?.phase === 'running' ? { path: entry.files[stream] } : undefined;
    const place = this.#kept.get(attempt)?.[stream] ?? live;
    effects.push({ type: 'fetch', request, place, offset, limit });
  }

  addSpec(workflow: number, spec: WorkflowSpec, effects: Effect[]): void {
    this.#specs.set(workflow, spec);
    const { worker } = this.#association;
    const own = worker === undefined ? [] : workflowVariables(workflow, worker);
    const env = Object.entries(spec.env)
      .filter(([name]) => isInherited(name))
      .map(([name, value]) => `${name}=${value}`)
      .concat(worker === undefined ? [] : [...own, `${reapVariable}=${this.#options.tag}`])
      // Who did not ask for a GPU has none of those that are handed out.
      .concat(this.#options.capacity?.gpus ? [`${gpusVariable}=`] : []);
    effects.push({ type: 'spawner', message: { t: 'env', id: workflow, env } });
    if (spec.outputDir !== undefined) effects.push({ type: 'make-directory', path: spec.outputDir });
  }

  /** The controller sends the rest again on every new link. */
  dropUnusedSpecs(effects: Effect[]): void {
    const used = new Set([...this.#entries.values()].map(({ order }) => order.workflow));
    for (const workflow of this.#specs.keys()) {
      if (used.has(workflow)) continue;
      this.#specs.delete(workflow);
      effects.push({ type: 'spawner', message: { t: 'dropEnv', id: workflow } });
    }
  }

  /** What fits; the spawner must be there. */
  startNext(now: number, effects: Effect[]): void {
    if (this.#needy + this.#admission.size === 0) this.#startPlain(effects);
    else this.#startFitting(now, effects);
  }

  /** As many as there are slots for, and a little more. */
  #startPlain(effects: Effect[]): void {
    const most = this.#slots + this.#ahead;
    for (const attempt of this.#queue) {
      if (this.#given.size >= most) return;
      const entry = this.#entries.get(attempt);
      this.#queue.delete(attempt);
      if (entry?.phase === 'accepted') this.#startOne(entry, effects);
    }
  }

  #startFitting(now: number, effects: Effect[]): void {
    for (const attempt of this.#queue) {
      const entry = this.#entries.get(attempt);
      if (entry?.phase !== 'accepted') continue;
      const { need } = entry.order;
      const verdict = this.#admission.judge(need, this.#given.size - this.#admission.size);
      if (verdict.type === 'waits') return;
      if (verdict.type === 'never') {
        this.#end(entry, endOf(attempt, { kind: 'never-started', why: 'refused', message: verdict.why }), now);
        continue;
      }
      this.#leaveQueue(entry.order);
      this.#startOne(entry, effects);
    }
  }

  #leaveQueue({ attempt, need }: Order): void {
    if (this.#queue.delete(attempt) && need !== undefined) this.#needy--;
  }

  /** Whether more wait here than fit into the slots, beside those that the spawner has ahead. */
  get isWellFed(): boolean {
    return this.#queue.size > this.#slots;
  }

  /** Before the first end nothing is known of how long tasks take. */
  get #ahead(): number {
    if (this.#averageMs === 0) return 0;
    return Math.min(startAheadMax, Math.floor((this.#slots * startAheadMs) / this.#averageMs));
  }

  #startOne({ order, spec }: EntryIn<'accepted'>, effects: Effect[]): void {
    const { attempt, need } = order;
    const grant = need === undefined ? undefined : this.#admission.take(attempt, need);
    this.#entries.set(attempt, { phase: 'starting', order, spec });
    this.#given.add(attempt);
    effects.push({ type: 'spawner', message: queueMessage(order, spec, grant) });
  }

  onStarted({ key, at, files }: FromSpawnerOf<'started'>, now: number): void {
    const entry = this.#entries.get(key);
    if (entry?.phase !== 'starting') return;
    const { order, spec } = entry;
    const limit = limitOf(order, spec);
    this.#entries.set(key, { phase: 'running', order, spec, files, startedAt: at });
    this.#unnoticed.set(key, { at, noticeAt: now + startedNoticeMs });
    // By this process's own clock: the spawner's may have started from another reading of the wall.
    if (limit !== undefined) this.#deadlines.set(key, { at: now + limit.ms, why: limit.why });
  }

  /** The start may not have been told: then it is in the end. */
  onEnded(message: FromSpawnerOf<'ended'>, now: number): void {
    const entry = this.#entries.get(message.key);
    if (entry?.phase !== 'running' && entry?.phase !== 'starting') return;
    const { cpuMs, wallMs, peakBytes, signalled, at, out: stdout, err: stderr, files } = message;
    const usage = { cpuMs: Math.round(cpuMs), wallMs: Math.round(wallMs) };
    if (files !== undefined) {
      const place = (path: string, { bytes }: StreamEnd): OutputPlace => ({ path, bytes });
      const places = { stdout: place(files.stdout, stdout), stderr: place(files.stderr, stderr) };
      this.#kept.set(message.key, { ...places, isOurs: entry.spec.outputDir === undefined });
    }
    this.#averageMs = this.#averageMs === 0 ? Math.max(wallMs, 0.1) : this.#averageMs * 0.9 + wallMs * 0.1;
    this.#end(
      entry,
      {
        attempt: message.key,
        outcome: outcomeOfEnd(message),
        startedAt: at,
        usage: peakBytes === undefined ? usage : { ...usage, peakBytes },
        ...(signalled === undefined ? {} : { signalledFor: signalled.why }),
        stdout,
        stderr,
      },
      now,
    );
  }

  #end({ order, spec }: Entry, end: AttemptEnd, now: number): void {
    const { attempt } = order;
    this.#entries.set(attempt, { phase: 'ended', order, spec, end });
    this.#leaveQueue(order);
    this.#given.delete(attempt);
    this.#admission.giveBack(attempt);
    this.#unnoticed.delete(attempt);
    this.#deadlines.delete(attempt);
    this.#reports.add(end, now);
  }

  /** What waits for a slot with the spawner is taken back from there. */
  retract(attempt: number, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(attempt);
    if (entry?.phase === 'accepted') this.#end(entry, endOf(attempt, takenBack), now);
    if (entry?.phase !== 'starting' || entry.leaveFor !== undefined) return;
    this.#entries.set(attempt, { ...entry, leaveFor: 'retract' });
    effects.push({ type: 'spawner', message: { t: 'drop', key: attempt } });
  }

  kill(attempt: number, why: KillWhy, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(attempt);
    if (entry === undefined || entry.phase === 'ended') return;
    if (entry.phase === 'accepted') return this.#end(entry, endOf(attempt, { kind: 'cancelled' }), now);
    if (entry.phase === 'starting') this.#entries.set(attempt, { ...entry, leaveFor: why });
    this.#signal(attempt, entry.spec, why, effects);
  }

  #signal(attempt: number, spec: WorkflowSpec, why: KillWhy | Deadline['why'], effects: Effect[]): void {
    const graceMs = spec.terminationMs;
    effects.push({ type: 'spawner', message: { t: 'kill', key: attempt, how: 'term-kill', graceMs, why } });
  }

  killOverdue(now: number, effects: Effect[]): void {
    for (const [attempt, { at, why }] of this.#deadlines) {
      const entry = this.#entries.get(attempt);
      if (at > now || entry === undefined) continue;
      this.#deadlines.delete(attempt);
      this.#signal(attempt, entry.spec, why, effects);
    }
  }

  noticeStarts(now: number, effects: Effect[]): void {
    if (!this.#association.isGreeted) return;
    const due = [...this.#unnoticed].filter(([, { noticeAt }]) => noticeAt <= now);
    if (due.length === 0) return;
    for (const [attempt] of due) this.#unnoticed.delete(attempt);
    const attempts = due.map(([attempt, { at }]) => ({ attempt, at }));
    effects.push({ type: 'send', message: { t: 'started', attempts } });
  }

  dropOutput(attempt: number, effects: Effect[]): void {
    const kept = this.#kept.get(attempt);
    this.#kept.delete(attempt);
    if (kept === undefined || !kept.isOurs) return;
    effects.push({ type: 'remove-files', paths: [kept.stdout.path, kept.stderr.path] });
  }
}

export const endOf = (attempt: number, outcome: Outcome): AttemptEnd => ({
  attempt,
  outcome,
  stdout: noOutput,
  stderr: noOutput,
});

const takenBack: Outcome = { kind: 'never-started', why: 'retracted', message: 'it was taken back' };

/** Its definer's timeout, or the time that it asked for: whichever ends first. */
function limitOf({ timeoutMs, need }: Order, spec: WorkflowSpec): { ms: number; why: Deadline['why'] } | undefined {
  const timeout = timeoutMs ?? spec.timeoutMs ?? Number.POSITIVE_INFINITY;
  const runtime = need?.runtimeMs ?? Number.POSITIVE_INFINITY;
  if (timeout === Number.POSITIVE_INFINITY && runtime === timeout) return undefined;
  return timeout <= runtime ? { ms: timeout, why: 'timeout' } : { ms: runtime, why: 'runtime' };
}
