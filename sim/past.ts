/**
 * What a restored backup has made the store forget, and whether its controller could know.
 *
 * Owns: when the last restore was, and what the controllers since have heard of the time before.
 * 1. A controller has been warned once a worker has spoken to it whose echo is younger than the backup. If it gives out
 *    tasks before, nobody could tell it: from then on what ran before the restore is excused.
 */
import type { Message } from './net.ts';
import type { Parts } from './parts.ts';

/** Of any settings, with its way there and back. */
const heartbeatMsMax = 4_000;

/** Processes of controllers are numbered. */
const numberOf = (scheduler: string): number => Number(scheduler.split('.')[1]);

export class Past {
  readonly #world: Parts;
  restoredAt = 0;
  #version = 0;
  #lastBefore = 0;
  /** Instances that remember more than the backup, and have to go on doing so until a controller has waited. */
  readonly #witnesses = new Set<string>();
  #warning = '';
  #warned = '';
  #isExcused = false;

  /** When each instance joined. */
  readonly #joinedAt = new Map<string, number>();

  constructor(world: Parts) {
    this.#world = world;
  }

  onRestored(): void {
    const { kernel, disk, controller } = this.#world;
    this.restoredAt = kernel.now;
    this.#version = disk.version;
    this.#lastBefore = controller.starts;
    this.#isExcused = false;
    this.#witnesses.clear();
  }

  get hasRestore(): boolean {
    return this.restoredAt > 0;
  }

  onHeartbeat({ echo, worker }: Message): void {
    const { instance } = worker as { instance: string };
    const { scheduler = '', version = 0 } = (echo ?? {}) as { scheduler?: string; version?: number };
    if (numberOf(scheduler) <= this.#lastBefore && version > this.#version) this.#witnesses.add(instance);
    if (this.#witnesses.has(instance)) this.#warning = this.#world.controller.process.name;
  }

  /** What came while a turn was under way is heard in the next. */
  onTurn(): void {
    if (this.#warning !== '') this.#warned = this.#warning;
    this.#warning = '';
  }

  /** Tasks are given out. */
  onRun(): void {
    if (this.hasRestore && this.#warned !== this.#world.controller.process.name) this.#isExcused = true;
  }

  onJoined(instance: string): void {
    this.#joinedAt.set(instance, this.#world.kernel.now);
  }

  /** Whether it joined so short before the restore that no other worker had heard of it. */
  isUnheardOf(instance: string): boolean {
    return this.hasRestore && (this.#joinedAt.get(instance) ?? 0) > this.restoredAt - heartbeatMsMax;
  }

  /** Whether nobody could know of a process that began then. */
  excuses(startedAt: number): boolean {
    return this.#isExcused && startedAt < this.restoredAt;
  }
}
