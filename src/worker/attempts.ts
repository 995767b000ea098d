/**
 * The attempts on a worker: accepted, started through the spawner, ended, and told of until the controller knows.
 *
 * Owns: the attempts with their specifications, the slots, and output that the controller has not taken yet.
 * 1. An attempt is here from its acceptance until its end was acknowledged; it is started at most once.
 * 2. There is at most one attempt of a task.
 */
import type { WorkerId } from '../model/ids.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FromSpawner } from '../protocol/spawner.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import type { AttemptEnd, FromWorker, KillWhy, Order, StreamEnd, ToWorker } from '../protocol/worker.ts';
import type { Association } from './association.ts';
import type { Entry, EntryIn, Places } from './entry.ts';
import type { Effect, Input, OutputPlace } from './messages.ts';
import { outcomeOfEnd, outcomeOfFailure } from './outcome.ts';
import type { Reports } from './reports.ts';
import { Slots } from './slots.ts';
import { isInherited, taskVariables } from './task-environment.ts';

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

  constructor(options: AttemptsOptions, association: Association, reports: Reports) {
    this.#options = options;
    this.#association = association;
    this.#reports = reports;
    this.#slots = new Slots(options.slots, options.directory);
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

  resize(slots: number): void {
    this.#slots.resize(slots);
  }

  /** When something is due for them by the clock alone. */
  nextDeadline(): number {
    let next = Number.POSITIVE_INFINITY;
    if (this.#association.isGreeted)
      for (const { noticeAt } of this.#unnoticed.values()) next = Math.min(next, noticeAt);
    for (const deadline of this.#deadlines.values()) next = Math.min(next, deadline);
    return next;
  }

  /** Which file the output of a task goes to. */
  placesOf(attempt: number): Places | undefined {
    const entry = this.#entries.get(attempt);
    return entry?.phase === 'running' || entry?.phase === 'starting' ? entry.places : undefined;
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
      .map(([attempt, { stdout, stderr }]) => ({ attempt, stdout: lengthOf(stdout), stderr: lengthOf(stderr) }));
  }

  accept(order: Order, spec: WorkflowSpec): void {
    this.#entries.set(order.attempt, { phase: 'accepted', order, spec });
    this.#tasks.add(order.task);
    this.#queue.push(order.attempt);
  }

  /** The controller knows of its end. */
  forget(attempt: number): void {
    this.#reports.onAcknowledged(attempt);
    const entry = this.#entries.get(attempt);
    if (entry?.phase !== 'ended') return;
    this.#entries.delete(attempt);
    this.#tasks.delete(entry.order.task);
  }

  onFailed(message: FromSpawnerOf<'failed'>, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(message.key);
    if (entry?.phase !== 'starting') return;
    this.#slots.give(entry.slot);
    this.#end(entry, endOf(message.key, outcomeOfFailure(message)), now, effects);
  }

  /** Everything that the spawner ran is dead with it; a new one takes over what was only accepted. */
  onSpawnerGone(now: number, effects: Effect[]): void {
    for (const [attempt, entry] of this.#entries) {
      if (entry.phase !== 'starting' && entry.phase !== 'running') continue;
      this.#slots.give(entry.slot);
      this.#end(entry, endOf(attempt, { kind: 'lost', what: 'cylinder' }), now, effects);
    }
    for (const [workflow, spec] of this.#specs) this.addSpec(workflow, spec, effects);
  }

  fetch({ request, attempt, stream, offset, limit }: Fetch, effects: Effect[]): void {
    const place = this.#kept.get(attempt)?.[stream] ?? this.placesOf(attempt)?.[stream];
    effects.push({ type: 'fetch', request, place, offset, limit });
  }

  addSpec(workflow: number, spec: WorkflowSpec, effects: Effect[]): void {
    this.#specs.set(workflow, spec);
    const env = Object.entries(spec.env)
      .filter(([name]) => isInherited(name))
      .map(([name, value]) => `${name}=${value}`);
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

  /** As many as there are slots for; the spawner must be there. */
  startNext(effects: Effect[]): void {
    while (this.#slots.hasFree && this.#queue.length > 0) {
      const attempt = this.#queue.shift() as number;
      const entry = this.#entries.get(attempt);
      const { worker } = this.#association;
      if (entry?.phase !== 'accepted' || worker === undefined) continue;
      this.#startOne(entry, this.#slots.take(), worker, effects);
    }
  }

  #startOne({ order, spec }: EntryIn<'accepted'>, slot: number, worker: WorkerId, effects: Effect[]): void {
    const { attempt, command, workflow } = order;
    const { directory, tag } = this.#options;
    const scratch = `${directory}/scratch-${attempt}`;
    const { places, mode } = this.#placesFor(order, spec, slot, effects);
    this.#entries.set(attempt, { phase: 'starting', order, spec, slot, places });
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

  onStarted({ key, at, out, err }: FromSpawnerOf<'started'>, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(key);
    if (entry?.phase !== 'starting') return;
    const { order, spec, slot, killFor } = entry;
    const places = { stdout: { ...entry.places.stdout, from: out }, stderr: { ...entry.places.stderr, from: err } };
    const timeoutMs = order.timeoutMs ?? spec.timeoutMs;
    this.#entries.set(key, { phase: 'running', order, spec, slot, places, startedAt: at });
    this.#unnoticed.set(key, { at, noticeAt: now + startedNoticeMs });
    // By this process's own clock: the spawner's may have started from another reading of the wall.
    if (timeoutMs !== undefined) this.#deadlines.set(key, now + timeoutMs);
    if (killFor !== undefined) this.#signal(key, spec, killFor, effects);
  }

  onEnded({ message, stdout, stderr }: Extract<Input, { type: 'ended' }>, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(message.key);
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
      now,
      effects,
    );
  }

  #end({ order, spec }: Entry, end: AttemptEnd, now: number, effects: Effect[]): void {
    this.#entries.set(order.attempt, { phase: 'ended', order, spec, end });
    this.#unnoticed.delete(order.attempt);
    this.#deadlines.delete(order.attempt);
    this.#reports.add(end, now, effects);
  }

  retract(attempt: number, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(attempt);
    if (entry?.phase !== 'accepted') return;
    this.#end(
      entry,
      endOf(attempt, { kind: 'never-started', why: 'retracted', message: 'it was taken back' }),
      now,
      effects,
    );
  }

  kill(attempt: number, why: KillWhy, now: number, effects: Effect[]): void {
    const entry = this.#entries.get(attempt);
    if (entry === undefined || entry.phase === 'ended') return;
    if (entry.phase === 'accepted') this.#end(entry, endOf(attempt, { kind: 'cancelled' }), now, effects);
    else if (entry.phase === 'starting') this.#entries.set(attempt, { ...entry, killFor: why });
    else this.#signal(attempt, entry.spec, why, effects);
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
    const paths = [kept.stdout.path, kept.stderr.path];
    for (const path of paths) effects.push({ type: 'spawner', message: { t: 'closeFile', path } });
    effects.push({ type: 'remove-files', paths });
  }
}

export const endOf = (attempt: number, outcome: Outcome): AttemptEnd => ({
  attempt,
  outcome,
  stdout: noOutput,
  stderr: noOutput,
});

const lengthOf = ({ from, to }: OutputPlace): number => (to === undefined ? 0 : to - from);

const tailLength = ({ tail }: StreamEnd): number => Buffer.byteLength(tail, 'base64');
