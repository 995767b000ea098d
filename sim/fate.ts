/** How a task goes: its command says what may happen, the seed and the number of the attempt say what does. */
import type { StartFailure } from '../src/protocol/spawner.ts';
import type { Random } from './random.ts';

/** Written as JSON into the command, so that all of it travels the way of real commands. */
export interface TaskNature {
  readonly task: string;
  /** The usual time it takes. */
  readonly ms: number;
  /** How likely an attempt fails. */
  readonly fails: number;
  /** How likely it can't be started. */
  readonly unstartable: number;
  /** It ends by KILL only. */
  readonly isStubborn: boolean;
  readonly bytes: number;
  /** It asks for a licence, of which there are a few for all. */
  readonly isLicensed?: true;
  /** What its processes use when they use the most: one that asked for less is killed when half of its time is over. */
  readonly usesBytes?: number;
}

export type Fate =
  | { readonly type: 'unstartable'; readonly failure: StartFailure }
  | {
      readonly type: 'runs';
      readonly ms: number;
      readonly exit?: number;
      readonly signal?: number;
      readonly isTooLarge?: true;
    };

export function natureOf(command: string): TaskNature {
  if (command.startsWith('{')) return JSON.parse(command) as TaskNature;
  // Not one of ours: a check of the worker's own.
  return { task: command, ms: 5, fails: 0, unstartable: 0, isStubborn: false, bytes: 0 };
}

/** `memoryBytes`: what it may use. */
export function fateOf(nature: TaskNature, attempt: number, random: Random, memoryBytes?: number): Fate {
  const draws = random.fork(`${nature.task} ${attempt}`);
  if (draws.chance(nature.unstartable)) {
    const permanent = draws.chance(0.2);
    return { type: 'unstartable', failure: { code: 'other', message: 'as the seed says', permanent } };
  }
  const ms = nature.ms * draws.between(0.5, 1.5);
  if ((nature.usesBytes ?? 0) > (memoryBytes ?? Number.POSITIVE_INFINITY)) {
    return { type: 'runs', ms: ms / 2, signal: 9, isTooLarge: true };
  }
  if (!draws.chance(nature.fails)) return { type: 'runs', ms, exit: 0 };
  return draws.chance(0.2) ? { type: 'runs', ms, signal: 9 } : { type: 'runs', ms, exit: draws.integer(1, 255) };
}

export const outputOf = (nature: TaskNature, attempt: number): string =>
  `${nature.task}#${attempt} `.padEnd(nature.bytes, 'abcdefg').slice(0, nature.bytes);
