/**
 * What waits to be launched, by what it needs: all workflows that have tasks of one need ready are one lane.
 *
 * Owns: which workflow has its turn in which lane, and which lanes are known to fit nowhere for now.
 * Does not own: the tasks themselves, which are in the `ready` of their workflow.
 * 1. A workflow that may launch a task of a need is in the lane of that need: entries may be stale, never missing. Left
 *    out is one whom a limit refuses (may-take.ts), until it is noted again.
 * 2. A lane that has a workflow is open or stuck, for free room (`now`) and, unless it fails fast, for what is sent ahead (`ahead`).
 * 3. Nobody who may be given tasks has room for a stuck lane; whoever gets room opens those that fit it. Of what is sent ahead, a lane is
 *    stuck as well if it `isBehind` another one that goes first: until somebody gets room the next time.
 */
import { lanesLookedAtMax } from '../../model/limits.ts';
import type { Need } from '../../model/need.ts';
import type { Needs } from '../resources/needs.ts';
import type { Demand } from '../resources/room.ts';
import type { WorkerRecord } from '../worker.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import { PriorityRota } from './priority-rota.ts';

export class Lane {
  /** Those of a need that fail fast are a lane apart. */
  readonly id: number;
  /** The number of the need. */
  readonly number: number;
  readonly need: Need;
  readonly demand: Demand;
  /** Under fail-fast nothing may start into a freed slot before the failure is known: nothing is sent ahead. */
  readonly failsFast: boolean;
  readonly turns = new PriorityRota<WorkflowRecord>();
  /** Since when it has found no room; 0 when it has, or was not looked at. */
  stuckSince = 0;
  /** Where it was looked for room ahead, one that goes first had none: some worker may have room ahead for this one. */
  isBehind = false;
  /** How many launches of others there had been by then. */
  launchesBefore = 0;
  /** When to look for a worker to reserve, if it is stuck until then. */
  reserveAt = Number.POSITIVE_INFINITY;
  /** It gets nothing but this, until it fits. */
  reserved: WorkerRecord | undefined;

  constructor(number: number, needs: Needs, failsFast: boolean) {
    this.id = idOf(number, failsFast);
    this.number = number;
    this.need = needs.get(number);
    this.demand = needs.demand(number);
    this.failsFast = failsFast;
  }
}

/** Lanes that may fit somewhere, and those that do not. */
export class LaneList {
  readonly open = new Set<Lane>();
  readonly stuck = new Set<Lane>();

  add(lane: Lane): void {
    if (!this.stuck.has(lane)) this.open.add(lane);
  }

  remove(lane: Lane): void {
    this.open.delete(lane);
    this.stuck.delete(lane);
  }

  /** Nobody has room for what is open. */
  markStuck(): void {
    for (const lane of this.open) this.stuck.add(lane);
    this.open.clear();
  }

  /** Opens those that are found to fit, of as many as one may look at. */
  openIf(fits: (lane: Lane) => boolean): void {
    let looked = 0;
    for (const lane of this.stuck) {
      if (fits(lane)) {
        this.stuck.delete(lane);
        this.open.add(lane);
      }
      if (++looked === lanesLookedAtMax) return rotate(this.stuck, looked);
    }
  }
}

/** The first ones come again after all others. */
export function rotate(lanes: Set<Lane>, count: number): void {
  if (lanes.size <= count) return;
  let moved = 0;
  for (const lane of lanes) {
    if (moved++ === count) return;
    lanes.delete(lane);
    lanes.add(lane);
  }
}

export class Lanes {
  readonly now = new LaneList();
  readonly ahead = new LaneList();
  /** Those for which a worker is reserved. */
  readonly reserving = new Set<Lane>();
  /** When one of them may be due. */
  reserveAt = Number.POSITIVE_INFINITY;
  /** One of them is, but nobody else was launched meanwhile. */
  hasOverdue = false;
  /** Counts launches and claims. */
  launches = 0;
  readonly #needs: Needs;
  /** By their ids. */
  readonly #lanes: (Lane | undefined)[] = [];

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get isEmpty(): boolean {
    return this.now.open.size + this.now.stuck.size === 0;
  }

  /** All that have a workflow. */
  *all(): Generator<Lane> {
    yield* this.now.open;
    yield* this.now.stuck;
  }

  has(need: number, workflow: WorkflowRecord): boolean {
    return this.#lanes[idOf(need, workflow.rules.failFast)]?.turns.has(workflow) ?? false;
  }

  /** The lane of a need; where it has never been one, as it would be. */
  laneOf(need: number, failsFast: boolean): Lane {
    return this.#lanes[idOf(need, failsFast)] ?? new Lane(need, this.#needs, failsFast);
  }

  byId(id: number): Lane | undefined {
    return this.#lanes[id];
  }

  add(need: number, priority: number, workflow: WorkflowRecord): void {
    const { failFast } = workflow.rules;
    const id = idOf(need, failFast);
    let lane = this.#lanes[id];
    if (lane === undefined) {
      lane = new Lane(need, this.#needs, failFast);
      this.#lanes[id] = lane;
    }
    if (lane.turns.isEmpty) this.#list(lane);
    lane.turns.add(priority, workflow);
  }

  /** It has no workflow left. */
  leave(lane: Lane): void {
    this.now.remove(lane);
    this.ahead.remove(lane);
    lane.stuckSince = 0;
    lane.reserveAt = Number.POSITIVE_INFINITY;
  }

  #list(lane: Lane): void {
    this.now.add(lane);
    if (!lane.failsFast) this.ahead.add(lane);
  }
}

/** Dense, as the numbers of needs are. */
const idOf = (need: number, failsFast: boolean): number => 2 * need + (failsFast ? 1 : 0);
