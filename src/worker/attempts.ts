/**
 * The attempts on a worker: accepted, started through the spawner, ended, and told of until the controller knows.
 *
 * Owns: the attempts with their specifications, and output that the controller has not taken yet. The slots are the
 * spawner's; it is given a little more than fits into them.
 * 1. An attempt is here from its acceptance until its end was acknowledged; it is started at most once.
 * 2. There is at most one attempt of a task.
 * 3. With the spawner is no more than runs and what it can start within a moment: the rest can be taken back.
 */
import { startAheadMax, startAheadMs } from '../model/limits.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FromSpawner, OutputFiles } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import { isInherited, reapVariable, taskVariables, workflowVariables } from '../protocol/task-environment.ts';
import type { AttemptEnd, FromWorker, KillWhy, Order, StreamEnd, ToWorker } from '../protocol/worker.ts';
import type { Association } from './association.ts';
import type { Entry, EntryIn } from './entry.ts';
import type { Effect, OutputPlace } from './messages.ts';
import { outcomeOfEnd, outcomeOfFailure } from './outcome.ts';
import type { Reports } from './reports.ts';

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
  /** Where segments and scratch directories go. */
  readonly directory: string;
  readonly tag: string;
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
  #slots: number;
  /** A moving average of how long attempts run, from which is computed how much the spawner gets ahead; 0 before the first. */
  #averageMs = 0;
  readonly #specs = new Map<number, WorkflowSpec>();
  readonly #kept = new Map<number, Kept>();
  /** Which tasks have an attempt here. */
  readonly #tasks = new Set<number>();
  /** Started, not reported yet: by attempt. */
  readonly #unnoticed = new Map<number, { readonly at: number; readonly noticeAt: number }>();
  /** Running with a time limit: by attempt, until when. */
  readonly #deadlines = new Map<number, number>();

  constructor(options: AttemptsOptions, association: Association, reports: Reports) {
    this.#options = options;
    this.#association = association;
    this.#reports = reports;
    this.#slots = options.slots;
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
    for (const deadline of this.#deadlines.values()) next = Math.min(next, deadline);
    return next;
  }

  running(): Running {
    return [...this.#entries].map(([attempt, entry]) => {
      const { task } = entry.order;
      if (entry.phase === 'running') return { attempt, task, phase: entry.phase, startedAt: entry.startedAt };
      return { attempt, task, phase: entry.phase === 'ended' ? entry.phase : ('accepted' as const) };
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
      .concat(worker === undefined ? [] : [...own, `${reapVariable}=${this.#options.tag}`]);
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

  /** As many as there are slots for, and a little more; the spawner must be there. */
  startNext(effects: Effect[]): void {
    const most = this.#slots + this.#ahead;
    for (const attempt of this.#queue) {
      if (this.#given.size >= most) return;
      const entry = this.#entries.get(attempt);
      this.#queue.delete(attempt);
      if (entry?.phase === 'accepted') this.#startOne(entry, effects);
    }
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
    const { attempt, command, workflow } = order;
    const { shell, cwd, stdin } = spec;
    const files = plainFilesOf(order, spec);
    this.#entries.set(attempt, { phase: 'starting', order, spec });
    this.#given.add(attempt);
    effects.push({
      type: 'spawner',
      message: {
        ...{ t: 'queue', key: attempt, env: workflow, vars: taskVariables(order), command, shell, cwd },
        ...(stdin === undefined ? {} : { stdin }),
        ...(files === undefined ? {} : { files }),
      },
    });
  }

  onStarted({ key, at, files }: FromSpawnerOf<'started'>, now: number): void {
    const entry = this.#entries.get(key);
    if (entry?.phase !== 'starting') return;
    const { order, spec } = entry;
    const timeoutMs = order.timeoutMs ?? spec.timeoutMs;
    this.#entries.set(key, { phase: 'running', order, spec, files, startedAt: at });
    this.#unnoticed.set(key, { at, noticeAt: now + startedNoticeMs });
    // By this process's own clock: the spawner's may have started from another reading of the wall.
    if (timeoutMs !== undefined) this.#deadlines.set(key, now + timeoutMs);
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
    this.#queue.delete(attempt);
    this.#given.delete(attempt);
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

  #signal(attempt: number, spec: WorkflowSpec, why: KillWhy | 'timeout', effects: Effect[]): void {
    const graceMs = spec.terminationMs;
    effects.push({ type: 'spawner', message: { t: 'kill', key: attempt, how: 'term-kill', graceMs, why } });
  }

  killOverdue(now: number, effects: Effect[]): void {
    for (const [attempt, deadline] of this.#deadlines) {
      const entry = this.#entries.get(attempt);
      if (deadline > now || entry === undefined) continue;
      this.#deadlines.delete(attempt);
      this.#signal(attempt, entry.spec, 'timeout', effects);
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

/** Where the user wants them: a file per stream and attempt. */
function plainFilesOf({ workflow, index, number }: Order, { outputDir }: WorkflowSpec): OutputFiles | undefined {
  if (outputDir === undefined) return undefined;
  const base = `${outputDir}/w${workflow}.${index}${number === 1 ? '' : `.${number}`}`;
  return { stdout: `${base}.out`, stderr: `${base}.err` };
}
