/** Tasks in an order in which parents come first. */
import { DroverError } from '../model/errors.ts';
import type { SpecifiedTask } from './schema.ts';

/** As they are in the file, as far as edges allow it. */
export function inOrder(tasks: readonly SpecifiedTask[], name: string): SpecifiedTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const waiting = new Map(tasks.map(({ id, parents }) => [id, new Set(parents).size]));
  const ordered: SpecifiedTask[] = tasks.filter(({ id }) => waiting.get(id) === 0);
  for (let at = 0; at < ordered.length; at++) {
    for (const child of new Set(ordered[at]?.children)) {
      const left = (waiting.get(child) ?? 0) - 1;
      waiting.set(child, left);
      const task = byId.get(child);
      if (left === 0 && task !== undefined) ordered.push(task);
    }
  }
  if (ordered.length < tasks.length) throw cycleAmong(tasks, waiting, name);
  return ordered;
}

/** Whoever still waits has a parent that still waits: going back along these comes round. */
function cycleAmong(tasks: readonly SpecifiedTask[], waiting: ReadonlyMap<string, number>, name: string): DroverError {
  const isLeft = (id: string): boolean => (waiting.get(id) ?? 0) > 0;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const way: string[] = [];
  let at = tasks.find(({ id }) => isLeft(id))?.id ?? '';
  for (; !way.includes(at); at = byId.get(at)?.parents.find(isLeft) ?? '') way.push(at);
  const cycle = [...way.slice(way.indexOf(at)), at].reverse();
  return new DroverError('dependency-cycle', `${name}: its tasks wait for each other: ${cycle.join(' → ')}`, {
    details: { cycle },
  });
}
