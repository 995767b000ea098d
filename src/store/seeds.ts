/**
 * Seeds of tasks as text, equal neighbours together: tasks that are added at once mostly differ in nothing but their
 * command, so that a run of thousands is a few bytes and a million tasks load in the time of a few hundred rows.
 */
import type { TaskSeed } from '../core/change.ts';
import { keyOf } from '../core/resources/needs.ts';

type Group = [count: number, seed: TaskSeed];

export function encodeSeeds(seeds: readonly TaskSeed[]): string {
  const groups: Group[] = [];
  for (const seed of seeds) {
    const last = groups.at(-1);
    if (last !== undefined && isSame(last[1], seed)) last[0]++;
    else groups.push([1, seed]);
  }
  return JSON.stringify(groups);
}

export function decodeSeeds(text: string): TaskSeed[] {
  const groups = JSON.parse(text) as Group[];
  return groups.flatMap(([count, seed]) => new Array<TaskSeed>(count).fill(seed));
}

const isSame = (a: TaskSeed, b: TaskSeed): boolean =>
  a.kind === b.kind &&
  a.held === b.held &&
  a.maxAttempts === b.maxAttempts &&
  a.maxResourceRetries === b.maxResourceRetries &&
  a.until === b.until &&
  a.priority === b.priority &&
  isSameNeed(a.need, b.need);

const isSameNeed = (a: TaskSeed['need'], b: TaskSeed['need']): boolean =>
  a === b || (a !== undefined && b !== undefined && keyOf(a) === keyOf(b));
