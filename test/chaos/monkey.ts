/**
 * Kills at random moments: waits until the log of the controller shows the phase that it wants, a little longer, and
 * strikes. Which phase was hit is what the log said last before the death; phases that were hit less are wanted more.
 */
import type { Phase } from '../../src/controller/phases.ts';
import { until } from '../program/drover.ts';
import type { Chance } from './chance.ts';
import { type Herd, spawnerOf, type Victim } from './herd.ts';
import { phases } from './phase-log.ts';

export const targets = ['controller', 'worker', 'controller and workers', 'worker and spawner', 'spawner'] as const;
export type Target = (typeof targets)[number];

export interface MonkeyOptions {
  /** How often each of the first three targets is killed at least; the other two, a quarter of that. */
  readonly times: number;
  /** Whether it goes on until each phase was hit. */
  readonly everyPhase: boolean;
  /** From 0 to 1: how much of the kills may be made by now, so that submissions last as long as they do. */
  readonly pace: () => number;
}

const pollMs = 20;
const aimMsMax = 2_000;
const gapMs = { from: 30, to: 500 };
/** A monkey that hits each target but misses a phase gives up after so many times the kills that it needed. */
const patience = 2;

export class Monkey {
  readonly #herd: Herd;
  readonly #chance: Chance;
  readonly #options: MonkeyOptions;
  /** The phase that it waits for. */
  aim: Phase | undefined;

  constructor(herd: Herd, chance: Chance, options: MonkeyOptions) {
    this.#herd = herd;
    this.#chance = chance;
    this.#options = options;
  }

  /** From 0 to 1. */
  get progress(): number {
    const all = sum(targets.map((target) => this.#wanted(target)));
    return 1 - sum(targets.map((target) => this.#missing(target))) / all;
  }

  async run(): Promise<void> {
    const killsMax = patience * sum(targets.map((target) => this.#wanted(target)));
    while (!this.#isContent() && this.#herd.kills.length < killsMax) {
      while (this.progress > this.#options.pace()) await pause(pollMs);
      const target = this.#chance.pick(targets, (each) => this.#missing(each) + 0.01);
      const phase = this.#chance.pick(phases, (each) => 1 / (1 + this.#hits(target, each)) ** 2);
      if (phase === 'recovering') await this.#hit('controller', this.#chance.pick(phases.slice(0, -1)));
      await this.#hit(target, phase);
    }
    await this.#herd.ready();
  }

  /** Phases that no kill has hit, and one should have. */
  get missed(): Phase[] {
    if (!this.#options.everyPhase) return [];
    return phases.filter((phase) => !this.#herd.kills.some((kill) => kill.phase === phase));
  }

  async #hit(target: Target, phase: Phase): Promise<void> {
    if (phase !== 'recovering') {
      await this.#herd.ready();
      await pause(this.#chance.between(gapMs.from, gapMs.to));
    }
    const withSpawner = (): number | undefined => this.#herd.workerPids.find((pid) => spawnerOf(pid) !== undefined);
    if (target.endsWith('spawner')) await until('a worker has a spawner', withSpawner);
    this.aim = phase;
    await this.#herd.log.caught(this.#herd.serverPid, phase, aimMsMax);
    this.aim = undefined;
    // Half of them at once, the others spread over what follows.
    if (this.#chance.isOneIn(2)) this.#herd.log.block(this.#chance.next() ** 3 * 5);
    await this.#herd.strike(target, this.#victims(target));
  }

  #victims(target: Target): Victim[] {
    const controller: Victim = { pid: this.#herd.serverPid };
    const workers = this.#herd.workerPids;
    const led = workers.filter((pid) => spawnerOf(pid) !== undefined);
    const one = this.#chance.pick(led.length > 0 ? led : workers);
    switch (target) {
      case 'controller':
        return [controller];
      case 'worker':
        return [workerVictim(one)];
      case 'controller and workers':
        return [controller, ...(this.#chance.isOneIn(2) ? workers : [one]).map(workerVictim)];
      case 'worker and spawner':
        return [workerVictim(one), ...spawnerVictims(one)];
      case 'spawner':
        return spawnerVictims(one);
    }
  }

  #wanted(target: Target): number {
    const { times } = this.#options;
    return targets.indexOf(target) < 3 ? times : Math.ceil(times / 4);
  }

  #missing(target: Target): number {
    return Math.max(0, this.#wanted(target) - this.#herd.kills.filter((kill) => kill.target === target).length);
  }

  #hits(target: Target, phase: Phase): number {
    return this.#herd.kills.filter((kill) => kill.target === target && kill.phase === phase).length;
  }

  #isContent(): boolean {
    return this.missed.length === 0 && targets.every((target) => this.#missing(target) === 0);
  }
}

const workerVictim = (pid: number): Victim => ({ pid, workerPid: pid });

function spawnerVictims(workerPid: number): Victim[] {
  const pid = spawnerOf(workerPid);
  return pid === undefined ? [] : [{ pid, workerPid }];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
