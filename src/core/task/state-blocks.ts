/**
 * How many tasks of each block of consecutive ids are in which state, and how many have a mark: a search passes over
 * blocks that have none of what it looks for, and totals need no look at any task.
 * 1. The counts of a block by state sum up to the tasks of it that were added.
 */
import { taskStates } from '../../model/states.ts';

/** Tasks of a block. Its counts fit into 16 bits, and a million tasks are 245 blocks. */
export const blockTasks = 4_096;
const blockShift = 12;
const stateShift = 4;

/** States as a set of bits, by their codes. */
export type StateMask = number;
export const allStates: StateMask = (1 << taskStates.length) - 1;

/** What a search may need besides a state: that it was ever attempted, that it is held. Their counts follow those of the states. */
export const marks = { attempted: taskStates.length, held: taskStates.length + 1 } as const;
export type Mark = keyof typeof marks;

export class StateBlocks {
  #counts = new Uint16Array(1 << stateShift);

  added(task: number, state: number): void {
    const at = ((task >>> blockShift) << stateShift) | state;
    if (at >= this.#counts.length) this.#grow(at);
    (this.#counts[at] as number)++;
  }

  moved(task: number, from: number, to: number): void {
    const block = (task >>> blockShift) << stateShift;
    (this.#counts[block | from] as number)--;
    (this.#counts[block | to] as number)++;
  }

  marked(task: number, mark: Mark, by: 1 | -1): void {
    const at = ((task >>> blockShift) << stateShift) | marks[mark];
    this.#counts[at] = (this.#counts[at] as number) + by;
  }

  marksInBlockOf(task: number, mark: Mark): number {
    return this.#counts[((task >>> blockShift) << stateShift) | marks[mark]] ?? 0;
  }

  /** How many of the tasks in the block of that task are in one of the states. */
  inBlockOf(task: number, mask: StateMask): number {
    const block = (task >>> blockShift) << stateShift;
    let count = 0;
    for (let state = 0; state < taskStates.length; state++) {
      if ((mask >>> state) & 1) count += this.#counts[block | state] ?? 0;
    }
    return count;
  }

  /** Of all blocks. */
  total(mask: StateMask): number {
    let count = 0;
    for (let block = 0; block < this.#counts.length; block += 1 << stateShift) {
      count += this.inBlockOf(block << (blockShift - stateShift), mask);
    }
    return count;
  }

  #grow(at: number): void {
    const grown = new Uint16Array(Math.max((at | ((1 << stateShift) - 1)) + 1, 2 * this.#counts.length));
    grown.set(this.#counts);
    this.#counts = grown;
  }
}

/** The id that begins the next block, or ends the one before. */
export const nextBlock = (task: number): number => ((task >>> blockShift) + 1) << blockShift;
export const endOfBlockBefore = (task: number): number => ((task >>> blockShift) << blockShift) - 1;
